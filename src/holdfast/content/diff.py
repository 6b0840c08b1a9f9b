"""Unified diffs, as git, diff, svn and hg write them: each file with its numbers, below it its hunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import groupby

from holdfast.selection.pieces import Piece, Reading, passages

from .lossy import Lossy, Read
from .shares import sampled

_HUNK = re.compile(r"@@+ -\d+(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+\d+(?:,(\d+))? @@+")
_GIT = re.compile(r'diff --(?:git|cc|combined) "?(?:a/)?(.{1,400}?)"?(?: "?b/(.{1,400}?)"?)?$')
_HEAD = re.compile(
    r"index [0-9a-f]|(?:old|new|deleted file|new file) mode |(?:dis)?similarity index "
    r"|(?:rename|copy) (?:from|to) |Binary files .* differ|GIT binary patch|--- \S|\+\+\+ \S|={20}|Index: |diff -"
)
_NOTES = re.compile(r"(new file|deleted file|rename from .*|copy from .*|Binary|GIT binary|old mode \d+)")

_MOST = 64_000  # characters by which a text is recognised
_MARKS = ("diff -", "Index: ", "--- ")  # with which the line that begins a file begins


class _Part(IntEnum):
    """What a line of a diff is."""

    TEXT = 0
    FILE = 1
    HUNK = 2
    CHANGE = 3
    CONTEXT = 4


@dataclass(slots=True)
class _Line:
    """One line to be told: ``file`` and ``hunk`` are the numbers of where it belongs, counted from 0."""

    part: _Part
    text: str
    file: int = -1
    hunk: int = -1


@dataclass(slots=True)
class _File:
    """One file of a diff, told in one line."""

    path: str = ""
    notes: list[str] = field(default_factory=list[str])
    added: int = 0
    removed: int = 0

    def text(self) -> str:
        """The path, the numbers of added and removed lines, and what else happened to the file."""
        counts = [f"+{self.added}"] * (self.added > 0) + [f"-{self.removed}"] * (self.removed > 0)
        notes = [f"({', '.join(self.notes)})"] if self.notes else []
        return " ".join([f"=== {self.path or 'unnamed'}", *counts, *notes])


@dataclass(slots=True)
class _Changes:
    """The lines of a diff in their order, and its files."""

    lines: list[_Line] = field(default_factory=list[_Line])
    files: list[_File] = field(default_factory=list[_File])
    hunks: int = 0


class Diff(Lossy, Read):
    """Changes to files: what is told of one stands under its file and its hunk."""

    name = "diff"

    def fit(self, text: str) -> float:
        """The share of the lines that belong to files and hunks, what stands before the first file apart."""
        lines = _parse(_split(text if len(text) <= _MOST else sampled(text))).lines
        parts = [line.part for line in lines]
        if _Part.HUNK not in parts and not any(map(_GIT.match, text[:_MOST].split("\n"))):
            return 0.0
        parts = parts[parts.index(_Part.FILE) :]
        return 1 - parts.count(_Part.TEXT) / len(parts)

    def read(self, text: str) -> Reading:
        """A piece a file and a hunk; below them changes together, and apart from them the lines around."""
        lines = _parse(_split(text)).lines
        return Reading(_pieces(lines), len(lines))


def _pieces(lines: Sequence[_Line]) -> list[Piece]:
    pieces: list[Piece] = []
    waiting: list[int] = []  # pieces of context before the first change of a hunk
    file = hunk = change = -1
    for (part, _, _), members in groupby(
        enumerate(lines), key=lambda row: (row[1].part, row[1].file, row[1].hunk)
    ):
        rows = list(members)
        if part is _Part.FILE:
            file, hunk = len(pieces), -1
            pieces.append(Piece(rows[0][1].text, rows[0][0]))
        elif part is _Part.HUNK:
            hunk, change, waiting = len(pieces), -1, []
            pieces.append(Piece(rows[0][1].text, rows[0][0], under=file))
        elif part is _Part.CHANGE:
            change = len(pieces)
            for number in waiting:
                pieces[number] = pieces[number]._replace(under=change)
            waiting = []
            pieces += _told(rows, hunk)
        else:
            above = -1 if part is _Part.TEXT else change if change >= 0 else hunk
            told = list(_told(rows, above))
            if part is _Part.CONTEXT and change < 0:
                waiting += range(len(pieces), len(pieces) + len(told))
            pieces += told
    return pieces


def _told(rows: Sequence[tuple[int, _Line]], under: int) -> Iterator[Piece]:
    """Neighbouring lines together, each piece under the one that says where they are."""
    read = passages("\n".join(line.text for _, line in rows))
    return (piece._replace(at=rows[0][0] + piece.at, under=under) for piece in read.pieces)


def _split(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _parse(lines: Sequence[str]) -> _Changes:
    """The diff; what stands before the first file and between commits is text."""
    diff = _Changes()
    left = [0, 0]  # old and new lines that the open hunk still has
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if left[0] > 0 or left[1] > 0:
            if line[:1] in {"+", "-", " ", "\\", ""}:
                _inside(diff, line, left)
                continue
            left = [0, 0]
        opened = _HUNK.match(line)
        if opened and diff.files:
            left = [int(count) if count else 1 for count in opened.groups()]
            diff.lines.append(_Line(_Part.HUNK, line, len(diff.files) - 1, diff.hunks))
            diff.hunks += 1
        elif _starts_file(line, following) and not _goes_on(diff, line):
            diff.files.append(_File())
            diff.lines.append(_Line(_Part.FILE, "", len(diff.files) - 1))
            _note(diff.files[-1], line)
        elif diff.files and diff.lines[-1].part is _Part.FILE and _HEAD.match(line):
            _note(diff.files[-1], line)
        elif line.strip() and not line.startswith("\\"):
            diff.lines.append(_Line(_Part.TEXT, line, len(diff.files) - 1))
    for told in diff.lines:
        if told.part is _Part.FILE:
            told.text = diff.files[told.file].text()
    return diff


def _starts_file(line: str, following: str) -> bool:
    """Whether a file begins here: with git's own line, or with the two names."""
    return line.startswith(_MARKS) and (not line.startswith("--- ") or following.startswith("+++ "))


def _goes_on(diff: _Changes, line: str) -> bool:
    """Whether the two names belong to a file that is open already."""
    return line.startswith("--- ") and bool(diff.files) and diff.lines[-1].part is _Part.FILE


def _inside(diff: _Changes, line: str, left: list[int]) -> None:
    file = diff.files[-1]
    sign = line[:1]
    if sign == "+":
        file.added += 1
        left[1] -= 1
    elif sign == "-":
        file.removed += 1
        left[0] -= 1
    elif sign != "\\":
        left[0] -= 1
        left[1] -= 1
    part = _Part.CHANGE if sign in {"+", "-"} else _Part.CONTEXT
    diff.lines.append(_Line(part, line, len(diff.files) - 1, diff.hunks - 1))


def _note(file: _File, line: str) -> None:
    """What a line of a file's head tells: its path, or that it is new, renamed, binary."""
    git = _GIT.match(line)
    if git:
        file.path = git[2] or git[1]
    elif line.startswith("Index: "):
        file.path = line[7:].strip()
    elif line.startswith(("--- ", "+++ ")):
        path = line[4:].partition("\t")[0].strip().strip('"')
        if path != "/dev/null":
            file.path = path[2:] if path.startswith(("a/", "b/")) else path
    elif (note := _NOTES.match(line)) and note[1] not in file.notes:
        file.notes.append("binary" if "inary" in note[1] else note[1])
