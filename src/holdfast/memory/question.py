"""Reads a question: its words, identifiers, speakers and time."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.text.question import IDENTIFIER, MOST_TERMS, PHRASE, Question
from holdfast.text.words import READ, STOP_WORDS, stands, words

from .messages import Remembered
from .times import ORDER, Period, dates, direction

_WHO = re.compile(
    r"\bdid (?P<asked>i|you)\b"
    r"|\b(?P<told>i|you) (?:said|told|mentioned|asked|wrote|gave|suggested|proposed|recommended"
    r"|wanted|decided)\b",
    re.IGNORECASE,
)
_ROLES = {"i": "user", "you": "assistant"}
_LETTERS = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_BESIDE = 32  # words of a question and its context together; each costs one search
_BRIEF = 16  # words of a question; a longer one also has names that it does not ask for
_MOST_NAMED = 8  # identifiers of a question; each costs one search
_SHORT_NAME = 3  # first letters of a name that stand for the name


class Exact(NamedTuple):
    """An identifier or a quoted phrase: ``needle`` in lower case, and its words."""

    needle: str
    words: tuple[str, ...]
    quoted: bool = False
    """Whether it is a phrase of plain words, which also count separately."""

    @property
    def phrase(self) -> str:
        """The words as one search term."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Asked:
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
    """Whether it asks only for the first or latest message of all."""

    things: tuple[Exact, ...] = ()
    """The identifiers and quoted phrases."""

    plain: str = ""
    """The question without its dates."""

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
        terms = _telling(words(plain), names)
        beside = _telling([*terms, *words(context[:READ])], names)
        ordered = direction(text)
        return cls(
            terms=beside[: max(len(terms), _MOST_BESIDE)],
            speakers=about if len(about) < len(speakers) else frozenset(),
            role=_ROLES[(who["asked"] or who["told"]).lower()] if who and not about else "",
            period=period,
            direction=ordered,
            order_alone=bool(ordered)
            and period is None
            and not _telling(words(ORDER.sub(" ", plain)), names),
            things=_exact(plain, days) if len(terms) <= _BRIEF else (),
            plain=plain,
        )

    def sought(self, held: Sequence[Exact]) -> tuple[str, ...]:
        """The search terms. The words of an identifier that some message has are one term."""
        rest = self.plain.lower()
        for thing in held:
            rest = rest if thing.quoted else rest.replace(thing.needle, " ")
        parts = {part for thing in held for part in thing.words}.difference(words(rest))
        left = [term for term in self.terms if term not in parts]
        return tuple(dict.fromkeys([*left, *(thing.phrase for thing in held)]))

    def speaking(self, messages: Mapping[int, Remembered]) -> dict[int, float]:
        """1.0 for each message by a speaker in the question."""
        return {
            position: 1.0
            for position, message in messages.items()
            if message.speaker in self.speakers or message.role == self.role
        }

    def suiting(self, messages: Mapping[int, Remembered]) -> dict[int, float]:
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


def _telling(spoken: Iterable[str], names: Container[str]) -> tuple[str, ...]:
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
    """The quoted phrases, identifiers and dates of a question, at most eight, by weight."""
    found: dict[str, Exact] = {}
    for term in Question.of(plain).terms:
        if not term.plain and term.weight >= IDENTIFIER:
            needle, quoted = (
                term.needle.removesuffix("'s").removesuffix("’s"),
                term.weight >= PHRASE,
            )
            if quoted or _is_name(needle):
                found[needle] = Exact(needle, tuple(words(needle)), quoted=quoted)
    dated = [Exact(day.lower(), tuple(words(day)), quoted=True) for day in days]
    return tuple([*found.values(), *dated][:_MOST_NAMED])


def _is_name(needle: str) -> bool:
    """Whether it is an identifier: not a plain word, a number, a year, or single letters."""
    if needle.isalpha():
        return False
    if needle.isdigit():
        return not _YEAR.fullmatch(needle)
    parts = words(needle)
    return any(part not in STOP_WORDS and (len(part) > 1 or part.isdigit()) for part in parts)


def holders(
    things: Sequence[Exact], messages: Mapping[int, Remembered]
) -> dict[int, frozenset[str]]:
    """The messages that have any of the things, and which."""
    held: dict[int, frozenset[str]] = {}
    for place, message in messages.items():
        low = message.told.lower()
        needles = frozenset(thing.needle for thing in things if stands(thing.needle, low))
        if needles:
            held[place] = needles
    return held


def shares(held: Mapping[int, frozenset[str]]) -> dict[int, float]:
    """The share of the things that each message has, from 0 to 1; rare things count more."""
    times: dict[str, int] = {}
    for needles in held.values():
        for needle in needles:
            times[needle] = times.get(needle, 0) + 1
    rarity = {needle: math.log1p(len(held) / count) for needle, count in times.items()}
    whole = sum(rarity.values()) or 1.0
    return {place: sum(map(rarity.__getitem__, needles)) / whole for place, needles in held.items()}
