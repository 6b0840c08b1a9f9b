"""Which messages answer a question: five factors, each from 0 to 1, weighed and added up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice, pairwise

from .answers import Answers, Weighed
from .asked import SOON, Asked
from .evidence import Evidence
from .exact import alike, holders, running, shares
from .held import MessageList, WordIndex
from .neighbours import beside, scenes, spread
from .remembered import GrowingVectors, Hit, LexicalSource, MessageSource, Remembered, VectorSource
from .times import DAY, Period, period


@dataclass(frozen=True, slots=True)
class Weights:
    """What each factor counts against the others; found on dialogues, each judged by the weights of the others."""

    exact: float = 8.0
    """What the question names exactly, such as pool_size or srv-31: as much as most of the others together."""

    runs: float = 3.0
    """Words of the question that stand side by side in both."""

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
_ON_TOP = "runs"  # the factor that takes nothing from the others, for most answers have nothing of it
_SLEPT = 60 * DAY  # without a word: what was said before is an old talk, with a time of its own
_TELLING = 10  # of the best hits are read for how much of the question they hold
_CANDIDATES = 400  # messages that are looked at for their words, their meaning and their time, each


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Finds messages in sources that may be a store's own."""

    words: LexicalSource
    messages: MessageSource
    vectors: VectorSource | None = None
    weights: Weights | None = None
    """None is those that suit, with vectors or without."""

    def search(
        self, question: str, limit: int, now: float | None = None, apart: Collection[int] = ()
    ) -> list[Hit]:
        """The messages that answer best, best first; of equals the earlier one. ``now`` is when it is asked.

        The scores are low where none holds much of the question. Where nothing answers at all, the newest
        messages with a score of 0. What stands ``apart``, such as the question itself, answers nothing.
        """
        found = self.answers(question, now, apart=apart)
        ranked, scores = found.told(), found.ranked()
        sure = found.certainty(islice(ranked, _TELLING))
        hits: list[Hit] = []
        for position, score in islice(ranked.items(), limit):
            share = sure * score / scores[position] if score else 0.0
            hits.append(
                Hit(position, sure * score, {by: share * given for by, given in found.why(position).items()})
            )
        return hits

    def answers(
        self, question: str, now: float | None = None, context: str = "", apart: Collection[int] = ()
    ) -> Answers:
        """As ``search``, for who does not know yet how many it takes.

        The words of a ``context`` in which the question stands count too; it asks for no time and no speaker.
        """
        asked, timely = self._timed(Asked.of(question, self.messages.speakers(), now, context), question, now)
        if asked.order_alone:
            found = Evidence()
            timely = [*range(SOON)] if asked.direction < 0 else list(self.messages.newest(SOON))
        else:
            found = self._found(asked, f"{asked.plain}\n{context}").without(apart)
        around, meant = spread(found.own), spread(found.near)
        wanted = {*around, *meant, *timely, *beside(found.own)}
        messages = found.left(self.messages.read(sorted(wanted.difference(apart) if apart else wanted)))
        if not messages:
            return Answers(self.messages.read(self.messages.newest(_CANDIDATES)))
        factors = {
            "exact": shares(found.held) if found.held else {},
            "runs": running(asked.runs, found.own, messages),
            "words": _scaled(around),
            "scene": _scaled(scenes(found.own, messages)),
            "meaning": _scaled(meant),
            "speaker": asked.speaking(messages),
            "time": asked.suiting(messages, self._place(asked)),
        }
        least = (
            1.0 if timely else max(1 / max(1, len(asked.terms)) if found.own else 0.0, *found.near.values(), 0.0)
        )
        terms = () if asked.order_alone else asked.terms
        by_itself = {"words": found.own, "meaning": found.near}
        return Answers(messages, self._weighed(factors), terms, min(1.0, least), by_itself)

    def _found(self, asked: Asked, text: str) -> Evidence:
        """What holds the words of the question, its names as names, and what comes near it in meaning."""
        near: Mapping[int, float] = self.vectors.nearest(text, _CANDIDATES) if self.vectors else {}
        if not asked.things:
            return Evidence(self.words.candidates(asked.terms, _CANDIDATES), near)
        phrases = [thing.phrase for thing in asked.things]
        named = self.messages.read(list(self.words.candidates(phrases, _CANDIDATES)))
        held = holders(asked.things, named)
        things = [thing for thing in asked.things if any(thing.needle in needles for needles in held.values())]
        own = self.words.candidates(asked.sought(things), _CANDIDATES)
        found = Evidence(own, near, held, alike(things, [named[place] for place in held]))
        return found.among(found.left(self.messages.read(sorted({*own, *near, *held})))) if found.rivals else found

    def _weighed(self, factors: Mapping[str, Mapping[int, float]]) -> list[Weighed]:
        weights = self.weights or (Weights() if self.vectors else WORDS_ALONE)
        told = [(name, getattr(weights, name), factors[name]) for name in _FACTORS if factors[name]]
        whole = sum(weight for name, weight, _ in told if name != _ON_TOP) or 1.0
        return [(name, weight / whole, factor) for name, weight, factor in told]

    def _place(self, asked: Asked) -> int | None:
        """Where the event is spoken of that the question is told from, unless it names a time itself."""
        told = asked.event and asked.period is None
        return next(iter(self.words.candidates(asked.event, 1)), None) if told else None

    def _timed(self, asked: Asked, question: str, now: float | None) -> tuple[Asked, list[int]]:
        """The question with the time that it means, and the messages from then on.

        An old talk that is asked "what happened last May?" had its own last May: where nothing was said in the one
        that is meant, the time is told from the end of the talk, which is before the newest long silence.
        """
        meant = asked.period
        if meant is None or now is None or self._said(meant.first, meant.last):
            return asked, self._timely(meant)
        ended = self._ended(now)
        then = None if ended is None else period(question, ended)
        if then is None or not self._said(then.first, then.last):
            return asked, self._timely(meant)
        return replace(asked, period=then), self._timely(then)

    def _said(self, first: float, last: float) -> bool:
        return bool(self.messages.between(first, last, 1))

    def _timely(self, meant: Period | None) -> list[int]:
        return [] if meant is None else list(self.messages.between(meant.first, meant.reach, _CANDIDATES))

    def _ended(self, now: float) -> float | None:
        """When the last message before the newest long silence was said; None without one among the newest."""
        newest = self.messages.read(self.messages.newest(_CANDIDATES)).values()
        times = sorted((one.said for one in newest if one.said is not None and one.said < now), reverse=True)
        return next((before for after, before in pairwise((now, *times)) if after - before > _SLEPT), None)


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """The scores as shares of the highest."""
    highest = max(scores.values(), default=0.0)
    return {position: score / highest for position, score in scores.items()} if highest > 0 else {}


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
