"""Pieces: the smallest parts of a text that are told or left out, and any text read as such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SHORT = 120  # characters: neighbouring lines are one piece up to here, so that a name keeps the words beside it
_LONG = 160  # characters: a longer line is cut at the end of a clause; some thirty tokens
_CLAUSE = re.compile(r"[.;!?。！？](?=\s)|[,)}\]](?=\s)|\s")


class Piece(NamedTuple):
    """A part of a text: how it is told, and the units of its source (lines, records) that it stands for.

    ``things`` are what it tells beside the names in its text, such as the kind of event that a line of a log
    reports: of two pieces with the same thing the second is worth little. ``under`` is the number of the piece
    that says what this one belongs to (a heading, the columns of a table) and that is told with it, -1 for none.
    """

    text: str
    at: int
    units: int = 1
    things: tuple[str, ...] = ()
    under: int = -1


class Reading(NamedTuple):
    """A text as its kind reads it: its pieces in their order, and the word for what lies between them.

    ``total`` counts the units of the source. With an empty ``unit`` gaps are not named: the pieces say it.
    """

    pieces: Sequence[Piece]
    total: int
    unit: str = "line"


def passages(text: str) -> Reading:
    """Any text: short neighbouring lines together, long lines clause by clause."""
    lines = text.split("\n")
    return Reading(tuple(_passages(lines)), len(lines))


def _passages(lines: Sequence[str]) -> Iterator[Piece]:
    start, held, size = 0, list[str](), 0
    for number, line in enumerate(lines):
        bare = line.rstrip()
        if held and (not bare or size + len(bare) > _SHORT):
            yield Piece("\n".join(held), start, len(held))
            held, size = [], 0
        if not bare:
            continue
        if len(bare) > _LONG:
            yield from (Piece(part, number, 1) for part in clauses(bare))
            continue
        if not held:
            start = number
        held.append(bare)
        size += len(bare)
    if held:
        yield Piece("\n".join(held), start, len(held))


def clauses(line: str, longest: int = _LONG) -> list[str]:
    """A long line in parts of at most so many characters, cut where a clause ends where one does."""
    parts: list[str] = []
    start = 0
    while len(line) - start > longest:
        window = line[start : start + longest]
        ends = [found.end() for found in _CLAUSE.finditer(window, longest // 2)]
        strong = [end for end in ends if not window[end - 1].isspace()]
        cut = (strong or ends or [longest])[-1]
        parts.append(window[:cut].strip())
        start += cut
    parts.append(line[start:].strip())
    return [part for part in parts if part]
