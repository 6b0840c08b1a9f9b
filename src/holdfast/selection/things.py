"""The things in a text, found by one pattern: names, paths, numbers, ids and content words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Literal

Shape = Literal[
    "path",
    "small_number",
    "number",
    "id",
    "word",
    "capitalised",
    "compound",
    "hyphened",
    "camel",
    "other",
]
"""The form of a thing; the table of weights has one weight for each."""

_THING = re.compile(
    r"[A-Za-z0-9_@#$~\u00c0-\uffff][A-Za-z0-9_@#$./:\-~+%\u00c0-\uffff]*"
    r"[A-Za-z0-9_%\u00c0-\uffff]|[0-9]"
)
_QUOTED = re.compile(r"[`\"'“]([^`\"'“”\n]{2,80})[`\"'”]")
_LETTERS = re.compile(r"[a-z\u00df-\u024f]+")
_DIGITS = re.compile(r"[0-9]")
STOP = frozenset(
    "a an the of in on at to for and or is was were are be been it its that this with "
    "by from as his her their "
    "they he she i you we my your our do did does have has had not but if then so can "
    "will would could should "
    "may all any no yes one two more some which when what who how there here than them "
    "us me also just only into "
    "out up down over about after before".split()
)
"""Words that mean nothing by themselves."""

_FEW_DIGITS = 3  # digits; a shorter number is rarely a name
_DIGITS_OF_AN_ID = 0.2  # share of digits that makes a mixture of letters and digits an id


names = _THING.findall
"""All that ``things`` may find, with repeats."""


def things(text: str) -> tuple[str, ...]:
    """The distinct things in order of appearance; a path's last component is one too."""
    found = dict.fromkeys(_THING.findall(text))
    for word in STOP & found.keys():
        del found[word]
    if "/" in text:
        for path in [thing for thing in found if "/" in thing]:
            last = path.rpartition("/")[2]
            found[last] = None
    return tuple(found)


def quoted(text: str) -> set[str]:
    """The things between quotation marks or backticks."""
    found = _QUOTED.findall(text)
    return set(things("\n".join(found))) if found else set()


@lru_cache(maxsize=1 << 15)
def shape(thing: str) -> Shape:
    """The form of the thing."""
    if _LETTERS.fullmatch(thing):
        return "word"
    if "/" in thing:
        return "path"
    digits = len(_DIGITS.findall(thing))
    if digits == len(thing):
        return "small_number" if digits < _FEW_DIGITS else "number"
    if digits >= _DIGITS_OF_AN_ID * len(thing):
        return "id"
    if thing[0].isupper() and _LETTERS.fullmatch(thing, 1):
        return "capitalised"
    if any(mark in thing for mark in "_.:"):
        return "compound"
    if "-" in thing:
        return "hyphened"
    return "camel" if not thing[1:].islower() and any(c.isupper() for c in thing[1:]) else "other"


WORDS: frozenset[Shape] = frozenset({"word", "capitalised"})
"""Forms of plain words, which are alike by chance."""

# the 26 letters of a case look alike, and the 10 digits
_LOOKS = str.maketrans(ascii_lowercase + ascii_uppercase + digits, "a" * 26 + "A" * 26 + "0" * 10)


Form = tuple[str, ...]
"""The distinct words and shapes of a text: texts of one form differ in names and numbers alone."""


def form(found: Iterable[str]) -> Form:
    """The form of a text with these things."""
    return tuple(dict.fromkeys(map(_word_or_shape, found)))


@lru_cache(maxsize=1 << 15)
def _word_or_shape(thing: str) -> str:
    looks = shape(thing)
    if thing.isalpha() and (looks != "camel" or thing.isupper()):
        return thing
    return looks.removeprefix("small_")


@lru_cache(maxsize=1 << 15)
def look(thing: str) -> tuple[int, str]:
    """What ids of one kind have in common: the length, and the kinds of characters."""
    return len(thing), "".join(sorted(set(thing.translate(_LOOKS))))
