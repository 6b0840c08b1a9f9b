"""What a question names exactly, such as ``pool_size``, a path or a quoted phrase, and who holds it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise

from holdfast.text.question import IDENTIFIER, PHRASE, Question
from holdfast.text.words import STOP_WORDS, words

from .remembered import Remembered

_MOST = 8  # things that one question names: each costs a search as much as a word does
_MOST_RUNS = 8  # the same of pairs of its words
_MOST_RUN = 24  # messages, the best by their words, that are read for such pairs
_LEAST_DIGITS = 4  # of a number that is a name: a shorter one is a count, a day or an hour
_YEAR = re.compile(r"(?:19|20)\d\d")
_SERIAL = re.compile(r"(?P<kind>[^\W\d_]+[-_#/]?)\d+")
_TELLING = re.compile(r"[\d_/\\#@$:=~+\"`“-]|(?<!\w)'|\w\.\w")
"""A text without any of these names nothing exactly."""
_RUN = re.compile(r"(?<![^\W_])[^\W_]++(?: [^\W_]++)+")
_POSSESSIVE = re.compile(r"['’]s$")
_MOST_READ = 2_000  # characters of a message that may be one of many alike: a longer one tells more than a name
_ALIKE = 0.6  # share of common words from which on two messages say the same of two things
_MOST_MODELS = 8  # messages with the name that others are held against


@dataclass(frozen=True, slots=True)
class Exact:
    """One exact thing: ``needle`` in lower case, and its words, which say little by themselves."""

    needle: str
    words: tuple[str, ...]
    quoted: bool = False
    """It is a phrase of plain words, each of which counts by itself too."""

    @classmethod
    def of(cls, phrase: str) -> Exact:
        """The phrase as it is written."""
        return cls(phrase.lower(), tuple(words(phrase)), quoted=True)

    @property
    def phrase(self) -> str:
        """The words side by side, as a source looks for them."""
        return " ".join(self.words)

    def is_held_by(self, low: str) -> bool:
        """Whether the text, in lower case, holds it, and not as a part of something longer."""
        return self.needle in low and _bounded(self.needle).search(low) is not None


def exact_things(text: str) -> tuple[Exact, ...]:
    """The quoted phrases and the identifiers of the text, at most a few, in the order of their weight."""
    if not _TELLING.search(text):
        return ()
    found: dict[str, Exact] = {}
    for term in Question.of(text).terms:
        if term.plain or term.weight < IDENTIFIER:
            continue
        needle, quoted = _POSSESSIVE.sub("", term.needle), term.weight >= PHRASE
        parts = tuple(words(needle))
        if quoted or _is_name(needle, parts):
            found[needle] = Exact(needle, parts, quoted=quoted)
    return tuple(found.values())[:_MOST]


def runs(text: str) -> tuple[str, ...]:
    """Each two words of the text that mean something and stand side by side, in lower case."""
    beside = [
        f"{one} {other}"
        for run in _RUN.findall(text.lower())
        for one, other in pairwise(run.split(" "))
        if one not in STOP_WORDS and other not in STOP_WORDS
    ]
    return tuple(dict.fromkeys(beside[:_MOST_RUNS]))


def _is_name(needle: str, parts: Sequence[str]) -> bool:
    """Whether it names one thing: no mere word, number or year, and more than stop words and single letters."""
    if needle.isalpha():
        return False
    if needle.isdigit():
        return len(needle) >= _LEAST_DIGITS and not _YEAR.fullmatch(needle)
    return any(part not in STOP_WORDS and (len(part) > 1 or part.isdigit()) for part in parts)


def holders(things: Sequence[Exact], messages: Mapping[int, Remembered]) -> dict[int, frozenset[str]]:
    """Which of the things each message holds, of those that hold any."""
    lows = ((place, message.told.lower()) for place, message in messages.items())
    held = ((place, frozenset(thing.needle for thing in things if thing.is_held_by(low))) for place, low in lows)
    return {place: needles for place, needles in held if needles}


def shares(held: Mapping[int, frozenset[str]]) -> dict[int, float]:
    """From 0 to 1 how much each message holds of all that any of them holds, the rare more than the common."""
    times: dict[str, int] = {}
    for needles in held.values():
        for needle in needles:
            times[needle] = times.get(needle, 0) + 1
    rarity = {needle: math.log1p(len(held) / count) for needle, count in times.items()}
    whole = sum(rarity.values())
    return {place: sum(rarity[needle] for needle in needles) / whole for place, needles in held.items()}


def running(beside: Sequence[str], places: Iterable[int], messages: Mapping[int, Remembered]) -> dict[int, float]:
    """From 0 to 1 how rare the words are that stand side by side in the messages at these places too."""
    if not beside:
        return {}
    lows = {place: messages[place].text.lower() for place in islice(places, _MOST_RUN) if place in messages}
    together = "\n".join(lows.values())  # most runs stand nowhere, which one look tells
    most = math.log1p(len(lows))
    held: dict[int, float] = {}
    for run in beside:
        found = [place for place, low in lows.items() if run in low] if run in together else []
        for place in found:
            held[place] = min(1.0, held.get(place, 0.0) + math.log1p(len(lows) / len(found)) / most)
    return held


@dataclass(frozen=True, slots=True)
class Kind:
    """Things that are told apart by a number behind one word, such as ``srv-31``."""

    word: str
    form: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        """Whether the text names any of them; most do not have the word, which is found sooner."""
        low = text.lower()
        return self.word in low and self.form.search(low) is not None


@dataclass(frozen=True, slots=True)
class Alike:
    """Tells the messages that say of another thing of a kind what others say of the one that is asked about.

    ``srv-17`` stands there in the place of ``srv-31``: it answers nothing about that.
    """

    kinds: tuple[Kind, ...] = ()
    models: tuple[frozenset[str], ...] = ()
    """What the messages say that hold the name, as words without numbers."""

    known: dict[int, bool] = field(default_factory=dict[int, bool], compare=False)
    """Of the messages that were looked at, whether they are such."""

    def __bool__(self) -> bool:
        return bool(self.kinds and self.models)

    def __contains__(self, message: Remembered) -> bool:
        known = self.known.get(message.position)
        if known is None:
            known = self.known[message.position] = self._is_rival(message.told)
        return known

    def _is_rival(self, told: str) -> bool:
        if len(told) > _MOST_READ or not any(kind.is_in(told) for kind in self.kinds):
            return False
        frame = _frame(told)
        return any(len(frame & model) >= _ALIKE * len(frame | model) for model in self.models)


def alike(things: Sequence[Exact], holding: Iterable[Remembered]) -> Alike:
    """What tells messages of another thing of the kind from those that hold the names of these things."""
    kinds = tuple(kind for thing in things if (kind := _kind(thing.needle)) is not None)
    frames = (_frame(message.told) for message in holding if len(message.text) <= _MOST_READ) if kinds else ()
    return Alike(kinds, tuple(islice(dict.fromkeys(frames), _MOST_MODELS)))


@lru_cache(maxsize=1_024)
def _frame(text: str) -> frozenset[str]:
    """The words of the text without its numbers."""
    return frozenset(word for word in words(text) if not word.isdigit())


@lru_cache(maxsize=256)
def _bounded(needle: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(needle)}(?!\w)")


@lru_cache(maxsize=256)
def _kind(needle: str) -> Kind | None:
    match = _SERIAL.fullmatch(needle)
    if match is None:
        return None
    return Kind(match["kind"], re.compile(rf"(?<!\w){re.escape(match['kind'])}\d+(?!\w)"))
