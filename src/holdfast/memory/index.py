"""Which messages answer a question: five factors, each from 0 to 1, weighed and added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from operator import itemgetter

from holdfast.text.words import stem, terms

from .asked import Asked
from .held import MessageList, WordIndex
from .neighbours import beside, scenes, spread
from .remembered import GrowingVectors, Hit, LexicalSource, MessageSource, Remembered, VectorSource
from .times import DAY, Period, period


@dataclass(frozen=True, slots=True)
class Weights:
    """What each factor counts against the others; found on dialogues, each judged by the weights of the others."""

    words: float = 4.0
    """The words of the question in the message and around it."""

    scene: float = 1.0
    """How much of the question the scene answers in which the message stands."""

    meaning: float = 4.0
    """How near the message and those around it come to the question in what they mean."""

    speaker: float = 3.0
    """Whether it is by one whom the question names."""

    time: float = 4.0
    """Whether it was said when the question says."""


WORDS_ALONE = Weights(words=6.0, scene=2.0, meaning=0.0)
"""The weights where there are no vectors."""

_FACTORS = tuple(factor.name for factor in fields(Weights))
_HINT = 0.6  # what "first" and "latest" weigh against a date
_SOON = 20  # messages after an event, or before it, at which half of that is left
_SLEPT = 60 * DAY  # without a word: what was said before is an old talk, with a time of its own
_JUST = 3_600.0  # seconds: what was said since is said about it
_TELLING = 10  # of the best hits are read for how much of the question they hold
_CANDIDATES = 400  # messages that are looked at for their words, their meaning and their time, each


@dataclass(frozen=True, slots=True)
class Answers:
    """The messages that may answer, and what speaks for each.

    ``weighed`` are the factors: name, share of the score, and values from 0 to 1 by position.
    """

    messages: Mapping[int, Remembered]
    weighed: Sequence[tuple[str, float, Mapping[int, float]]] = ()
    asked: Sequence[str] = ()
    """The words of the question."""
    least: float = 0.0
    """How sure it is without reading them: the highest cosine similarity of a message to the question, or one of
    its words, for one was found; 1.0 where a message was said when the question says."""

    def certainty(self, positions: Iterable[int]) -> float:
        """From 0 to 1 how much of the question any of these messages holds, or how near it comes to it.

        Scores tell apart what was found; this tells whether there was anything to be found.
        """
        asked = frozenset(map(stem, self.asked))
        held = (len(asked.intersection(terms(self.messages[place].told))) for place in positions)
        return max(self.least, max(held, default=0) / len(asked) if asked else 1.0)

    def ranked(self) -> dict[int, float]:
        """The scores by position, the best first, of equals the earlier one."""
        scores = dict.fromkeys(self.messages, 0.0)
        for _, share, factor in self.weighed:
            for position, value in factor.items():
                if position in scores:
                    scores[position] += share * value
        best = sorted(scores.items(), key=itemgetter(1), reverse=True)  # stable: the earlier one stays first
        return {position: min(1.0, score) for position, score in best}

    def why(self, position: int) -> dict[str, float]:
        """What each factor gave to the score of the message."""
        return {name: share * factor[position] for name, share, factor in self.weighed if position in factor}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Finds messages in sources that may be a store's own."""

    words: LexicalSource
    messages: MessageSource
    vectors: VectorSource | None = None
    weights: Weights | None = None
    """None is those that suit, with vectors or without."""

    def search(self, question: str, limit: int, now: float | None = None) -> list[Hit]:
        """The messages that answer best, best first; of equals the earlier one. ``now`` is when it is asked.

        The scores are low where none holds much of the question. Where nothing answers at all, the newest
        messages with a score of 0.
        """
        found = self.answers(question, now)
        ranked = found.ranked()
        sure = found.certainty(islice(ranked, min(limit, _TELLING)))
        return [
            Hit(position, sure * score, {name: sure * share for name, share in found.why(position).items()})
            for position, score in islice(ranked.items(), limit)
        ]

    def answers(self, question: str, now: float | None = None, context: str = "") -> Answers:
        """As ``search``, for who does not know yet how many it takes.

        The words of a ``context`` in which the question stands count too; it asks for no time and no speaker.
        """
        asked = Asked.of(question, self.messages.speakers(), now, context)
        own = self.words.candidates(asked.terms, _CANDIDATES)
        text = f"{question}\n{context}"
        near: Mapping[int, float] = self.vectors.nearest(text, _CANDIDATES) if self.vectors else {}
        asked, timely = self._timed(asked, question, now)
        if not own and not near and not timely:
            return Answers(self.messages.read(self.messages.newest(_CANDIDATES)))
        around, meant = spread(own), spread(near)
        messages = self.messages.read(sorted({*around, *meant, *timely, *beside(own)}))
        factors = {
            "words": _scaled(around),
            "scene": _scaled(scenes(own, messages)),
            "meaning": _scaled(meant),
            "speaker": asked.speaking(messages),
            "time": _times(asked, messages, self._place(asked)),
        }
        least = 1.0 if timely else max(1 / len(asked.terms) if own else 0.0, *near.values(), 0.0)
        return Answers(messages, self._weighed(factors), asked.terms, min(1.0, least))

    def _weighed(self, factors: Mapping[str, Mapping[int, float]]) -> list[tuple[str, float, Mapping[int, float]]]:
        weights = self.weights or (Weights() if self.vectors else WORDS_ALONE)
        told = [(name, getattr(weights, name), factors[name]) for name in _FACTORS if factors[name]]
        whole = sum(weight for _, weight, _ in told) or 1.0
        return [(name, weight / whole, factor) for name, weight, factor in told]

    def _place(self, asked: Asked) -> int | None:
        """Where the event is spoken of that the question is told from, unless it names a time itself."""
        told = asked.event and asked.period is None
        return next(iter(self.words.candidates(asked.event, 1)), None) if told else None

    def _timed(self, asked: Asked, question: str, now: float | None) -> tuple[Asked, list[int]]:
        """The question with the time that it means, and the messages from then on.

        An old talk that is asked "what happened last May?" had its own last May: where nothing was said for long,
        but what has just been said, the time is told from the end of the talk, unless something was said then.
        """
        meant = asked.period
        if meant is None or now is None or self._said(meant.first, meant.last):
            return asked, self._timely(meant)
        ended = None if self._said(now - _SLEPT, now - _JUST) else self._ended(now - _SLEPT)
        then = None if ended is None else period(question, ended)
        if then is None or not self._said(then.first, then.last):
            return asked, self._timely(meant)
        return replace(asked, period=then), self._timely(then)

    def _said(self, first: float, last: float) -> bool:
        return bool(self.messages.between(first, last, 1))

    def _timely(self, meant: Period | None) -> list[int]:
        return [] if meant is None else list(self.messages.between(meant.first, meant.reach, _CANDIDATES))

    def _ended(self, before: float) -> float | None:
        """When the newest message was said that is older than this; None where there is none among the newest."""
        newest = self.messages.read(self.messages.newest(_CANDIDATES)).values()
        return max((one.said for one in newest if one.said is not None and one.said < before), default=None)


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """The scores as shares of the highest."""
    highest = max(scores.values(), default=0.0)
    return {position: score / highest for position, score in scores.items()} if highest > 0 else {}


def _times(asked: Asked, messages: Mapping[int, Remembered], event: int | None) -> dict[int, float]:
    """How well the time of each message suits.

    Of the first or the latest, how near that end it stands; beside an event, how soon before or after it.
    """
    if asked.period is not None:
        return {
            position: asked.period.nearness(message.said)
            for position, message in messages.items()
            if message.said is not None
        }
    if not asked.direction or len(messages) < 2:
        return {}
    if event is not None:
        distance = {position: (position - event) * asked.direction for position in messages}
        return {position: _HINT * 0.5 ** (far / _SOON) for position, far in distance.items() if far >= 0}
    first, last = min(messages), max(messages)
    share = {position: (position - first) / (last - first) for position in messages}
    return {position: _HINT * (part if asked.direction > 0 else 1 - part) for position, part in share.items()}


class Index:
    """A memory of its own: messages are added, and found again."""

    def __init__(self, vectors: GrowingVectors | None = None, weights: Weights | None = None) -> None:
        self._words = WordIndex()
        self.messages = MessageList()
        self._vectors = vectors
        self._retrieval = Retrieval(self._words, self.messages, vectors, weights)

    def add(self, message: Remembered) -> None:
        """Take in one more message, at the cost of this message."""
        self._words.add(message)
        self.messages.add(message)
        if self._vectors is not None:
            self._vectors.add(message)

    def search(self, question: str, limit: int, now: float | None = None) -> list[Hit]:
        """The messages that answer best, best first."""
        return self._retrieval.search(question, limit, now)
