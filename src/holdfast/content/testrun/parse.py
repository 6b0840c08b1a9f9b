"""The output of a test run or a build, cut into pieces: lines, and diagnostics with what belongs to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from holdfast.content.frames import is_frame, is_library
from holdfast.text.states import with_codes

from .forms import ANNOUNCED, LONGEST, PLACE, REASON, Diagnostic, Role, opening

_VALUES = re.compile(r"(?<![A-Za-z])\d+")  # a rule such as E501 is none
_QUOTED = re.compile(r"‘[^’]*’|`[^`]*`|'[^']*'|\"[^\"]*\"")
_RULE = re.compile(r"\[-W[\w=-]+\]|\[[a-z-]+\]")
_POINTER = re.compile(r"[\^~]")
_RULER = re.compile(r"([_=*-])\1{5,}")
_MOST_SPOTS = 3


@dataclass(slots=True)
class Piece:
    """A line, or lines that only make sense together; of equal diagnostics the first stands for the others."""

    role: Role
    lines: list[str]
    spots: list[str] = field(default_factory=list[str])
    block: int = 0
    varied: bool = False
    """Whether the equal ones name other things, or other numbers."""

    def text(self) -> str:
        """The lines, with the places of equal ones."""
        text = "\n".join(self.lines)
        others = self.spots[1:]
        if not others:
            return text
        named = [spot for spot in dict.fromkeys(others) if spot][:_MOST_SPOTS]
        more = f", also {', '.join(named)}" if named else ""
        rest = " …" if len(others) > len(named) > 0 else ""
        varied = "; what they name differs" if self.varied else ""
        return f"{text}  (×{len(self.spots)}{more}{rest}{varied})"


def pieces(lines: Sequence[str]) -> list[Piece]:
    """The pieces in the order of the text; lines without a word are left out."""
    parser = _Parser()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        parser.take(line, following)
    return _distinct(parser.found)


class _Parser:
    """What a line is depends on the block in which it stands: a failure, a diagnostic, something that passed."""

    def __init__(self) -> None:
        self.found: list[tuple[Piece, Diagnostic | None]] = []
        self._block = Role.OTHER
        self._number = 0
        self._indent = 0
        self._announced = False

    def take(self, line: str, following: str) -> None:
        """The next line."""
        told = line[:LONGEST]
        if not any(map(str.isalnum, told)) and not _POINTER.search(told):
            if not told.strip() and self._block is not Role.FAILED:
                self._block = Role.OTHER
            return
        opened = self._opens(told)
        if opened is None:
            self._continue(line, following)
        self._announced = ANNOUNCED.search(told) is not None

    def _opens(self, line: str) -> Role | None:
        role, said = opening(line)
        if role is not None:
            self._block, self._indent = role, len(line) - len(line.lstrip())
            self._number += 1
            self._add(role, line, said)
        return role

    def _continue(self, line: str, following: str) -> None:
        """A line that belongs to the block above it, or to none."""
        indent = len(line) - len(line.lstrip())
        if self._block is Role.PASSED and indent > self._indent:
            role = Role.REASON if REASON.match(line[:LONGEST]) else Role.PASSED
        elif self._block in {Role.ERROR, Role.WARNING}:
            role = Role.PLACE if PLACE.match(line[:LONGEST]) else Role.DETAIL
        elif self._block is Role.FAILED:
            role = self._in_failure(line, following)
        else:
            role = Role.OTHER
        self._add(role, line, None)

    def _in_failure(self, line: str, following: str) -> Role:
        told = line[:LONGEST]
        if is_frame(told, following) or PLACE.match(told):
            return Role.OTHER if is_library(told) else Role.PLACE
        if self._announced or REASON.match(told) or ANNOUNCED.search(told):
            return Role.REASON
        return Role.DETAIL

    def _add(self, role: Role, line: str, said: Diagnostic | None) -> None:
        if _RULER.search(line):
            line = _RULER.sub(r"\1\1\1", line)
        self.found.append((Piece(role, [line], [], self._number), said))


def _distinct(found: Sequence[tuple[Piece, Diagnostic | None]]) -> list[Piece]:
    """The pieces with each diagnostic once: the place below it joins it, equal ones are counted in the first."""
    first: dict[tuple[str, ...], Piece] = {}
    told: dict[int, str] = {}
    kept: list[Piece] = []
    for _, block in groupby(found, key=lambda entry: entry[0].block):
        entries = list(block)
        head, said = entries[0]
        rest = [piece for piece, _ in entries[1:]]
        if said is not None and head.role in {Role.ERROR, Role.WARNING}:
            known = first.setdefault(_meaning(head, said, rest), head)
            known.spots.append(said.spot)
            told.setdefault(id(known), said.told)
            if known is not head:
                known.varied = known.varied or said.told != told[id(known)]
                continue
            if rest and rest[0].role is Role.PLACE:
                head.lines += rest.pop(0).lines
        kept += [head, *rest]
    return kept


def _meaning(head: Piece, said: Diagnostic, rest: Sequence[Piece]) -> tuple[str, ...]:
    """What two equal diagnostics have in common: the rule of a warning; of an error every word, numbers aside."""
    if head.role is Role.WARNING:
        rule = _RULE.findall(said.told)
        return (head.role.name, rule[-1] if rule else _without_values(_QUOTED.sub("…", said.told)))
    details = [piece.lines[0] for piece in rest if piece.role is not Role.PLACE]
    return (head.role.name, *map(_without_values, (said.told, *details)))


def _without_values(text: str) -> str:
    """The text without its numbers, but for status and exit codes: those say what happened."""
    return _VALUES.sub("0", with_codes(text))
