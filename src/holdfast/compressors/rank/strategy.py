"""Hierarchical compression: messages by their importance, as many as fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.compressors.cuts import legal, preferred
from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.rank.condensing import LEAST, Condenser, Long
from holdfast.compressors.rank.scores import scores
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import Transcript
from holdfast.text.scoring import PRESETS, Weights

Said = tuple[int, str]
"""The part of a message that says something else, and what it says."""


@dataclass(frozen=True, slots=True)
class Hierarchical:
    """The newest messages stay, and of the older ones the most important, in the order in which they were said.

    A message that is important and does not fit is condensed by the model, if there is one; what a user said stays
    whole or goes. Exchanges with tools stay or go whole, with the importance of their best message.
    """

    keep_recent: int = 5
    """The newest messages, system messages not counted, that stay."""

    weights: Weights | str = "mofa"
    """What makes a message important: weights, or the name of a preset, ``mofa`` or ``selective``."""

    condense_above: float = 0.5
    """Importance above which a message that does not fit is worth a call of the model."""

    summary_tokens: int = 256
    """What a condensed text may take."""

    condense_most: int = 20
    """Texts that the model is asked about in one compression, those of the most important messages first."""

    name = "hierarchical"

    def __post_init__(self) -> None:
        check_knobs(self)
        if isinstance(self.weights, str) and self.weights not in PRESETS:
            problem, advice = f"there are no weights {self.weights!r}", f"known are {', '.join(PRESETS)}"
            raise ConfigError(problem, place="Hierarchical.weights", advice=advice)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """One Drop of what is left out, and a Replace for each text that is condensed."""
        weights = PRESETS[self.weights] if isinstance(self.weights, str) else self.weights
        recent = _newest(transcript, self.keep_recent)
        query = allowance.query if allowance.query is not None else transcript.question
        ranked = _Ranked(transcript, allowance, scores(transcript, weights, recent, query), frozenset(recent))
        condenser = Condenser(transcript, allowance)
        long, texts = dict[int, Long](), dict[int, str]()
        if allowance.writer:
            long, share = ranked.worth_condensing(condenser, self.condense_above, self.condense_most)
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

    def worth_condensing(self, condenser: Condenser, above: float, most: int) -> tuple[dict[int, Long], int]:
        """What is long in important units that do not fit whole, and how many tokens each of these texts may take.

        At most so many texts, each with room for a few words at least; what is left at the end is shared.
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
            Replace(i, *said[i], "important, and too long to stay whole") for i in sorted(said.keys() - going)
        ]
        drops = (Drop(tuple(sorted(going)), "less important than what stays"),) if going else ()
        return (*drops, *replaces)

    def _left(self, firm: frozenset[int]) -> int:
        meter, sizes = self.allowance.meter, self.allowance.meter.sizes(self.transcript)
        whole = {i for unit in self.transcript.units if not firm.isdisjoint(unit) for i in unit}
        return self.allowance.target - meter.overhead(self.transcript.envelope) - sum(sizes[i] for i in whole)

    def _score(self, unit: range) -> float:
        return max(self.scores[i] for i in unit)

    def _size(self, unit: range, said: Mapping[int, Said] | None = None) -> int:
        meter, messages = self.allowance.meter, self.transcript.messages
        if not said:
            return sum(meter.sizes(self.transcript)[unit.start : unit.stop])
        return sum(meter.message(messages[i].saying(dict([said[i]])) if i in said else messages[i]) for i in unit)


def _newest(transcript: Transcript, count: int) -> list[int]:
    others = [i for i, message in enumerate(transcript.messages) if message.role != "system"]
    return others[len(others) - count :] if 0 < count < len(others) else others if count else []
