"""The content kind ``listing``: folders with their counts, and the entries that matter."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.content.excerpt import asked, counted
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.question import Question

from .once import compacted, expanded
from .parse import Entry, entries, form_of

_LOOKED_AT = 40_000  # characters that tell whether a text is a listing
_LEAST_SAVING = 0.1
_EXTENSIONS = 3  # that a folder's line counts by name
_LARGEST, _NEWEST = 5, 3
_KEY_NAMES = re.compile(
    r"(?:readme|license|changelog|makefile|dockerfile|package\.json|pyproject\.toml|setup\.py|cargo\.toml|go\.mod|pom\.xml"
    r"|build\.gradle|requirements|docker-compose|\.env|main\.|index\.|app\.|__main__)",
    re.IGNORECASE,
)


class Listing:
    """Lists of files; what is not named is counted by folder and by extension."""

    name = "listing"

    def recognises(self, text: str) -> bool:
        """Whether nearly all lines are an entry of a listing."""
        return bool(form_of(_lines(text[:_LOOKED_AT])))

    def compact(self, text: str) -> str | None:
        """Of paths each folder once, its names below it; None where that saves little."""
        if form_of(text.split("\n")) != "paths":
            return None
        short = compacted(text)
        return short if len(short) <= (1 - _LEAST_SAVING) * len(text) and expanded(short) == text else None

    def expand(self, compacted: str) -> str:
        """The paths as they were."""
        return expanded(compacted)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The entries that the question names, folders with their counts, the largest and the newest entries."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        lines = _lines(text)
        found = entries(lines, form_of(lines))
        written = _Written(found)
        sizes = [len(piece.text) + 2 for piece in written.pieces]
        order = _order(written.pieces, found, Question.of(room.question))
        choice = fit.choose(order, sizes, written, room.tokens, room.count)
        if choice is None:
            return Shrunk(fit.clip(text, room.tokens, room.count, mark="…"), self.name, "all but the beginning")
        named = sum(written.pieces[at].entry is not None for at in choice.pieces)
        return Shrunk(choice.text, self.name, f"{len(found) - named:,} of {counted(len(found), 'name')}")


@dataclass(frozen=True, slots=True)
class Piece:
    """What can be told: a folder with its counts, or one entry of it."""

    folder: str
    text: str
    entry: int | None = None


class _Written:
    """The pieces of a listing in its order, and the text of chosen ones."""

    def __init__(self, found: Sequence[Entry]) -> None:
        members: dict[str, list[int]] = {}
        for number, entry in enumerate(found):
            members.setdefault(entry.folder, []).append(number)
        self._total = {folder: len(numbers) for folder, numbers in members.items()}
        below = _below(members)
        self.pieces: list[Piece] = []
        for folder, numbers in members.items():
            inside = [found[number] for number in numbers]
            self.pieces.append(Piece(folder, _counts(folder, inside, below[folder])))
            self.pieces += [Piece(folder, _told(found[number]), number) for number in numbers]

    def __call__(self, chosen: Sequence[int]) -> str:
        """The text of the chosen pieces, whose numbers come in ascending order."""
        names: dict[str, list[str]] = {}
        headings: dict[str, str] = {}
        for at in chosen:
            piece = self.pieces[at]
            names.setdefault(piece.folder, [])
            if piece.entry is None:
                headings[piece.folder] = piece.text
            else:
                names[piece.folder].append(piece.text)
        lines: list[str] = []
        for folder, told in names.items():
            lines.append(headings.get(folder, f"{_folder_name(folder)} ({counted(self._total[folder], 'name')})"))
            more = self._total[folder] - len(told)
            if told:
                lines.append("  " + ", ".join(told) + (f", … {more:,} more" if more else ""))
        hidden = [folder for folder in self._total if folder not in names]
        if hidden:
            rest = sum(self._total[folder] for folder in hidden)
            lines.append(f"… {rest:,} more in {counted(len(hidden), 'other folder')} …")
        return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _below(members: dict[str, list[int]]) -> dict[str, int]:
    """How many entries stand in the folders below each folder."""
    below = dict.fromkeys(members, 0)
    for folder, numbers in members.items():
        above = folder
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in below:
                below[above] += len(numbers)
    return below


def _counts(folder: str, inside: Sequence[Entry], below: int) -> str:
    """The folder in one line: how many entries of which extensions, and their size."""
    folders = sum(entry.is_folder for entry in inside)
    kinds = Counter(_extension(entry.name) for entry in inside if not entry.is_folder)
    told = [f"{count} {kind}" for kind, count in kinds.most_common(_EXTENSIONS)]
    rest = sum(kinds.values()) - sum(count for _, count in kinds.most_common(_EXTENSIONS))
    parts = [*told, *([f"{rest} others"] if rest else []), *([counted(folders, "folder")] if folders else [])]
    size = sum(entry.size or 0 for entry in inside if not entry.is_folder)
    more = [_short(size)] if size else []
    more += [f"{below:,} below"] if below else []
    return f"{_folder_name(folder)} ({', '.join(parts)}{'; ' if more else ''}{'; '.join(more)})"


def _folder_name(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder or '.'}/"


def _extension(name: str) -> str:
    _, dot, extension = name.lstrip(".").rpartition(".")
    return f".{extension}" if dot and len(extension) <= 8 else "without extension"


def _told(entry: Entry) -> str:
    slash = "/" if entry.is_folder and not entry.name.endswith("/") else ""
    return f"{entry.name}{slash}{f' {entry.size_told}' if entry.size_told and not entry.is_folder else ''}"


def _short(size: int) -> str:
    for unit in ("B", "K", "M", "G"):
        if size < 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size}T"


def _order(pieces: Sequence[Piece], found: Sequence[Entry], question: Question) -> list[int]:
    """The pieces' numbers: what the question names, folders from the top down, what stands out, then in turns."""
    worth = asked(question, [piece.folder if piece.entry is None else found[piece.entry].name for piece in pieces])
    files = [number for number, entry in enumerate(found) if not entry.is_folder]
    largest = heapq.nlargest(_LARGEST, files, key=lambda number: found[number].size or 0)
    newest = heapq.nlargest(_NEWEST, files, key=lambda number: found[number].time)
    standing_out = {*(largest if any(found[at].size for at in files) else []), *(newest if _dated(found) else [])}
    turns: Counter[str] = Counter()
    keys: list[tuple[float, ...]] = []
    for at, piece in enumerate(pieces):
        depth = piece.folder.count("/")
        if piece.entry is None:
            keys.append((-worth[at], 1, depth, at))
            continue
        key_name = _KEY_NAMES.match(found[piece.entry].name) is not None
        turns[piece.folder] += not key_name
        tier = 0 if piece.entry in standing_out else 1 if key_name and depth <= 1 else 2
        keys.append((-worth[at], tier, turns[piece.folder] + depth, at))
    return sorted(range(len(pieces)), key=lambda at: keys[at])


def _dated(found: Sequence[Entry]) -> bool:
    """Whether the times can be compared as they are written: the year first."""
    return any(entry.time[:4].isdigit() for entry in found)
