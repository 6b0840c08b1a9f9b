"""Unified diffs, as git, diff, svn and hg write them: hunks under their files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import groupby, pairwise

from holdfast.text.pieces import Piece, Reading, passages

from .lossy import Lines, LossyKind, rows, sampled

_HUNK = re.compile(r"@@+ -\d+(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+\d+(?:,(\d+))? @@+")
_HEAD = re.compile(
    r'diff --(?:git|cc|combined) "?(?:a/)?(?P<old>.{1,400}?)"?(?: "?b/(?P<new>.{1,400}?)"?)?$'
    r"|Index: (?P<index>.*)|(?:---|\+\+\+) \"?(?:[ab]/)?(?P<path>[^\t]*[^\t\"\s])"
    r"|(?P<note>new file|deleted file|rename from .*|copy from .*|(?:old|new) mode \d+)"
    r"|(?P<binary>Binary|GIT binary)"
    r"|index [0-9a-f]|(?:dis)?similarity index |(?:rename|copy) to |={20}|diff -"
)
_MARKS = ("diff -", "Index: ", "--- ")  # a file begins with one of these


class _Part(IntEnum):
    """The types of lines in a diff, by their context."""

    TEXT = 0
    FILE = 1
    HUNK = 2
    CHANGE = 3
    CONTEXT = 4


@dataclass(slots=True)
class _File:
    """One file of a diff, summarized in one line."""

    path: str = "unnamed"
    notes: list[str] = field(default_factory=list[str])
    added: int = 0
    removed: int = 0

    def takes(self, line: str) -> bool:
        """Add a line of the file's head, such as its path or that it is new; whether it was one."""
        found = _HEAD.match(line)
        if found is None:
            return False
        path = found["new"] or found["old"] or found["index"] or found["path"]
        self.path = path if path and path != "/dev/null" else self.path
        note = found["note"] or (found["binary"] and "binary")
        self.notes += [note] if note and note not in self.notes else []
        return True

    def __str__(self) -> str:
        """The path, the numbers of added and removed lines, and what else happened to the file."""
        counts = [f"+{self.added}"] * (self.added > 0) + [f"-{self.removed}"] * (self.removed > 0)
        notes = [f"({', '.join(self.notes)})"] if self.notes else []
        return " ".join([f"=== {self.path}", *counts, *notes])


class Diff(LossyKind):
    """Changes to files; the lines of a change are under their hunk and file."""

    name = "diff"

    def share(self, text: str) -> float:
        """The share of the lines from the first file on that belong to files and hunks."""
        lines = rows(sampled(text))
        if not any(line.startswith(_MARKS) for line in lines):  # most texts are no diffs
            return 0.0
        parts = [part for part, _ in _typed(lines)]
        if _Part.FILE not in parts:  # of a long text, the sample may lie beside its files
            return 0.0
        if _Part.HUNK not in parts and "\ndiff --git" not in f"\n{text}":
            return 0.0
        parts = parts[parts.index(_Part.FILE) :]
        return 1 - parts.count(_Part.TEXT) / len(parts)

    def read(self, text: str) -> Reading:
        """A piece for each file and hunk.

        Under them, adjacent changes are one piece, with the lines around them.
        """
        typed = _typed(rows(text))
        pieces: list[Piece] = []
        above = [-1] * len(_Part)  # the newest piece of each type
        # the lines before the first change of a hunk, which go with it
        waiting: list[int] = []
        for (part, _), members in groupby(
            enumerate(typed),
            lambda row: (row[1][0], row[0] if row[1][0] in {_Part.FILE, _Part.HUNK} else -1),
        ):
            lines = list(members)
            told = passages("\n".join([line for _, (_, line) in lines]), alone=True).pieces
            for number in waiting if part is _Part.CHANGE else ():
                pieces[number] = pieces[number]._replace(parent=len(pieces))
            is_first = part is _Part.CONTEXT and above[_Part.CHANGE] < 0
            waiting = list(range(len(pieces), len(pieces) + len(told))) if is_first else []
            parent = above[part - 1] if part > _Part.FILE else -1
            pieces += [piece._replace(at=lines[0][0] + piece.at, parent=parent) for piece in told]
            above[part:] = [len(pieces) - 1, *[-1] * (_Part.CONTEXT - part)]
        return Reading(pieces, len(typed))


def _typed(lines: Lines) -> Sequence[tuple[_Part, str]]:
    """The lines with their types; each file's head is one line.

    Lines before the first file and between commits are text.
    """
    found: list[tuple[_Part, str | _File]] = []
    in_files = False
    file, old, new = _File(), 0, 0  # with the number of old and new lines left in the open hunk
    for line, following in pairwise([*lines, ""]):
        sign = line[:1]
        if (old > 0 or new > 0) and sign in "+- \\":
            file.added += sign == "+"
            file.removed += sign == "-"
            old, new = old - (sign in "- "), new - (sign in "+ ")
            found.append((_Part.CHANGE if sign in {"+", "-"} else _Part.CONTEXT, line))
            continue
        old = new = 0
        in_head = bool(found) and found[-1][0] is _Part.FILE
        opened = _HUNK.match(line) if in_files else None
        named = line.startswith("--- ")
        if opened:
            old, new = (int(count) if count else 1 for count in opened.groups())
            found.append((_Part.HUNK, line))
        elif line.startswith(_MARKS) and (
            not named or (following.startswith("+++ ") and not in_head)
        ):
            file, in_files = _File(), True
            file.takes(line)
            found.append((_Part.FILE, file))
        elif not (in_head and file.takes(line)) and line.strip() and sign != "\\":
            found.append((_Part.TEXT, line))
    return [(part, str(line)) for part, line in found]
