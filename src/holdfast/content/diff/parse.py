"""Unified diffs, as git, diff, svn and hg write them, cut into files, hunks and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

_HUNK = re.compile(r"@@+ -\d+(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+\d+(?:,(\d+))? @@+")
_GIT = re.compile(r'diff --(?:git|cc|combined) "?(?:a/)?(.{1,400}?)"?(?: "?b/(.{1,400}?)"?)?$')
_HEAD = re.compile(
    r"index [0-9a-f]|(?:old|new|deleted file|new file) mode |(?:dis)?similarity index "
    r"|(?:rename|copy) (?:from|to) |Binary files .* differ|GIT binary patch|--- \S|\+\+\+ \S|={20}|Index: |diff -"
)
_NOTES = re.compile(r"(new file|deleted file|rename from .*|copy from .*|Binary|GIT binary|old mode \d+)")


FILE_MARKS = ("diff -", "Index: ", "--- ")
"""What the line that begins a file begins with."""


class Part(IntEnum):
    """What a line of a diff is."""

    TEXT = 0
    FILE = 1
    HUNK = 2
    CHANGE = 3
    CONTEXT = 4


@dataclass(slots=True)
class Line:
    """One line to be told: ``file`` and ``hunk`` are the numbers of where it belongs, counted from 0."""

    part: Part
    text: str
    file: int = -1
    hunk: int = -1


@dataclass(slots=True)
class File:
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
class Diff:
    """The lines of a diff in their order, and its files."""

    lines: list[Line] = field(default_factory=list[Line])
    files: list[File] = field(default_factory=list[File])
    hunks: int = 0


def parse(lines: Sequence[str]) -> Diff:
    """The diff; what stands before the first file and between commits is text."""
    diff = Diff()
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
            diff.lines.append(Line(Part.HUNK, line, len(diff.files) - 1, diff.hunks))
            diff.hunks += 1
        elif starts_file(line, following) and not _goes_on(diff, line):
            diff.files.append(File())
            diff.lines.append(Line(Part.FILE, "", len(diff.files) - 1))
            _note(diff.files[-1], line)
        elif diff.files and diff.lines[-1].part is Part.FILE and _HEAD.match(line):
            _note(diff.files[-1], line)
        elif line.strip() and not line.startswith("\\"):
            diff.lines.append(Line(Part.TEXT, line, len(diff.files) - 1))
    for told in diff.lines:
        if told.part is Part.FILE:
            told.text = diff.files[told.file].text()
    return diff


def starts_file(line: str, following: str) -> bool:
    """Whether a file begins here: with git's own line, or with the two names."""
    return line.startswith(FILE_MARKS) and (not line.startswith("--- ") or following.startswith("+++ "))


def is_hunk(line: str) -> bool:
    """Whether the line opens a hunk."""
    return _HUNK.match(line) is not None


def _goes_on(diff: Diff, line: str) -> bool:
    """Whether the two names belong to a file that is open already."""
    return line.startswith("--- ") and bool(diff.files) and diff.lines[-1].part is Part.FILE


def _inside(diff: Diff, line: str, left: list[int]) -> None:
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
    part = Part.CHANGE if sign in {"+", "-"} else Part.CONTEXT
    diff.lines.append(Line(part, line, len(diff.files) - 1, diff.hunks - 1))


def _note(file: File, line: str) -> None:
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


def nearness(diff: Diff) -> Iterator[tuple[int, int]]:
    """For each line, how far the next change of its hunk is, and how many changes of its hunk come before it."""
    distances = [len(diff.lines)] * len(diff.lines)
    for order in (range(len(diff.lines)), range(len(diff.lines) - 1, -1, -1)):
        far, hunk = len(diff.lines), -1
        for at in order:
            line = diff.lines[at]
            far = 0 if line.part is Part.CHANGE else far + 1 if line.hunk == hunk else len(diff.lines)
            hunk = line.hunk
            distances[at] = min(distances[at], far)
    before, hunk = 0, -1
    for line, distance in zip(diff.lines, distances, strict=True):
        before = before if line.hunk == hunk else 0
        hunk = line.hunk
        yield distance, before
        before += line.part is Part.CHANGE
