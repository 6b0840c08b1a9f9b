"""Hierarchical compression: keeps the most important messages that fit, condenses others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.messages import Role, Texts
from holdfast.kernel.transcript import Transcript, legal, newest
from holdfast.kernel.typed import Fraction
from holdfast.text.fit import SENTENCE
from holdfast.text.identifiers import all_named
from holdfast.text.importance import PRESETS, Weights, has_importance_marker
from holdfast.text.similarity import jaccard
from holdfast.text.visible import amount
from holdfast.text.words import terms

from .summaries import WorkingStore, messages_key, preferred
from .tool_outputs import role_of
from .writer import Single, message_summary, together

MARK = "[Compressed] "


@dataclass(frozen=True, slots=True)
class Hierarchical(Configured):
    """Keeps the newest messages, and of the older ones the most important, in their order.

    An important message that does not fit is condensed by the model, if there is one. A user's
    message stays whole or is dropped. Tool exchanges stay or are dropped whole, and are as
    important as their most important message.
    """

    keep_recent: int = 5
    """The newest messages, system messages not counted, that stay."""

    weights: Weights | Literal["mofa", "selective"] = "mofa"
    """What makes a message important: weights, or the name of a preset."""

    condense_above: Fraction = 0.5
    """Importance above which a message that does not fit is worth a call of the model."""

    summary_tokens: int = 256
    """The room for a condensed text, in tokens."""

    condense_most: int = 20
    """The most texts that the model condenses in one compression, most important messages first."""

    name = "hierarchical"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """One Drop of the messages that do not fit, and a Replace for each condensed text."""
        ranking = _Ranking(self, transcript, allowance)
        short, told = (yield from ranking.condensed()) if allowance.writer else ({}, "")
        edits = ranking.edits(short)
        if not edits:
            return Plan.skip("nothing_may_go", told or "every message must stay")
        return Plan(edits, reason="less_important_dropped", detail=told)


class _Ranking:
    """The older units, the most important first, and the room for them."""

    def __init__(self, knobs: Hierarchical, transcript: Transcript, allowance: Allowance) -> None:
        self._knobs, self._transcript, self._allowance = knobs, transcript, allowance
        self._meter = allowance.meter
        self._sizes = allowance.meter.sizes(transcript)
        weights = PRESETS[knobs.weights] if isinstance(knobs.weights, str) else knobs.weights
        recent = newest(transcript, knobs.keep_recent)
        query = transcript.question if allowance.query is None else allowance.query
        worth = scores(transcript, weights, recent, query)
        self._firm = transcript.protected.union(recent)
        wished = self._firm | preferred(transcript)
        if self._left(wished) >= 0:
            self._firm = wished
        older = [unit for unit in transcript.units if self._firm.isdisjoint(unit)]
        ranked = sorted([(max(worth[i] for i in unit), unit.start, unit) for unit in older])
        self._ranked = [(score, unit) for score, _, unit in reversed(ranked)]

    def _left(self, firm: frozenset[int]) -> int:
        """Tokens that are left for older units besides these messages."""
        whole = (i for unit in self._transcript.units if not firm.isdisjoint(unit) for i in unit)
        overhead = self._meter.overhead(self._transcript.envelope)
        return self._allowance.target - overhead - sum(self._sizes[i] for i in whole)

    def _filled(self, saved: Mapping[int, int], most: int) -> tuple[set[int], set[int], int]:
        """Fill the room with whole units and, where they do not fit, with their condensed texts.

        ``saved`` are the tokens that the condensed text of a message saves; at most ``most`` of
        them are taken. Returns the messages that go, those that are condensed, and the tokens that
        are left.
        """
        going, condensed, left = set[int](), set[int](), self._left(self._firm)
        for _, unit in self._ranked:
            size = sum(self._sizes[i] for i in unit)
            some = [i for i in unit if i in saved]
            short = size - sum(saved[i] for i in some)
            if size <= left:
                left -= size
            elif some and short <= left and len(condensed) + len(some) <= most:
                left -= short
                condensed.update(some)
            else:
                going.update(unit)
        return going, condensed, left

    def _long(self, index: int) -> tuple[int, Single] | None:
        """The longest text of an assistant or a tool, and its part, if it can be condensed."""
        message, count = self._transcript.messages[index], self._meter.text
        texts = [
            (at, Single(part.text, role, index, _SOURCES[role]))
            for at, part in enumerate(message.parts)
            if (role := role_of(message, part)) and role in _SOURCES
        ]
        longest = max(texts, key=lambda one: count(one[1].text), default=None)
        if longest is None or count(longest[1].text) <= SENTENCE or message.ours:
            return None
        return None if longest[1].text.startswith(MARK) else longest

    def condensed(self) -> Asking[tuple[dict[int, Texts], str]]:
        """The condensed texts by message and part, and what went wrong.

        They are of important units that do not fit. Each gets room for a few words at least, and
        they share the remaining room.
        """
        allowance, count = self._allowance, self._meter.text
        least = self._knobs.condense_above
        important = [i for score, unit in self._ranked if score > least for i in unit]
        long = {i: one for i in important if (one := self._long(i)) is not None}
        saved = {i: count(single.text) - SENTENCE for i, (_, single) in long.items()}
        _, condensed, left = self._filled(saved, self._knobs.condense_most)
        places = sorted(condensed)
        share = min(SENTENCE + left // max(1, len(places)), self._knobs.summary_tokens)
        room = max(1, share - count(MARK))
        store = WorkingStore(allowance.stored)
        answers = yield from together(
            [message_summary(long[i][1], room, allowance, store) for i in places]
        )
        found: dict[int, Texts] = {}
        faults: list[HoldfastError] = []
        for i, answer in zip(places, answers, strict=True):
            if isinstance(answer, HoldfastError):
                faults.append(answer)
            else:
                found[i] = {long[i][0]: MARK + answer}
        # Flows that run together overwrite each other's additions to the list by which a thread's
        # summaries are deleted, so all are added again.
        if found and allowance.thread:
            yield from store.add(messages_key(allowance.thread), found)
        told = (
            f"{amount(len(faults), 'text')} could not be condensed: {faults[0]}" if faults else ""
        )
        return found, store.detail(told)

    def edits(self, short: Mapping[int, Texts]) -> tuple[Edit, ...]:
        """The drops and condensed texts, now that the lengths are known."""
        messages = self._transcript.messages
        saved = {
            i: self._sizes[i] - self._meter.message(messages[i].saying(texts))
            for i, texts in short.items()
        }
        going, condensed, _ = self._filled(saved, len(saved))
        going = legal(self._transcript, going, self._firm)
        reason = "important, and too long to stay whole"
        replaces = [
            Replace(i, part, text, reason)
            for i in sorted(condensed - going)
            for part, text in short[i].items()
        ]
        drops = [Drop(tuple(sorted(going)), "less important than what stays")] if going else []
        return (*drops, *replaces)


_SOURCES: Mapping[Role, str] = {
    "tool": "the output of a tool",
    "assistant": "a message of the assistant",
}
"""How a model is told what a text is."""

# MoFA's scores of roles (M.32), where a tool is any other
_ROLES: Mapping[Role, float] = {"system": 1.0, "assistant": 0.7, "user": 0.5, "tool": 0.3}

_DENSE = 1_000  # characters of a dense text, by MoFA (M.32)
_UNREAD = 0.7  # SelectiveCompression's score of what is new and was never read again (V.14)


def scores(
    transcript: Transcript, weights: Weights, recent: Sequence[int], query: str
) -> list[float]:
    """The importance of each message; ``recent`` are those with which the others are compared."""
    messages = transcript.messages
    texts = [message.content_text or "" for message in messages]
    of_words = weights.semantic, weights.entity, weights.uniqueness, weights.query
    read = texts if any(of_words) else [""] * len(texts)  # MoFA's weights need no words
    said = [frozenset(terms(text)) for text in read]
    things = list(map(all_named, read))
    lately = frozenset[str]().union(*(said[i] for i in recent))
    named_lately = frozenset[str]().union(*(things[i] for i in recent))
    times = Counter(chain.from_iterable(said))
    once = frozenset(term for term, count in times.items() if count == 1)
    asked = frozenset(terms(query))
    found: list[float] = []
    for i, text in enumerate(texts):
        factors = {
            "recency": (i + 1) / len(messages),
            "role": _ROLES[messages[i].role],
            "density": min(len(text), _DENSE) / _DENSE,
            "access": _UNREAD,
            "semantic": jaccard(said[i], lately),
            "entity": _share(things[i], named_lately),
            "uniqueness": _share(said[i], once),
            "query": _share(asked, said[i]),
        }
        found.append(weights.importance(factors, marked=has_importance_marker(text)))
    return found


def _share(words: frozenset[str], whole: frozenset[str]) -> float:
    """The share of the words that ``whole`` contains."""
    return len(words & whole) / max(1, len(words))
