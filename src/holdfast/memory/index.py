"""Finds the messages that answer a question: five factors from 0 to 1, weighted and added."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice, pairwise
from operator import itemgetter

from holdfast.text.words import stem, terms

from .messages import (
    GrowingVectors,
    LexicalSource,
    MessageIndex,
    MessageSource,
    Remembered,
    VectorSource,
)
from .question import Asked, holders, shares
from .times import DAY, Period, period


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each factor counts, relative to the others.

    Fitted on dialogues: the weights for one dialogue were those that were best on the others.
    """

    exact: float = 8.0
    """Whether the message holds what the question names exactly, such as pool_size or srv-31."""

    words: float = 4.0
    """The words of the question in the message and in those around it."""

    meaning: float = 4.0
    """How similar the message and those around it are to the question in meaning."""

    speaker: float = 3.0
    """Whether the message is by somebody whom the question names."""

    time: float = 4.0
    """Whether the message was said at the time that the question means."""


WORDS_ALONE = Weights(words=6.0, meaning=0.0)
"""The weights where there are no vectors."""

REACH = {
    step * side: first * 0.7 ** (step - 1)
    for side, first in ((1, 0.7), (-1, 0.4))
    for step in range(1, 5)
}
"""The share of a message's score that reaches the message so many places later (below 0: earlier).

An answer often shares no word with the question before it. Fitted on dialogues, among .6 to .9 for
a step and 3 to 8 steps.
"""

_FACTORS = tuple(factor.name for factor in fields(Weights))
_SLEPT = 60 * DAY  # without a message: what was said before is an old talk, with its own "now"
_TELLING = 10  # best hits that are read for how much of the question they hold
_CANDIDATES = 400  # messages that are looked at for each of words, meaning and time
_ALIKE = 0.3  # cosine that most pairs of messages have: below it none is similar in meaning
_SOON = 20  # messages that are the first, or the latest, of all
_LONG = 2_000  # characters from which on a message is more than one of many that are alike
_DIGITS = re.compile(r"\d+")
_BESIDE = "neighbours"
"""The factor of what reaches a message from those around it, if it has nothing by itself."""

Weighed = tuple[str, float, Mapping[int, float]]
"""A factor: its name, its share of the score, and its values from 0 to 1 by position."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that may answer; ``score`` is from 0 to 1, ``why`` the share of each factor."""

    position: int
    score: float
    why: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)


@dataclass(frozen=True, slots=True)
class Answers:
    """The messages that may answer, and the factors for each."""

    messages: Mapping[int, Remembered]
    weighed: Sequence[Weighed] = ()
    asked: Sequence[str] = ()
    """The words of the question."""

    least: float = 0.0
    """How sure it is, without reading, that one of them answers: the highest cosine of a message to
    the question, or the share of one word of it; 1.0 if one was said at the time that is meant."""

    holders: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    """For each factor that reaches neighbours, the messages that have it by themselves."""

    def certainty(self, positions: Iterable[int]) -> float:
        """From 0 to 1, how much of the question the best of these messages holds.

        Scores compare what was found; this tells whether there was anything to find.
        """
        asked = frozenset(map(stem, self.asked))
        held = [len(asked.intersection(terms(self.messages[place].told))) for place in positions]
        return max(self.least, max(held, default=0) / len(asked) if asked else 1.0)

    def ranked(self) -> dict[int, float]:
        """The scores by position, the best first; of equal scores the earlier message."""
        scores = dict.fromkeys(self.messages, 0.0)
        for _, share, factor in self.weighed:
            for position, value in factor.items():
                if position in scores:
                    scores[position] += share * value
        best = sorted(scores.items(), key=itemgetter(1), reverse=True)  # stable: the earlier first
        return {position: min(1.0, score) for position, score in best}

    def told(self) -> dict[int, float]:
        """As ``ranked``, but messages that only stand beside an answer come last."""
        ranked = self.ranked()
        own = {at for name, _, factor in self.weighed for at in self.holders.get(name, factor)}
        least = min((score for at, score in ranked.items() if at in own), default=1.0)
        scores = [(at, s if at in own else min(s, least)) for at, s in ranked.items()]
        return dict(sorted(scores, key=lambda entry: (-entry[1], entry[0] not in own)))

    def why(self, position: int) -> dict[str, float]:
        """The share of each factor in the score of the message."""
        told: defaultdict[str, float] = defaultdict(float)
        for name, share, factor in self.weighed:
            if position in factor:
                by = name if position in self.holders.get(name, factor) else _BESIDE
                told[by] += share * factor[position]
        whole = max(1.0, sum(told.values()))
        return {by: given / whole for by, given in told.items()}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Finds messages in sources, which may be those of a store."""

    words: LexicalSource
    messages: MessageSource
    vectors: VectorSource | None = None
    weights: Weights | None = None
    """None: those that suit, with vectors or without."""

    def search(
        self, question: str, limit: int, now: float | None = None, apart: Collection[int] = ()
    ) -> list[Hit]:
        """The messages that answer best, best first; of equal scores the earlier message.

        ``now`` is when the question is asked, in seconds since 1970 UTC. Scores are low where no
        message holds much of the question; where nothing answers, these are the newest messages
        with a score of 0. Messages ``apart``, such as the question itself, are no answers.
        """
        found = self.answers(question, now, apart=apart)
        ranked, scores = found.told(), found.ranked()
        sure = found.certainty(islice(ranked, _TELLING))
        hits: list[Hit] = []
        for position, score in islice(ranked.items(), limit):
            share = sure * score / scores[position] if score else 0.0
            why = {by: share * given for by, given in found.why(position).items()}
            hits.append(Hit(position, sure * score, why))
        return hits

    def answers(
        self,
        question: str,
        now: float | None = None,
        context: str = "",
        apart: Collection[int] = (),
    ) -> Answers:
        """As ``search``, for callers who do not know yet how many messages they need.

        The words of the ``context`` of the question count too, but it names no time or speaker.
        """
        meant = self._meant(question, now)
        asked = Asked.of(question, self.messages.speakers(), meant, context)
        timely = self._timely(asked)
        own: Mapping[int, float] = {}
        near: Mapping[int, float] = {}
        held: Mapping[int, frozenset[str]] = {}
        if not asked.order_alone:
            near = (
                self.vectors.nearest(f"{asked.plain}\n{context}", _CANDIDATES)
                if self.vectors
                else {}
            )
            held = self._held(asked)
            named = frozenset[str]().union(*held.values())
            things = [thing for thing in asked.things if thing.needle in named]
            own = self.words.candidates(asked.sought(things), _CANDIDATES)
        rivals = {*self._rivals(own, near, held), *apart}
        own = {at: score for at, score in own.items() if at not in rivals}
        near = {at: score for at, score in near.items() if at not in rivals}
        held = {at: needles for at, needles in held.items() if at not in rivals}
        around, beside = spread(own), spread(near)
        messages = self.messages.read(sorted({*around, *beside, *timely}.difference(rivals)))
        if not messages:
            return Answers(self.messages.read(self.messages.newest(_CANDIDATES)))
        factors = {
            "exact": shares(held),
            "words": _scaled(around),
            "meaning": _scaled(beside, _ALIKE),
            "speaker": asked.speaking(messages),
            "time": asked.suiting(messages),
        }
        sure = [1 / max(1, len(asked.terms))] if own else []
        least = 1.0 if timely else max([*sure, *near.values()], default=0.0)
        terms = () if asked.order_alone else asked.terms
        by_itself = {"words": own, "meaning": near}
        return Answers(messages, self._weighed(factors), terms, min(1.0, least), by_itself)

    def _held(self, asked: Asked) -> dict[int, frozenset[str]]:
        """The messages that hold what the question names exactly, and which of these things."""
        if not asked.things:
            return {}
        phrases = [thing.phrase for thing in asked.things]
        named = self.messages.read(list(self.words.candidates(phrases, _CANDIDATES)))
        return holders(asked.things, named)

    def _rivals(
        self,
        own: Mapping[int, float],
        near: Mapping[int, float],
        held: Mapping[int, frozenset[str]],
    ) -> set[int]:
        """The messages about another thing that is like the one that is named.

        They differ from a holder of the name in numbers only: ``srv-17`` instead of ``srv-31``.
        """
        if not held:
            return set()
        reached = spread({**own, **near, **dict.fromkeys(held, 0.0)})
        shapes = {
            at: _DIGITS.sub("0", message.told)
            for at, message in self.messages.read(sorted(reached)).items()
            if len(message.text) <= _LONG
        }
        of_holders = {shapes[at] for at in held if at in shapes}
        return {at for at, shape in shapes.items() if at not in held and shape in of_holders}

    def _weighed(self, factors: Mapping[str, Mapping[int, float]]) -> list[Weighed]:
        weights = self.weights or (Weights() if self.vectors else WORDS_ALONE)
        told = [(name, getattr(weights, name), factors[name]) for name in _FACTORS if factors[name]]
        whole = sum(weight for _, weight, _ in told) or 1.0
        return [(name, weight / whole, factor) for name, weight, factor in told]

    def _meant(self, question: str, now: float | None) -> Period | None:
        """The time that the question means.

        "Last May" in a question about an old talk may be the last May before the talk ended: if
        nothing was said in the time that is meant from ``now``, it is taken from the end of the
        talk, which is before the newest long silence.
        """
        meant = period(question, now)
        if meant is None or now is None or self._said(meant):
            return meant
        newest = self.messages.read(self.messages.newest(_CANDIDATES)).values()
        times = [one.said for one in newest if one.said is not None and one.said < now]
        silences = pairwise((now, *sorted(times, reverse=True)))
        ended = next((before for after, before in silences if after - before > _SLEPT), None)
        then = None if ended is None else period(question, ended)
        return then if then is not None and self._said(then) else meant

    def _said(self, meant: Period) -> bool:
        return bool(self.messages.between(meant.first, meant.last, 1))

    def _timely(self, asked: Asked) -> Sequence[int]:
        """The messages of the time that is asked for, or the first or the latest of all."""
        if asked.period is not None:
            return self.messages.between(asked.period.first, asked.period.reach, _CANDIDATES)
        if asked.order_alone:
            return range(_SOON) if asked.direction < 0 else self.messages.newest(_SOON)
        return ()


def spread(scores: Mapping[int, float]) -> dict[int, float]:
    """The scores, each with the most that reaches it from before, and the most from behind.

    Only the most, so that many similar messages do not raise one another. Positions that are
    reached are added.
    """
    total = defaultdict(float, scores)
    for side in (1, -1):
        reached: dict[int, float] = {}
        for step, share in REACH.items():
            for position, score in scores.items() if step * side > 0 else ():
                if share * score > reached.get(position + step, 0.0):
                    reached[position + step] = share * score
        for position, most in reached.items():
            total[position] += most
    return total


def _scaled(scores: Mapping[int, float], least: float = 0.0) -> dict[int, float]:
    """The scores as shares of the highest, or of ``least`` if that is higher."""
    highest = max([*scores.values(), least])
    return {position: score / highest for position, score in scores.items()} if highest else {}


class Index:
    """A memory of its own: messages are added, and found again."""

    def __init__(
        self, vectors: GrowingVectors | None = None, weights: Weights | None = None
    ) -> None:
        self.messages = MessageIndex()
        self._vectors = vectors
        self._retrieval = Retrieval(self.messages, self.messages, vectors, weights)

    def add(self, message: Remembered) -> None:
        """Take in one more message, at the cost of this message alone."""
        self.messages.add(message)
        if self._vectors is not None:
            self._vectors.add(message)

    def search(self, question: str, limit: int, now: float | None = None) -> list[Hit]:
        """The messages that answer best, best first; ``now`` is in seconds since 1970 UTC."""
        return self._retrieval.search(question, limit, now)
