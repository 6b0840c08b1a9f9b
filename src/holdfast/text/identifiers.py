"""Exact identifiers in a text, which a reader cannot guess.

These are names made by machines, numbers and amounts, paths, addresses and quoted phrases, told by
their characters. They are shown and looked up, so they are whole: a path with its first slash, an
address with its query. ``pieces.things`` are compared and counted instead, plain words among them,
and their weights are learned.

The text is cut into chunks, and a pattern matches a whole chunk or nothing, so that the time is
linear. A chunk is judged once and cached.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from .sentences import sentences
from .words import MARKS, UNSPACED

Kind = Literal["url", "number", "amount", "name", "quoted"]
"""A ``number`` is bare; an ``amount`` has a sign, a unit or a colon: ``$5``, ``99.9%``, ``10:32``.
A ``name`` is any other, such as a path, a date or an id.
"""


class Identifier(NamedTuple):
    """An identifier: its kind, its text, and where it starts."""

    kind: Kind
    text: str
    start: int


# characters; a longer run without spaces is data; half and ten times of it read real texts alike
_LONGEST = 2_000
_PART = r"[^\s\"'`<>(){}\[\],;|“”‘’«»。，、；：！？（）【】「」…*]++"
# The group is not possessive: Python 3.11.2 drops what such a group matched last.
_CHUNK = re.compile(rf"{_PART}(?:(?<=\d),(?=\d{{3}}){_PART})*")
_SHORT = 80  # characters of a chunk whose judgement is cached
# before a value, as in a=b=1; each is a call of this function; half and double read real texts
# alike
_NAMES = 8
_EDGES = ".:!?-=+&~"
# a chunk without one of these is a plain word
_TELLING = re.compile(  # begins with one set, so that the search can skip to it
    r"[\d_@/\\#$A-Z.:](?:(?<=[\d_@/\\#$])|(?<=[a-z][A-Z])|(?<=\w\w\.)(?=\w)|(?<=::))"
)
_SPACE = re.compile(r"\s")
_ROOTED = re.compile(r"[/~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]{1,20}://")
_ASSIGNMENT = re.compile(r"[A-Za-z_][\w.-]*+(?:=(?!=)|:(?![:/\\]))")
_QUOTED = re.compile(  # begins with one set, so that the search can skip to it
    r"[\"`“«](?:(?:(?<=\")(?<!\w\")(?!\s)[^\"\n]{2,120}+(?<!\s)\"|(?<=`)(?<!\w`)(?!\s)"
    r"[^`\n]{2,120}+(?<!\s)`)(?!\w)|(?<=“)[^”\n]{2,120}+”|(?<=«)[^»\n]{2,120}+»)"
)
_DIGITS = 30  # of a number at most: 64 bits have 20, and a longer run is data
_AMOUNT = re.compile(  # groups: a sign before the number; the rest of a time, and a unit
    r"[+-]?([^\w\s]?)\d[\d.,]{0,60}+((?::[\d.:]{1,30}+)?(?:%|°?[^\W\d_]{1,4})?)"
)
_PLACE = re.compile(r"(?::\d{1,7}){1,2}$")  # line and column after a path
_PATH = re.compile(rf"(?:[A-Za-z]:)?[\w{MARKS}.@+%=~#$/\\-]+")
_NAME = re.compile(rf"[#@$]?[\w{MARKS}]+(?:[.:#@$/+-]+[\w{MARKS}]+)*")
_JOINED = re.compile(r"\d|[^\W_]_+[^\W_]|[a-z][A-Z]|^[#@$]\w\w|\w\w\.\w|::")


@cache
def _spelled() -> re.Pattern[str]:
    """Scripts without spaces, and Korean with its endings, stand directly beside identifiers."""
    return re.compile(rf"[^{UNSPACED}\uac00-\ud7a3]+")


def find(text: str) -> list[Identifier]:
    """The identifiers in the order of the text; those inside a quoted phrase are not listed."""
    found: list[Identifier] = []
    at = 0
    for phrase in _QUOTED.finditer(text):
        found.extend(_between(text, at, phrase.start()))
        found.append(Identifier("quoted", phrase.group()[1:-1], phrase.start() + 1))
        at = phrase.end() - 1
    found.extend(_between(text, at, len(text)))
    return found


def _between(text: str, start: int, end: int) -> Iterator[Identifier]:
    at = start
    while telling := _TELLING.search(text, at, end):
        begun = max(text.rfind(" ", at, telling.start()), text.rfind("\n", at, telling.start()))
        space = _SPACE.search(text, telling.end(), end)
        first, at = max(at, begun), space.end() if space else end
        for chunk in _CHUNK.finditer(text, first, at):
            said = chunk.group()
            whole = said.isascii() or _ROOTED.match(said)
            for part in [chunk] if whole else _spelled().finditer(text, *chunk.span()):
                word = part.group()
                one = _known(word) if len(word) <= _SHORT else _judged(word)
                if one is not None:
                    yield Identifier(one.kind, one.text, part.start() + one.start)


def _judged(chunk: str, names: int = _NAMES) -> Identifier | None:
    """The kind of the chunk, and where the identifier starts; of ``name=value``, the value.

    At most so many ``names`` are taken off its beginning.
    """
    if chunk.isdecimal() and len(chunk) <= _DIGITS:
        return Identifier("number", chunk, 0)
    if not _TELLING.search(chunk[:_LONGEST]):
        return None
    bare = chunk.rstrip(_EDGES)
    start = 1 if bare[:1] in ".:!?=&" and bare[:2] not in {"./", ".."} else 0
    bare = bare[start:]
    if len(bare) > _LONGEST or (len(bare) < 2 and not bare.isdigit()):
        return None
    if names and "://" not in bare and (assignment := _ASSIGNMENT.match(bare)):
        value = _judged(bare[assignment.end() :], names - 1)
        if value is not None:
            return value._replace(start=start + assignment.end() + value.start)
    kind = _kind(bare)
    return Identifier(kind, bare, start) if kind else None


_known = lru_cache(maxsize=1 << 14)(_judged)  # cached, since conversations repeat their identifiers


def _kind(chunk: str) -> Kind | None:
    if "://" in chunk or chunk.startswith("www."):
        return "url"
    if amount := _AMOUNT.fullmatch(chunk):
        return "amount" if any(amount.groups()) else "number"
    is_name = _NAME.fullmatch(chunk) and _JOINED.search(chunk)
    return "name" if is_name or _is_path(chunk) else None


def _is_path(chunk: str) -> bool:
    place = _PLACE.search(chunk)
    bare = chunk[: place.start()] if place else chunk
    if not _PATH.fullmatch(bare):
        return False
    parts = bare.replace("\\", "/").rstrip("/").split("/")
    is_rooted = parts[0] in {"", "~", ".", ".."} or parts[0].endswith(":")
    return len(parts) > 2 or (len(parts) > 1 and is_rooted)


_MARKS = ".,:;!?()[]{}<>\"'`*“”‘’«»…"


@lru_cache(maxsize=1 << 13)
def named(sentence: str) -> frozenset[str]:
    """The identifiers of a sentence and its capitalised words, the first word excepted."""
    later = [token.strip(_MARKS) for token in sentence.split()[1:]]
    names = [
        word
        for word in later
        if word.isalpha() and any(map(str.isupper, word[:2])) and len(word) > 1
    ]
    return frozenset([*names, *(one.text for one in find(sentence))])


def all_named(text: str) -> frozenset[str]:
    """The identifiers and capitalised words of all sentences of a text."""
    return frozenset[str]().union(*map(named, sentences(text)))
