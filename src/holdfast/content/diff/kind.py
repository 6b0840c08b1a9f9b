"""The content kind ``diff``: every file with its numbers, then the changes that matter, little around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.content.excerpt import asked, counted, excerpt
from holdfast.content.lossy import Lossy
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.memo import Memo
from holdfast.text.question import Question

from .parse import FILE_MARKS, Line, Part, is_hunk, nearness, parse, starts_file
from .parse import Diff as Parsed

_LOOKED_AT = 60_000  # characters that tell whether a text is a diff
_COVERED = 0.5  # of the lines from the first file on belong to files and hunks
_FIRST_CHANGES = 12  # changes of a hunk that come before those of later hunks are exhausted
_NEAR = 1  # lines around a change that say where it is
_LONGEST_LINE = 300

_MADE = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|\w+\.lock|go\.sum|bun\.lockb?)$"
    r"|\.min\.(?:js|css)$|\.map$|\.snap$|\.svg$|\.pb\.go$|_pb2\.py$|[._-]generated\.|\.g\.\w+$|\.ipynb$|\.csv$"
    r"|(?:^|/)(?:dist|build|vendor|node_modules|third_party|__snapshots__|generated)/",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:commit|Merge:?|Author|AuthorDate|Commit|CommitDate|Date|From|Subject|To)\b")
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|docs?|examples?|fixtures)/|[._-](?:test|spec)\.|\.(?:md|rst|txt)$", re.IGNORECASE
)


class Diff(Lossy):
    """Changes to files; generated and lock files come last, and what is left out is named by its file."""

    name = "diff"

    def recognises(self, text: str) -> bool:
        """Whether a file's head is followed by hunks, and they make up most of what follows."""
        if not any(mark in text for mark in FILE_MARKS):
            return False
        looked_at = text[:_LOOKED_AT]
        lines = _lines(looked_at)
        pairs = zip(lines, [*lines[1:], ""], strict=True)
        first = next((at for at, pair in enumerate(pairs) if starts_file(*pair)), None)
        if first is None:
            return False
        parts = [line.part for line in _PARSED(looked_at).lines]
        parts = parts[parts.index(Part.FILE) :]
        proper = any(map(is_hunk, lines[first:])) or lines[first].startswith("diff --git ")
        return proper and parts.count(Part.TEXT) <= (1 - _COVERED) * len(parts)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Every file in one line, then hunks: what the question names, own code, tests, generated files."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        found = _PARSED(text)
        texts = [_clipped(line.text) for line in found.lines]
        order = _order(found, texts, Question.of(room.question))
        choice = excerpt(texts, order, room, lambda start, end: _gap(found.lines[start:end]))
        if choice is None:
            best = fit.clip(texts[order[0]].strip() if order else text, room.tokens, room.count, mark="…")
            return Shrunk(best, self.name, "all but one line")
        kept = set(choice.pieces)
        left_out = [line for at, line in enumerate(found.lines) if at not in kept]
        return Shrunk(choice.text, self.name, _gap(left_out).strip(" …") or "context")


def _clipped(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


_PARSED: Memo[str, Parsed] = Memo(
    lambda text: parse(_lines(text)),
    lambda text, found: 2 * len(text) + 200 * len(found.lines),
    characters=4_000_000,
)
"""A diff is read where it is recognised, and again wherever it is shrunk."""


def _order(found: Parsed, texts: Sequence[str], question: Question) -> list[int]:
    """The lines' numbers: files, the first changes of each hunk, then their surroundings and the rest."""
    hunks: dict[int, list[str]] = {}
    for line, text in zip(found.lines, texts, strict=True):
        hunks.setdefault(line.hunk, [found.files[line.file].path] if line.file >= 0 else []).append(text)
    numbers = list(hunks)
    worth = dict(zip(numbers, asked(question, ["\n".join(hunks[number]) for number in numbers]), strict=True))
    told = asked(question, texts)
    standing = [_standing(file.path) for file in found.files]
    keys: list[tuple[float, ...]] = []
    for at, (line, (distance, before)) in enumerate(zip(found.lines, nearness(found), strict=True)):
        rank = standing[line.file] if line.file >= 0 else 0
        tier = _tier(line, distance, before)
        if line.part is Part.FILE:
            keys.append((0, rank, -told[at], at))
        elif line.part is Part.TEXT:
            keys.append((tier, 0, -told[at], at))
        else:
            wanted = told[at] > 0 and line.part is Part.CHANGE
            keys.append((1 if wanted else tier + rank, -worth[line.hunk], rank, at))
    told_in_words = [at for at, text in enumerate(texts) if any(map(str.isalnum, text))]
    return sorted(told_in_words, key=lambda at: keys[at])


def _tier(line: Line, distance: int, before: int) -> float:
    if line.part is Part.HUNK:
        return 1.8
    if line.part is Part.CHANGE:
        return 4 if before >= _FIRST_CHANGES else 2
    if line.part is Part.TEXT:
        return 3 if _LABEL.match(line.text) else 1
    return 3 if distance <= _NEAR else 6


def _standing(path: str) -> int:
    """0 for the program itself, 1 for what stands beside it, 6 for what tools made."""
    return 6 if _MADE.search(path) else 1 if _BESIDE.search(path) else 0


def _gap(left_out: Sequence[Line]) -> str:
    """What is left out; of a hunk that is not even named its number is enough, its file tells how much changes."""
    files = changes = 0
    hunks: set[int] = set()
    for line in left_out:
        if line.part is Part.HUNK:
            hunks.add(line.hunk)
        elif line.part is Part.FILE:
            files += 1
        elif line.part is Part.CHANGE and line.hunk not in hunks:
            changes += 1
    counts = ((files, "file"), (len(hunks), "hunk"), (changes, "changed line"))
    told = [counted(number, noun) for number, noun in counts if number]
    return f"… {', '.join(told)} …" if told else "…"
