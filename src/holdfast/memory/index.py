"""Finds the messages that answer a question: five factors from 0 to 1, weighted and added.

A question is read as its words, identifiers, speakers and time.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

from holdfast.text.memo import Memo
from holdfast.text.question import IDENTIFIER, MOST_TERMS, PHRASE, terms_of
from holdfast.text.similarity import Scores
from holdfast.text.visible import GLANCE
from holdfast.text.words import DIGITS, READ, STOP_WORDS, stands, stem, terms, words

from .messages import MessageSource, Remembered, VectorSource
from .times import DAY, ORDER, Period, dates, direction, period


@dataclass(frozen=True, slots=True)
class FactorWeights:
    """The relative weights of the factors.

    Fitted on dialogues: each dialogue was tested with the weights that were best on the others.
    """

    exact: float = 8.0
    """Whether the message has an exact name of the question, such as pool_size or srv-31."""

    words: float = 4.0
    """The words of the question in the message and in those around it."""

    meaning: float = 4.0
    """How similar the message and those around it are to the question in meaning."""

    speaker: float = 3.0
    """Whether the speaker is one that the question names."""

    time: float = 4.0
    """Whether the message is from the time that the question means."""


WORDS_ALONE = FactorWeights(words=6.0, meaning=0.0)
"""The weights without vectors: .858, .912 and .938 of what answers in dialogues is found in three
budgets, with half .838, .892 and .926, and with double .853, .902 and .937.
"""

REACH = {
    step * side: first * 0.7 ** (step - 1)
    for side, first in ((1, 0.7), (-1, 0.4))
    for step in range(1, 5)
}
"""The share of a message's score that is added to the message this many places later (or earlier).

An answer often shares no word with the question before it. Fitted on dialogues: factors of 0.6 to
0.9 for each further place, and 3 to 8 places, were tried.
"""

# seconds without a message after which a new talk begins: two months; half and double found as much
# in dialogues
_SLEPT = 60 * DAY
# the best results, which are checked for how much of the question they have, and the messages that
# count as the first or the latest: as many as V.18 finds at most. Half and double found as much
_FIRST = 10
_CANDIDATES = 400  # for each of words, meaning and time; half and double found as much in dialogues
# cosine of unrelated messages: the nearest message has a factor of 1 only from it on. With
# 0.15 as much was found
_ALIKE = 0.3
_BESIDE = "neighbours"
"""The factor of a message that has its score only from its neighbours."""


class Hit(NamedTuple):
    """A message that may answer; ``score`` is from 0 to 1, ``why`` has the share of each factor."""

    position: int
    score: float
    why: Mapping[str, float]


class Answers(NamedTuple):
    """The messages that may answer, and their factors."""

    messages: Mapping[int, Remembered]
    factors: Mapping[str, Scores]
    """For each factor, its share of each message's score."""
    asked: Sequence[str]
    """The words of the question."""

    least: float
    """How sure it is, before the messages are read, that one of them answers, from 0 to 1: the
    highest cosine of a message to the question, or the share that one word is of all its words; 1.0
    if a message is from the time that is asked for.
    """

    holders: Mapping[str, Collection[int]]
    """For each factor that reaches neighbours, the messages that have it themselves."""

    def holders_of(self, name: str) -> Collection[int]:
        """The messages that have this factor themselves."""
        return self.holders.get(name, self.factors[name])

    def certainty(self, positions: Iterable[int]) -> float:
        """How much of the question the best of these messages has, from 0 to 1.

        Scores only rank what was found; this says whether anything answers.
        """
        asked = frozenset(map(stem, self.asked))
        held = [len(asked.intersection(terms(self.messages[place].told))) for place in positions]
        return max(self.least, max(held, default=0) / len(asked) if asked else 1.0)

    def ranked(self) -> Scores:
        """The scores by position, the best first; of equal scores the earlier message first."""
        factors = self.factors.values()
        scores = {at: sum(factor.get(at, 0.0) for factor in factors) for at in self.messages}
        best = sorted(scores, key=scores.__getitem__, reverse=True)  # stable: the earlier first
        return {at: min(scores[at], 1.0) for at in best}

    def why(self, position: int) -> dict[str, float]:
        """The share of each factor in the message's score."""
        told: defaultdict[str, float] = defaultdict(float)
        for name, factor in self.factors.items():
            if position in factor:
                told[name if position in self.holders_of(name) else _BESIDE] += factor[position]
        whole = max(1.0, sum(told.values()))
        return {by: given / whole for by, given in told.items()}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Finds messages in sources, such as those of a store."""

    messages: MessageSource
    vectors: VectorSource | None = None
    weights: FactorWeights | None = None
    """The weights; by default those for sources with or without vectors."""

    def search(
        self, question: str, limit: int, now: float | None = None, apart: Collection[int] = ()
    ) -> list[Hit]:
        """Return the messages that answer best, best first; of equal scores the earlier first.

        ``now`` is the time of the question in seconds since 1970 UTC. Scores are low if no message
        has much of the question; if nothing answers, the newest messages are returned with a score
        of 0. Messages ``apart``, such as the question itself, are left out.
        """
        found = self.answers(question, now, apart=apart)
        scores = found.ranked()
        own = set[int]().union(*map(found.holders_of, found.factors))
        least = min((score for at, score in scores.items() if at in own), default=1.0)
        # messages with only their neighbours' score come last
        order = sorted(scores, key=lambda at: at not in own)
        sure = found.certainty(order[:_FIRST])
        hits: list[Hit] = []
        for position in order[:limit]:
            whole = scores[position]
            score = sure * (whole if position in own else min(whole, least))
            share = score / whole if whole else 0.0
            why = {by: share * given for by, given in found.why(position).items()}
            hits.append(Hit(position, score, why))
        return hits

    def answers(
        self,
        question: str,
        now: float | None = None,
        context: str = "",
        apart: Collection[int] = (),
    ) -> Answers:
        """Like ``search``, for callers that do not know yet how many messages they need.

        The words of ``context`` count too, but it names no time or speaker.
        """
        meant = self._meant(question, now)
        asked = Asked.of(question, self.messages.speakers(), meant, context)
        timely = self._timely(asked)
        near: Scores = self.vectors.nearest(asked.whole, _CANDIDATES) if self.vectors else {}
        held = self._held(asked)
        named = frozenset[str]().union(*held.values())
        things = [thing for thing in asked.things if thing.needle in named]
        own = self.messages.candidates(asked.sought(things), _CANDIDATES)
        rivals = {*self._rivals(own, near, held), *apart}
        own, near = (
            {at: score for at, score in found.items() if at not in rivals} for found in (own, near)
        )
        held = {at: needles for at, needles in held.items() if at not in rivals}
        around, beside = spread(own), spread(near)
        messages = self.messages.read(sorted({*around, *beside, *timely}.difference(rivals)))
        if not messages:
            return Answers(self.messages.read(self.messages.newest(_CANDIDATES)), {}, (), 0.0, {})
        factors = {
            "exact": shares(held),
            "words": _scaled(around),
            "meaning": _scaled(beside, _ALIKE),
            "speaker": asked.speaking(messages),
            "time": asked.suiting(messages),
        }
        sure = [1 / max(1, len(asked.terms))] if own else []
        least = 1.0 if timely else max([*sure, *near.values()], default=0.0)
        by_itself = {"words": own, "meaning": near}
        return Answers(messages, self._weighed(factors), asked.terms, min(1.0, least), by_itself)

    def _held(self, asked: Asked) -> dict[int, frozenset[str]]:
        """The messages that have exact names of the question, and which."""
        phrases = [thing.phrase for thing in asked.things]
        if not phrases:
            return {}
        places = self.messages.candidates(phrases, _CANDIDATES)
        held: dict[int, frozenset[str]] = {}
        for place, message in self.messages.read(list(places)).items():
            low = message.told.lower()
            found = frozenset(thing.needle for thing in asked.things if stands(thing.needle, low))
            if found:
                held[place] = found
        return held

    def _rivals(
        self,
        own: Scores,
        near: Scores,
        held: Mapping[int, frozenset[str]],
    ) -> set[int]:
        """The messages about another thing with a similar name.

        They differ from a message with the name only in numbers: ``srv-17`` instead of ``srv-31``.
        """
        if not held:
            return set()
        reached = spread({**own, **near, **dict.fromkeys(held, 0.0)})
        shapes = {
            at: _SHAPES[message.told]
            for at, message in self.messages.read(sorted(reached)).items()
            if len(message.text) <= GLANCE  # a longer one is not one of many similar ones
        }
        of_holders = {shapes[at] for at in held if at in shapes}
        return {at for at, shape in shapes.items() if at not in held and shape in of_holders}

    def _weighed(self, factors: Mapping[str, Scores]) -> dict[str, Scores]:
        """The share of the score that each factor has, of those that any message has."""
        weights = self.weights or (FactorWeights() if self.vectors else WORDS_ALONE)
        told = {name: getattr(weights, name) for name, factor in factors.items() if factor}
        whole = sum(told.values()) or 1.0
        return {
            name: {at: weight / whole * value for at, value in factors[name].items()}
            for name, weight in told.items()
        }

    def _meant(self, question: str, now: float | None) -> Period | None:
        """The time that the question means.

        "Last May" in a question about an old conversation may be the last May before it ended: if
        there are no messages of the time meant from ``now``, the time is taken from the end of the
        conversation, which is before the newest long silence.
        """
        meant = period(question, now)
        if meant is None or now is None or self._has_messages(meant):
            return meant
        newest = self.messages.read(self.messages.newest(_CANDIDATES)).values()
        times = [one.said for one in newest if one.said is not None and one.said < now]
        silences = pairwise((now, *sorted(times, reverse=True)))
        ended = next((before for after, before in silences if after - before > _SLEPT), None)
        then = None if ended is None else period(question, ended)
        return then if then is not None and self._has_messages(then) else meant

    def _has_messages(self, meant: Period) -> bool:
        return bool(self.messages.between(meant.first, meant.last, 1))

    def _timely(self, asked: Asked) -> Sequence[int]:
        """The messages of the requested time, or the first or latest of all."""
        if asked.period is not None:
            return self.messages.between(asked.period.first, asked.period.reach, _CANDIDATES)
        if asked.order_alone:
            return range(_FIRST) if asked.direction < 0 else self.messages.newest(_FIRST)
        return ()


# the text with each number as 0; kept, since a growing thread compares the same messages again
_SHAPES = Memo(partial(DIGITS.sub, "0"))


def spread(scores: Scores) -> Scores:
    """Add to each score the largest share from an earlier and from a later message.

    Only the largest, so that many similar messages do not raise each other. Positions that are
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


def _scaled(scores: Scores, least: float = 0.0) -> Scores:
    """The scores divided by the highest, or by ``least`` if that is higher."""
    highest = max([*scores.values(), least])
    return {position: score / highest for position, score in scores.items()} if highest else {}


# reading a question

_WHO = re.compile(
    r"\bdid (?P<asked>i|you)\b"
    r"|\b(?P<told>i|you) (?:said|told|mentioned|asked|wrote|gave|suggested|proposed|recommended"
    r"|wanted|decided)\b",
    re.IGNORECASE,
)
_ROLES = {"i": "user", "you": "assistant"}
_LETTERS = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
# words of a question and its context together, each a search; half and double found as much in
# dialogues
_MOST_BESIDE = 32
_SHORT_NAME = 3  # first letters of a name that stand for it, as in "Mel"; 1 found as much


class Exact(NamedTuple):
    """An identifier or a quoted phrase in lower case."""

    needle: str
    phrase: str
    """Its words as one search term."""
    quoted: bool = False
    """Whether it is a phrase of plain words, which also count separately."""


class Asked(NamedTuple):
    """A question with its words, identifiers, speakers and time."""

    terms: tuple[str, ...]
    """The distinct meaningful words in lower case, without speakers' names."""

    speakers: frozenset[str]
    """The speakers in the question; empty if it names all of them or none."""

    role: str
    """The role meant by "did I" or "you said"; else empty."""

    period: Period | None
    direction: int
    """-1 for the first of several, 1 for the latest, 0 for any."""

    order_alone: bool
    """Whether it asks only for the first or latest message of all; then nothing else is sought."""

    things: tuple[Exact, ...]
    """The identifiers and quoted phrases."""

    plain: str
    """The question without its dates."""

    whole: str
    """The same with its context, for a search by meaning."""

    @classmethod
    def of(
        cls, question: str, speakers: Sequence[str], period: Period | None, context: str = ""
    ) -> Asked:
        """Read the question, given the speakers' names and the period that it means.

        The words of ``context`` count too.
        """
        text = question
        if len(text) > 2 * READ:
            text = f"{text[:READ]} {text[-READ:]}"
        plain, days = dates(text)
        names = _names(text, speakers)
        about = frozenset(name for matching in names.values() for name in matching)
        who = _WHO.search(text)
        ordered = direction(text)
        alone = (
            bool(ordered)
            and period is None
            and not _content_words(words(ORDER.sub(" ", plain)), names)
        )
        if alone:
            plain, days, context = "", [], ""
        terms = _content_words(words(plain), names)
        beside = _content_words([*terms, *words(context[:READ])], names)
        return cls(
            terms=beside[: max(len(terms), _MOST_BESIDE)],
            speakers=about if len(about) < len(speakers) else frozenset(),
            role=_ROLES[(who["asked"] or who["told"]).lower()] if who and not about else "",
            period=period,
            direction=ordered,
            order_alone=alone,
            things=_exact(plain, days),
            plain=plain,
            whole=f"{plain}\n{context}",
        )

    def sought(self, held: Sequence[Exact]) -> tuple[str, ...]:
        """The search terms. The words of an identifier that some message has are one term."""
        rest = self.plain.lower()
        for thing in held:
            rest = rest if thing.quoted else rest.replace(thing.needle, " ")
        parts = {part for thing in held for part in thing.phrase.split()}.difference(words(rest))
        left = [term for term in self.terms if term not in parts]
        return tuple(dict.fromkeys([*left, *(thing.phrase for thing in held)]))

    def speaking(self, messages: Mapping[int, Remembered]) -> Scores:
        """1.0 for each message by a speaker in the question."""
        return {
            position: 1.0
            for position, message in messages.items()
            if message.speaker in self.speakers or message.role == self.role
        }

    def suiting(self, messages: Mapping[int, Remembered]) -> Scores:
        """How well the time of each message fits, from 0 to 1; messages at 0 are left out.

        For the first or the latest, it is how close to that end a message is.
        """
        if self.period is not None:
            near = {
                at: self.period.nearness(message.said)
                for at, message in messages.items()
                if message.said is not None
            }
            return {at: share for at, share in near.items() if share}
        if not self.direction or len(messages) < 2:
            return {}
        end, other = min(messages), max(messages)
        if self.direction > 0:
            end, other = other, end
        return {at: ((at - other) / (end - other)) ** 2 for at in messages}


def _content_words(spoken: Iterable[str], names: Container[str]) -> tuple[str, ...]:
    """The distinct meaningful words that are not speakers' names, the first of very many."""
    distinct = dict.fromkeys(spoken)
    return tuple([w for w in distinct if w not in STOP_WORDS and w not in names][:MOST_TERMS])


def _names(text: str, speakers: Sequence[str]) -> dict[str, set[str]]:
    """The words of the text that name speakers, with the names.

    A word is part of a name or, if capitalised, the beginning of one.
    """
    names: dict[str, set[str]] = {}
    for word in _LETTERS.findall(text) if speakers else ():
        low = word.lower()
        begins = len(word) >= _SHORT_NAME and word[0].isupper() and low not in STOP_WORDS
        for name in speakers:
            if any(part == low or (begins and part.startswith(low)) for part in words(name)):
                names.setdefault(low, set()).add(name)
    return names


def _exact(plain: str, days: Sequence[str]) -> tuple[Exact, ...]:
    """The quoted phrases, identifiers and dates of a question, by weight."""
    quoted = {day.lower(): True for day in days}
    for term in terms_of(plain):
        if not term.plain and term.weight >= IDENTIFIER:
            needle = term.needle.removesuffix("'s").removesuffix("’s")
            is_phrase = term.weight >= PHRASE
            if is_phrase or _is_name(needle):
                quoted.setdefault(needle, is_phrase)  # a date stays one
    return tuple(Exact(one, " ".join(words(one)), each) for one, each in quoted.items())


def _is_name(needle: str) -> bool:
    """Whether it is an identifier: not a plain word, a number, a year, or single letters."""
    if needle.isalpha():
        return False
    if needle.isdigit():
        return not _YEAR.fullmatch(needle)
    parts = words(needle)
    return any(part not in STOP_WORDS and (len(part) > 1 or part.isdigit()) for part in parts)


def shares(held: Mapping[int, frozenset[str]]) -> Scores:
    """The share of the things that each message has, from 0 to 1; rare things count more."""
    times = Counter(chain.from_iterable(held.values()))
    rarity = {needle: math.log1p(len(held) / count) for needle, count in times.items()}
    whole = sum(rarity.values()) or 1.0
    return {place: sum(map(rarity.__getitem__, needles)) / whole for place, needles in held.items()}
