"""What a text states, by rule: exact things as they are written, and how much a reader would miss each of them.

A token is judged once and remembered, so that a text costs little more than being split.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.identifiers import Kind, distinct
from holdfast.text.importance import TROUBLE, signals

NAME = 4.0
"""Worth of an identifier, an address or a path: what nobody can make up again. A plain word has about 1."""

_WORTH: dict[Kind, float] = {
    "url": 8.0,
    "date": 3.0,
    "version": 2.0,
    "quantity": 1.5,
    "quoted": 1.0,
    "number": 0.7,
    "time": 0.4,
}
_PROPER = 0.4  # worth of a word that is written as a name
_DECISION, _CONSTRAINT, _TROUBLE, _PREFERENCE, _PROGRESS = 3.0, 2.0, 3.0, 2.0, 1.0
_EDGES = ".,:;!?()[]{}<>\"'`*“”‘’«»…"
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?!\d|:\w)")
_LONGEST = 200  # characters of a token that are looked at
_WISHES = frozenset(
    """
    prefer prefers preferred rather favourite favorite allergic allergy vegetarian vegan dislike hate instead want
    wants wish i'd i’d i'm i’m looking need needs todo next
    """.split()
)
"""Words of one who wants something, or says who they are."""

_WHO = re.compile(r"\b(?:[Mm]y (?:[\w'’-]{1,20} ){1,3}(?:is|are)|[Cc]all me|I (?:am|live|work|own|study|speak)) ")
_PROGRESSES = re.compile(
    r"\b(?:[Dd]one|[Ff]inished|[Cc]ompleted|[Ff]ixed|[Mm]erged|[Dd]eployed|[Pp]ending|[Oo]utstanding|[Uu]nfinished"
    r"|[Ss]till open|[Ss]till to do|[Rr]emaining)\b"
)
"""What is done, and what is left to do."""

_OPENS = re.compile(
    r"\b(?:(?:[Mm]y|[Cc]all|I)$|[Dd]one|[Ff]i(?:nish|x)ed|[Cc]ompleted|[Mm]erged|[Dd]eployed|[Pp]ending|[Oo]utstanding"
    r"|[Uu]nfinished|[Ss]till|[Rr]emaining)"
)
"""A token of what ``_WHO`` and ``_PROGRESSES`` find."""


class Facts(NamedTuple):
    """What a sentence states: its exact things and names in order of mention, and what they are worth together.

    ``told`` is the worth of what it decides, demands, prefers, or reports as broken, done or open.
    """

    things: tuple[str, ...]
    exact: float
    told: float

    @property
    def worth(self) -> float:
        """All of it."""
        return self.exact + self.told


@lru_cache(maxsize=1 << 13)
def facts(sentence: str) -> Facts:
    """The facts of one sentence."""
    things: list[str] = []
    exact = 0.0
    wishes = opens = False
    for place, token in enumerate(sentence.split()):
        thing, value, wish, opened = _judged(token[:_LONGEST])
        wishes = wishes or wish
        opens = opens or opened
        if thing and (place or value != _PROPER):  # any word may open a sentence with a capital
            things.append(thing)
            exact += value
    told = signals(sentence)
    worth = _DECISION * told.decides + _CONSTRAINT * told.constrains + _TROUBLE * (told.alarm >= TROUBLE)
    worth += _PREFERENCE * (wishes or (opens and _WHO.search(sentence) is not None))
    worth += _PROGRESS * (opens and _PROGRESSES.search(sentence) is not None)
    return Facts(tuple(dict.fromkeys(things)), exact, worth)


def exactness(text: str) -> float:
    """What the exact things and names of a text are worth together."""
    return sum(_judged(token[:_LONGEST])[1] for token in text.split())


class _Token(NamedTuple):
    """The thing that a token is, without the marks around it, its worth, and whether it speaks of a wish.

    ``opens`` says that a sentence with it may tell who somebody is, or what is done.
    """

    thing: str
    worth: float
    wish: bool
    opens: bool


@lru_cache(maxsize=1 << 16)
def _judged(token: str) -> _Token:
    bare = token.strip(_EDGES)
    wish = bare.lower() in _WISHES
    opens = len(token) >= _LONGEST or _OPENS.search(token) is not None
    return _Token(*_thing(bare, wish), wish, opens)


def _thing(bare: str, wish: bool) -> tuple[str, float]:
    if bare.isalpha():
        named = len(bare) > 1 and (bare[0].isupper() or bare[1].isupper())
        return (bare, _PROPER) if named else ("", 0.0)
    if _CLOCK.match(bare):
        return bare, _WORTH["time"]
    found = {} if wish else distinct(bare)
    if not found:
        return "", 0.0
    only = next(iter(found)) if len(found) == 1 else bare
    return only, sum(_WORTH.get(kind, NAME) for kind in found.values())
