"""Exact identifiers in a text, which a reader cannot guess.

These are names made by machines, numbers with units, dates, paths, addresses, versions and quoted
phrases. The text is cut into chunks, and a pattern matches a whole chunk or nothing, so that the
time is linear. A chunk is judged once and cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple, cast

from .words import UNSPACED

Kind = Literal[
    "url",
    "email",
    "uuid",
    "date",
    "time",
    "address",
    "version",
    "quantity",
    "number",
    "hash",
    "env",
    "path",
    "name",
    "quoted",
]


class Identifier(NamedTuple):
    """An identifier: its kind, its text, and where it starts."""

    kind: Kind
    text: str
    start: int


_LONGEST = 2_000  # characters; a longer run without spaces is data
_PART = r"[^\s\"'`<>(){}\[\],;|“”‘’«»。，、；：！？（）【】「」…*]++"
# The group is not possessive: Python 3.11.2 drops what such a group matched last.
_CHUNK = re.compile(rf"{_PART}(?:(?<=\d),(?=\d{{3}}){_PART})*")
_SHORT = 80  # characters of a chunk whose judgement is cached
_NAMES = 8  # before a value, as in a=b=1; each is a call of this function
_EDGES = ".:!?-=+&~"
# a chunk without one of these is a plain word
_TELLING = re.compile(  # begins with one set, so that the search can skip to it
    r"[\d_@/\\#$A-Z.:](?:(?<=[\d_@/\\#$])|(?<=[a-z][A-Z])|(?<=\w\w\.)(?=\w\w)|(?<=::))"
)
_SPACE = re.compile(r"\s")
_ROOTED = re.compile(r"[/~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]{1,20}://")
_ASSIGNMENT = re.compile(r"[A-Za-z_][\w.-]*+(?:=(?!=)|:(?![:/\\]))")

_MONTHS = (
    *(
        "Jan(?:uary)?",
        "Feb(?:ruary)?",
        "Mar(?:ch)?",
        "Apr(?:il)?",
        "May",
        "June?",
        "July?",
        "Aug(?:ust)?",
    ),
    *("Sept?(?:ember)?", "Oct(?:ober)?", "Nov(?:ember)?", "Dec(?:ember)?"),
)
_MONTH = f"(?:{'|'.join(_MONTHS)})"
# the rest of a name, whose first letter is matched before it
_BEGUN_MONTH = f"(?:{'|'.join(f'(?<={month[0]}){month[1:]}' for month in _MONTHS)})"
_UNIT = (
    r"(?:%|[kKMGTP]i?[Bb]|[Bb]ytes?|bits?|[kMG]?bps|[µmn]?s|secs?|seconds?|mins?|minutes?|hrs?"
    r"|hours?|h|days?"
    r"|weeks?|months?|years?|tokens?|lines?|rows?|times|x|[cmk]?m|[km]?g|lbs?|[kMG]?Hz|°[CF]"
    r"|[kM]?W|V"
    r"|USD|EUR|GBP|dollars?|euros?|percent)"
)
_SPREAD = (
    re.compile(  # identifiers with spaces; begins with one set, so that the search can skip to it
        r"[\dJFMASOND\"`“«](?:"
        rf"(?P<date>(?<=\d)(?<!\w\d)\d?(?:st|nd|rd|th)? {_MONTH}(?:\.?,? \d{{4}})?(?!\w)"
        rf"|(?<!\w[A-Z]){_BEGUN_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?(?!\w))"
        rf"|(?P<quantity>(?<=\d)(?<![\w.,]\d)\d{{0,14}}(?:[.,]\d{{1,9}}){{0,5}} {_UNIT}(?!\w))"
        r"|(?P<quoted>(?:(?<=\")(?<!\w\")(?!\s)[^\"\n]{2,120}+(?<!\s)\"|(?<=`)(?<!\w`)(?!\s)"
        r"[^`\n]{2,120}+(?<!\s)`)(?!\w)|(?<=“)[^”\n]{2,120}+”|(?<=«)[^»\n]{2,120}+»))"
    )
)

_DIGITS = 30  # of a number at most: 64 bits have 20, and a longer run is data
_NUMBER = rf"\d{{1,{_DIGITS}}}(?:[.,]\d{{1,{_DIGITS}}})*+"
_SHAPE = re.compile(  # the name of a group is the kind, with a digit
    r"(?P<url>(?:[A-Za-z][\w+.-]{1,20}://|www\.)\S+)"
    r"|(?P<email>[\w.+%-]++@[\w-]++(?:\.[\w-]++)++)"
    r"|(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?P<date>\d{4}(?P<a>[-/.])\d\d(?P=a)\d\d(?:[T_]\d\d[\d:.,]*+(?:Z|[+-]\d\d:?\d\d)?)?)"
    r"|(?P<date2>\d{1,2}(?P<b>[./-])\d{1,2}(?P=b)(?:\d{4}|\d\d))"
    r"|(?P<time>\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:[aApP][mM]|Z)?)"
    r"|(?P<address>\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d{1,5})?)"
    r"|(?P<address2>(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{1,4})"
    r"|(?P<version>[vV]?\d{1,6}\.\d{1,6}\.\d{1,6}(?:[.+-]?[0-9A-Za-z]++)*+"
    r"|[vV]\d{1,6}(?:\.\d{1,6})*+)"
    rf"|(?P<quantity>[+-]?[$€£¥]?{_NUMBER}{_UNIT}|[+-]?[$€£¥]{_NUMBER}[kKmMbB]?)"
    rf"|(?P<number>[+-]?{_NUMBER}(?:[eE][+-]?\d{{1,4}})?|0[xX][0-9a-fA-F]++)"
    r"|(?P<hash>(?:sha\d{1,3}[:-])?(?=[a-fA-F]*+\d)(?=\d*+[a-fA-F])[0-9a-fA-F]{7,128})"
    r"|(?P<env>\$?[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++)"
)
_PLACE = re.compile(r"(?::\d{1,7}){1,2}$")  # line and column after a path
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@+%=~#$/\\-]+")

_ENDINGS = """
py pyi ipynb js jsx mjs cjs ts tsx go rs java kt scala swift rb php cs c cc cpp cxx h hpp m lua pl r
sh bash ps1 bat sql md rst txt json jsonl yaml yml toml xml html htm css scss csv tsv log lock cfg
ini conf env pdf doc docx xls xlsx ppt pptx png jpg jpeg gif svg webp mp3 mp4 zip gz tgz tar bz2 xz
zst whl jar so dll exe db sqlite parquet proto tf vue svelte gradle
"""
_EXTENSIONS = frozenset(_ENDINGS.split())
_NAME = re.compile(r"[#@$]?\w+(?:[.:#@$/+-]+\w+)*")
_JOINED = re.compile(r"\d|[^\W_]_+[^\W_]|[a-z][A-Z]|^[#@$]\w\w|\w\w\.\w\w|::")


@cache
def _spelled() -> re.Pattern[str]:
    """Scripts without spaces, and Korean with its endings, stand directly beside identifiers."""
    return re.compile(rf"[^{UNSPACED}\uac00-\ud7a3]+")


def find(text: str) -> list[Identifier]:
    """The identifiers in the order of the text; those inside a quoted phrase are not listed."""
    found: list[Identifier] = []
    at = 0
    for one in _spread(text):
        found.extend(_between(text, at, one.start))
        found.append(one)
        at = one.start + len(one.text)
    found.extend(_between(text, at, len(text)))
    return found


def _spread(text: str) -> Iterator[Identifier]:
    for match in _SPREAD.finditer(text):
        kind = cast("Kind", match.lastgroup)
        edge = 1 if kind == "quoted" else 0
        yield Identifier(kind, match.group()[edge : -edge or None], match.start() + edge)


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
            return Identifier(value.kind, value.text, start + assignment.end() + value.start)
    kind = _kind(bare)
    return Identifier(kind, bare, start) if kind else None


_known = lru_cache(maxsize=1 << 14)(_judged)
"""Cached, since conversations repeat their identifiers."""


def _kind(chunk: str) -> Kind | None:
    shape = _SHAPE.fullmatch(chunk)
    if shape is not None:
        return cast("Kind", (shape.lastgroup or "").rstrip("2"))
    if _is_path(chunk):
        return "path"
    return "name" if _NAME.fullmatch(chunk) and _JOINED.search(chunk) else None


def _is_path(chunk: str) -> bool:
    place = _PLACE.search(chunk)
    bare = chunk[: place.start()] if place else chunk
    if not _PATH.fullmatch(bare):
        return False
    parts = bare.replace("\\", "/").rstrip("/").split("/")
    stem, _, extension = parts[-1].rpartition(".")
    if stem and extension.lower() in _EXTENSIONS:
        return True
    return len(parts) > 1 and (
        parts[0] in {"", "~", ".", ".."} or len(parts) > 2 or parts[0].endswith(":")
    )


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
