"""Hierarchical compression.

Messages by their importance, as many as fit, the best others condensed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.compressors.cuts import legal, newest, preferred
from holdfast.compressors.knobs import Configured, check_knobs
from holdfast.compressors.summaries import WorkingStore, body_of, messages_key
from holdfast.compressors.writer import Single, message_summary, together
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError, HoldfastError, ModelError
from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Role, Text, ToolResult
from holdfast.kernel.ports import Ask
from holdfast.kernel.transcript import Transcript
from holdfast.text.identifiers import named
from holdfast.text.importance import PRESETS, Weights, has_importance_marker
from holdfast.text.sentences import sentences
from holdfast.text.words import terms


@dataclass(frozen=True, slots=True)
class Hierarchical(Configured):
    """The newest messages stay, and of the older ones the most important, in their order.

    A message that is important and does not fit is condensed by the model, if there is one; what a
    user said stays whole or goes. Exchanges with tools stay or go whole, with the importance of
    their best message.
    """

    keep_recent: int = 5
    """The newest messages, system messages not counted, that stay."""

    weights: Weights | str = "mofa"
    """What makes a message important: weights, or the name of a preset, ``mofa`` or
    ``selective``."""

    condense_above: float = 0.5
    """Importance above which a message that does not fit is worth a call of the model."""

    summary_tokens: int = 256
    """What a condensed text may take."""

    condense_most: int = 20
    """Texts that the model is asked about in one compression, those of the most important messages
    first."""

    name = "hierarchical"

    def __post_init__(self) -> None:
        check_knobs(self)
        if isinstance(self.weights, str) and self.weights not in PRESETS:
            problem, advice = (
                f"there are no weights {self.weights!r}",
                f"known are {', '.join(PRESETS)}",
            )
            raise ConfigError(problem, place="Hierarchical.weights", advice=advice)

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """One Drop of what is left out, and a Replace for each text that is condensed."""
        weights = PRESETS[self.weights] if isinstance(self.weights, str) else self.weights
        recent = newest(transcript, self.keep_recent)
        query = allowance.query if allowance.query is not None else transcript.question
        ranked = _Ranked(
            transcript, allowance, scores(transcript, weights, recent, query), frozenset(recent)
        )
        condenser = MessageCondenser(transcript, allowance)
        long, texts = dict[int, Long](), dict[int, str]()
        if allowance.writer:
            long, share = ranked.worth_condensing(
                condenser, self.condense_above, self.condense_most
            )
            texts = yield from condenser.condensed(long, min(share, self.summary_tokens))
        edits = ranked.edits({i: (long[i].part, text) for i, text in texts.items()})
        faults = condenser.faults
        texts_failed = f"{len(faults):,} text{'s' if len(faults) > 1 else ''}"
        failed = f"{texts_failed} could not be condensed: {faults[0]}" if faults else ""
        detail = "; ".join(filter(None, (failed, condenser.trouble)))
        if not edits:
            return Plan.skip("nothing_may_go", detail or "everything that is there must stay")
        return Plan(edits, reason="less_important_dropped", detail=detail)


@dataclass(slots=True)
class _Ranked:
    """The older units, the most important first, and the room that they have."""

    transcript: Transcript
    allowance: Allowance
    scores: Sequence[float]
    recent: frozenset[int]
    firm: frozenset[int] = field(init=False)
    room: int = field(init=False)
    units: list[range] = field(init=False)

    def __post_init__(self) -> None:
        self.firm = self.transcript.protected | self.recent
        wished = self.firm | preferred(self.transcript)
        if self._left(wished) >= 0:
            self.firm = wished
        self.room = self._left(self.firm)
        older = [unit for unit in self.transcript.units if self.firm.isdisjoint(unit)]
        self.units = sorted(older, key=lambda unit: (-self._score(unit), -unit.start))

    def worth_condensing(
        self, condenser: MessageCondenser, above: float, most: int
    ) -> tuple[dict[int, Long], int]:
        """The long texts of important units that do not fit, and the tokens that each may take.

        At most so many texts, each with room for a few words at least; what is left at the end is
        shared.
        """
        left = self.room
        found: dict[int, Long] = {}
        for unit in self.units:
            size = self._size(unit)
            if size <= left:
                left -= size
            elif self._score(unit) > above:
                long = {i: one for i in unit if (one := condenser.long(i)) is not None}
                short = size - sum(one.tokens - LEAST for one in long.values())
                if long and short <= left and len(found) + len(long) <= most:
                    left -= short
                    found.update(long)
        return found, LEAST + left // max(1, len(found))

    def edits(self, texts: Mapping[int, Said]) -> tuple[Edit, ...]:
        """What goes and what is condensed, now that the lengths are known."""
        left = self.room
        going: set[int] = set()
        said: dict[int, Said] = {}
        for unit in self.units:
            some = {i: texts[i] for i in unit if i in texts}
            if (size := self._size(unit)) <= left:
                left -= size
            elif some and (short := self._size(unit, some)) <= left:
                left -= short
                said.update(some)
            else:
                going.update(unit)
        going = legal(self.transcript, going, self.firm)
        replaces = [
            Replace(i, *said[i], "important, and too long to stay whole")
            for i in sorted(said.keys() - going)
        ]
        drops = (Drop(tuple(sorted(going)), "less important than what stays"),) if going else ()
        return (*drops, *replaces)

    def _left(self, firm: frozenset[int]) -> int:
        meter, sizes = self.allowance.meter, self.allowance.meter.sizes(self.transcript)
        whole = {i for unit in self.transcript.units if not firm.isdisjoint(unit) for i in unit}
        return (
            self.allowance.target
            - meter.overhead(self.transcript.envelope)
            - sum(sizes[i] for i in whole)
        )

    def _score(self, unit: range) -> float:
        return max(self.scores[i] for i in unit)

    def _size(self, unit: range, said: Mapping[int, Said] | None = None) -> int:
        meter, messages = self.allowance.meter, self.transcript.messages
        if not said:
            return sum(meter.sizes(self.transcript)[unit.start : unit.stop])
        return sum(
            meter.message(messages[i].saying(dict([said[i]])) if i in said else messages[i])
            for i in unit
        )


# The worth of a role and the length that is dense are those of the MoFA design.
_ROLES: Mapping[Role, float] = {"system": 1.0, "assistant": 0.7, "user": 0.5}
_OTHER_ROLE = 0.3
_DENSE = 1_000  # characters
# what the SelectiveCompression design gives for what is new and was never looked up again
_UNREAD = 0.7


def scores(
    transcript: Transcript, weights: Weights, recent: Sequence[int], query: str
) -> list[float]:
    """The importance of each message.

    ``recent`` are the positions that later ones are held against.
    """
    known = _Known(transcript, recent, query)
    factors = {name: factor for name, factor in known.factors.items() if getattr(weights, name)}
    found: list[float] = []
    for i in range(len(transcript)):
        values = {name: factor(i) for name, factor in factors.items()}
        marked = weights.marker != 1.0 and has_importance_marker(known.texts[i])
        found.append(weights.importance(values, marked=marked))
    return found


@dataclass(frozen=True)
class _Known:
    """Each factor as a function of the position, what it needs worked out when first asked for."""

    transcript: Transcript
    recent: Sequence[int]
    query: str

    @property
    def factors(self) -> Mapping[str, Callable[[int], float]]:
        return {
            "recency": lambda i: (i + 1) / len(self.transcript),
            "role": lambda i: _ROLES.get(self.transcript.messages[i].role, _OTHER_ROLE),
            "density": lambda i: min(len(self.texts[i]), _DENSE) / _DENSE,
            "access": lambda _: _UNREAD,
            "semantic": lambda i: _jaccard(self.terms[i], self.context),
            "entity": lambda i: _share(self.things[i], self.topic),
            "uniqueness": lambda i: _share(self.terms[i], self.said_once),
            "query": lambda i: _share(self.asked, self.terms[i]),
        }

    @cached_property
    def texts(self) -> list[str]:
        return [message.content_text or "" for message in self.transcript.messages]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        return [frozenset(terms(text)) for text in self.texts]

    @cached_property
    def things(self) -> list[frozenset[str]]:
        return [frozenset[str]().union(*map(named, sentences(text))) for text in self.texts]

    @cached_property
    def context(self) -> frozenset[str]:
        return frozenset[str]().union(*(self.terms[i] for i in self.recent))

    @cached_property
    def topic(self) -> frozenset[str]:
        return frozenset[str]().union(*(self.things[i] for i in self.recent))

    @cached_property
    def said_once(self) -> frozenset[str]:
        times = Counter(term for found in self.terms for term in found)
        return frozenset(term for term, count in times.items() if count == 1)

    @cached_property
    def asked(self) -> frozenset[str]:
        return frozenset(terms(self.query))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _share(some: frozenset[str], whole: frozenset[str]) -> float:
    """Which part of the ones is among the others."""
    return len(some & whole) / max(1, len(some))


MARK = "[Compressed] "
LEAST = 32
"""Tokens that a condensed text may take at the least; a text that takes no more is not worth a
call."""


class Long(NamedTuple):
    """The longest text of a message, the number of its part, and its tokens."""

    part: int
    text: str
    tokens: int
    is_output: bool


@dataclass(slots=True)
class MessageCondenser:
    """Condenses messages of one transcript.

    ``faults`` are those that it met, ``trouble`` what the store did.
    """

    transcript: Transcript
    allowance: Allowance
    faults: list[HoldfastError] = field(default_factory=list[HoldfastError])
    trouble: str = ""

    def long(self, index: int) -> Long | None:
        """What of the message can be condensed.

        The longest text that an assistant or a tool said.
        """
        message = self.transcript.messages[index]
        found: list[Long] = []
        for at, part in enumerate(message.parts):
            spoken = isinstance(part, Text) and message.role in ("assistant", "tool")
            if spoken or (isinstance(part, ToolResult) and not part.media):
                tokens = self.allowance.meter.text(part.text)
                found.append(
                    Long(
                        at, part.text, tokens, not isinstance(part, Text) or message.role == "tool"
                    )
                )
        longest = max(found, key=lambda long: long.tokens, default=None)
        if (
            longest is None
            or longest.tokens <= LEAST
            or longest.text.startswith(MARK)
            or body_of(message)
        ):
            return None
        return longest

    def condensed(
        self, places: Mapping[int, Long], tokens: int
    ) -> Generator[Ask[Any], Any, dict[int, str]]:
        """What these texts say in at most so many tokens, by message.

        One that failed is not among them.
        """
        room = max(1, tokens - self.allowance.meter.text(MARK))
        told = yield from together(
            [message_summary(_single(i, long), room, self.allowance) for i, long in places.items()]
        )
        found: dict[int, str] = {}
        for (i, long), answer in zip(places.items(), told, strict=True):
            if isinstance(answer, HoldfastError):
                self.faults.append(answer)
                continue
            self.trouble = self.trouble or answer.trouble
            if self.allowance.meter.text(MARK + answer.text) >= long.tokens:
                self.faults.append(
                    ModelError("the reply of the model was refused: it saves nothing")
                )
            else:
                found[i] = MARK + answer.text
        # all at once onto the list by which a thread is forgotten: each would overwrite the others
        if found and self.allowance.thread:
            shelf = WorkingStore(self.allowance.stored)
            yield from shelf.add(messages_key(self.allowance.thread), found)
            self.trouble = self.trouble or shelf.trouble
        return found


def _single(index: int, long: Long) -> Single:
    if long.is_output:
        return Single(long.text, "tool", index, "the output of a tool")
    return Single(long.text, "assistant", index, "a message of the assistant")


Said = tuple[int, str]
"""The part of a message that says something else, and what it says."""
