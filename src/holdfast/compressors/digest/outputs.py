"""The lines of an output as notes quote them; of a long one those that its kind holds for the most telling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from holdfast.content import recognise
from holdfast.kernel.ports import Room

_LONG = 1_200  # characters of an output, beyond which its kind says what of it matters
_READING = 300  # tokens, about, of that
_TOKEN = 3  # characters, about
_SPOKEN = frozenset({"prose", "markup"})
_NUMBER = re.compile(r"[ \t]{0,8}(\d{1,7})(?:\t|[ ]{2}|→)[ ]?")  # what pagers and editors set before a line
_SEEN = 12  # lines that tell whether the lines are numbered
_FILE = re.compile(
    r"(?:=== |\+\+\+ (?:b/)?)(?P<path>[^\t\n]{1,300}?)(?: (?P<changes>[+-]\d+(?: -\d+)?)(?: .*)?)?$"
)
_PLACES = ("@@ ", "diff --git ", "index ", "--- ")  # lines that say where a change stands, and not which it is
_HITS = re.compile(r" \(\d+ of \d+ hits\)$")


class Telling(NamedTuple):
    """A line of an output, and the file that it stands in where the output goes through several."""

    text: str
    file: str = ""
    spoken: bool = False
    """Whether it is made of sentences."""


def telling(text: str) -> Iterator[Telling]:
    """The lines in their order, without what only says that something is left out."""
    kind, numbered = recognise(text), _numbered(text)
    spoken = kind.name in _SPOKEN and not numbered
    shown = text if len(text) <= _LONG else kind.shrink(text, Room(_READING, _rough)).text
    if spoken and shown is text:
        yield Telling(text, spoken=True)
        return
    file = ""
    for line in shown.splitlines():
        number = _NUMBER.match(line) if numbered else None
        said = line[number.end() :].strip() if number else line.strip()
        if said.startswith(("…", "[…", f"[{kind.name},")):  # everybody knows that notes leave out
            continue
        if kind.name == "search" and not number and not line.startswith(" ") and shown is not text:
            file = _HITS.sub("", said)
            continue
        if kind.name == "diff":
            file, said = _of_diff(file, said)
        if any(map(str.isalnum, said)):
            yield Telling(said, file, spoken)


def _of_diff(file: str, said: str) -> tuple[str, str]:
    """The file that a line of a diff belongs to, and what the line changes in it."""
    opened = _FILE.match(said)
    if opened:
        return opened["path"], opened["changes"] or ""
    return file, "" if said.startswith(_PLACES) else said


def _numbered(text: str) -> bool:
    """Whether each of the first lines begins with its number."""
    if not _NUMBER.match(text):
        return False
    found = [_NUMBER.match(line) for line in text[: 200 * _SEEN].splitlines()[:_SEEN]]
    numbers = [int(number[1]) for number in found if number]
    return len(numbers) == len(found) > 1 and all(b == a + 1 for a, b in pairwise(numbers))


def _rough(text: str) -> int:
    return len(text) // _TOKEN
