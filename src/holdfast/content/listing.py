"""Listings, as ls, find, tree, du, tar and dir print them: folders with their counts, and what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.selection.pieces import Piece, Reading, passages

from .lossy import Read
from .shares import enough, sampled

_SHARE = 0.8  # of the lines must be entries
_NAMED = 0.5  # of bare names must have an extension
_FEWEST = 4
_LONGEST = 1_000  # characters of a line that are read

_SIZE = r"(?P<size>\d[\d.,]*[kKMGTP]?i?B?)"
_TIME = (
    r"(?P<time>[A-Z][a-z]{2} [ \d]\d (?: \d{4}|\d\d:\d\d)"
    r"|\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: [+-]\d{4})?)"
)
_LONG = re.compile(
    r"\s*(?:\d+ +\d+ +)?(?P<mode>[-dlbcps][-rwxsStT]{9})[.+@]? +(?:\d+ +)?\S+(?: +\S+)?? +"
    rf"(?:\d+, +)?{_SIZE} +{_TIME} (?P<name>.+)"
)
_WINDOWS = re.compile(
    rf"(?P<time>\d\d[./-]\d\d[./-]\d{{4}} +\d\d:\d\d(?: [AP]M)?) +(?:(?P<mode><DIR>)|{_SIZE}) +(?P<name>\S.*)"
)
_USED = re.compile(rf"{_SIZE}\t(?P<name>\S.*)")
_TREE = re.compile(r"(?P<lead>(?:[│\u00a0 ]|\|(?!--))*+)(?:├──|└──|\|--|`--|\+--|\\--)[ \u00a0](?P<name>\S.*)")
_TREE_SIZE = re.compile(rf"\[(?:[-dlrwx]{{10}} +)?(?:\S+ +)?{_SIZE}\] +")
_PATH = re.compile(r"(?:\.{1,2}|~|[A-Za-z]:)?[^\s:*?\"<>|]*[/\\][^:*?\"<>|]*$")
_NAME = re.compile(r"\.?[\w@+~-][\w@+.~ -]*$")
_EXTENSION = re.compile(r"\.\w{1,8}$")
_FOLDER = re.compile(r"(\S[^:]*):$")
_TOTAL = re.compile(r"total \d|\d+ director(?:y|ies), \d+ files?|Volume |Directory of |^\s+\d+ (?:File|Dir)\(s\)")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_LEAST_SAVING = 0.1
_EXTENSIONS = 3  # that a folder's line counts by name
_HEADING_ONCE = "[paths, each folder once: names stand below theirs]"
_BELOW, _OTHER = "> ", "= "


class Listing(Read):
    """Lists of files; each name stands under its folder, which says how many there are of which extensions."""

    name = "listing"

    def fit(self, text: str) -> float:
        """The share of the lines that are an entry of a listing, totals and the names of folders apart."""
        lines = _lines(sampled(text))
        form = form_of(lines)
        asked = [line for line in lines if line.strip() and not _TOTAL.match(line) and not _FOLDER.match(line)]
        return min(1.0, len(entries(lines, form)) / len(asked)) if form else 0.0

    def compact(self, text: str) -> str | None:
        """Of paths each folder once, its names below it; None where that saves little."""
        if form_of(text.split("\n")) != "paths":
            return None
        short = _compacted(text)
        return short if len(short) <= (1 - _LEAST_SAVING) * len(text) and _expanded(short) == text else None

    def expand(self, compacted: str) -> str:
        """The paths as they were."""
        return _expanded(compacted)

    def read(self, text: str) -> Reading:
        """A piece a folder, and its entries under it."""
        lines = _lines(text)
        members: dict[str, list[Entry]] = {}
        for entry in entries(lines, form_of(lines)):
            members.setdefault(entry.folder, []).append(entry)
        below = _below(members)
        pieces: list[Piece] = []
        at = 0
        for folder, inside in members.items():
            under = len(pieces)
            pieces.append(Piece(_counts(folder, inside, below[folder]), at, 0))
            pieces += [Piece(_told(entry), at + number, under=under) for number, entry in enumerate(inside)]
            at += len(inside)
        return Reading(pieces, at, "name") if pieces else passages(text)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _below(members: Mapping[str, Sequence[Entry]]) -> dict[str, int]:
    """How many entries stand in the folders below each folder."""
    below = dict.fromkeys(members, 0)
    for folder, inside in members.items():
        above = folder
        while "/" in above:
            above = above.rpartition("/")[0]
            if above in below:
                below[above] += len(inside)
    return below


def _counts(folder: str, inside: Sequence[Entry], below: int) -> str:
    """The folder in one line: how many entries of which extensions, and their size."""
    folders = sum(entry.is_folder for entry in inside)
    kinds = Counter(_extension(entry.name) for entry in inside if not entry.is_folder)
    told = [f"{count} {kind}" for kind, count in kinds.most_common(_EXTENSIONS)]
    rest = sum(kinds.values()) - sum(count for _, count in kinds.most_common(_EXTENSIONS))
    parts = [
        *told,
        *([f"{rest} others"] if rest else []),
        *([f"{folders} folder{'s' * (folders > 1)}"] if folders else []),
    ]
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
    return f"  {entry.name}{slash}{f' {entry.size_told}' if entry.size_told and not entry.is_folder else ''}"


def _short(size: int) -> str:
    for unit in ("B", "K", "M", "G"):
        if size < 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size}T"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder: where it is, its name, and what the listing says of it."""

    folder: str
    name: str
    is_folder: bool = False
    size: int | None = None
    size_told: str = ""
    time: str = ""


def form_of(lines: Sequence[str]) -> str:
    """``long``, ``windows``, ``tree``, ``used``, ``paths`` or ``names``; nothing for other texts."""
    asked = [line[:_LONGEST] for line in lines if line.strip() and not _TOTAL.match(line)]
    if len(asked) < _FEWEST:
        return ""
    headings = [line for line in asked if _FOLDER.match(line)]
    entries = [line for line in asked if not _FOLDER.match(line)] if headings else asked
    least = max(_FEWEST, _SHARE * len(entries))
    for form, pattern in (("long", _LONG), ("windows", _WINDOWS), ("tree", _TREE), ("used", _USED)):
        if enough(entries, pattern.match, least):
            return form
    paths = [] if headings else enough(entries, _is_path, least)
    if paths and sum(map(_surely, paths)) >= _NAMED * len(paths):
        return "paths"
    named = enough(entries, _is_name, least)
    extended = sum(_EXTENSION.search(line) is not None for line in named)
    if named and (extended >= _NAMED * len(entries) or (headings and "/" in "".join(headings))):
        return "names"
    return ""


def entries(lines: Sequence[str], form: str) -> list[Entry]:
    """The entries in their order; totals and blank lines are none."""
    told = [line[:_LONGEST] for line in lines if line.strip() and not _TOTAL.match(line)]
    if form == "tree":
        return list(_of_tree(told))
    return list(_of_lines(told, form))


def _of_lines(lines: Sequence[str], form: str) -> Iterator[Entry]:
    folder = ""
    pattern = {"long": _LONG, "windows": _WINDOWS, "used": _USED}.get(form)
    for line in lines:
        found = pattern.match(line) if pattern else None
        if found is not None:
            yield _entry(folder, found.groupdict())
        elif heading := _FOLDER.match(line):
            folder = heading[1]
        elif form in {"paths", "names"}:
            yield _at(folder, line.strip())


def _of_tree(lines: Sequence[str]) -> Iterator[Entry]:
    """The folder of a line is the last line that stands less deep."""
    open_folders: list[str] = []
    root = ""
    rows = [(line, _TREE.match(line)) for line in lines]
    for at, (line, found) in enumerate(rows):
        if found is None:
            root = line.strip()
            continue
        depth = (len(found["lead"]) + 3) // 4
        name = found["name"]
        sized = _TREE_SIZE.match(name)
        name = name[sized.end() :] if sized else name
        following = rows[at + 1][1] if at + 1 < len(rows) else None
        is_folder = name.endswith("/") or (following is not None and (len(following["lead"]) + 3) // 4 > depth)
        folder = "/".join([root, *open_folders[:depth]])
        open_folders[depth:] = [name.rstrip("/")]
        size = sized["size"] if sized else ""
        yield Entry(folder, name, is_folder, _bytes(size), size)


def _entry(folder: str, found: dict[str, str | None]) -> Entry:
    name = found["name"] or ""
    mode = found.get("mode") or ""
    size = found.get("size") or ""
    at = _at(folder, name.split(" -> ")[0].rstrip("/") if "->" in name else name.rstrip("/"))
    is_folder = mode.startswith(("d", "<DIR>")) or name.endswith("/")
    return Entry(at.folder, at.name, is_folder, _bytes(size), size, found.get("time") or "")


def _at(folder: str, path: str) -> Entry:
    """The entry of a path, which stands in a folder of its own or below the one that is listed."""
    trimmed = path.rstrip("/\\")
    above, sign, name = trimmed.rpartition("/") if "/" in trimmed else trimmed.rpartition("\\")
    within = "/".join(filter(None, (folder, above))) if sign and above else (folder or (sign and "/"))
    return Entry(within, name or path, path.endswith(("/", "\\")))


def _bytes(size: str) -> int | None:
    number = re.match(r"[\d.,]+", size)
    if not number:
        return None
    try:
        value = float(number[0].replace(",", ""))
    except ValueError:
        return None
    return int(value * _UNITS.get(size[number.end() : number.end() + 1].upper(), 1))


def _surely(path: str) -> bool:
    """Whether a path can be nothing else: it starts like one, goes deep, or ends in an extension."""
    return path[0] in "./~" or path.count("/") > 1 or "\\" in path or _EXTENSION.search(path) is not None


def _is_path(line: str) -> bool:
    return _PATH.match(line) is not None and line.count(" ") <= 3


def _is_name(line: str) -> bool:
    return _NAME.match(line) is not None and line.count(" ") < 2


def _compacted(text: str) -> str:
    """The names below their folders, in their order."""
    lines = [_HEADING_ONCE]
    folder = ""
    for line in text.split("\n"):
        above, sign, name = line.rpartition("/")
        if not sign:
            lines.append(_OTHER + line)
            continue
        if above + sign != folder:
            folder = above + sign
            lines.append(_BELOW + folder)
        lines.append(name)
    return "\n".join(lines)


def _expanded(text: str) -> str:
    """The paths that ``_compacted`` was made of; any other text as it is."""
    heading, _, body = text.partition("\n")
    if heading != _HEADING_ONCE:
        return text
    lines: list[str] = []
    folder = ""
    for line in body.split("\n"):
        if line.startswith(_BELOW):
            folder = line[len(_BELOW) :]
        elif line.startswith(_OTHER):
            lines.append(line[len(_OTHER) :])
        else:
            lines.append(folder + line)
    return "\n".join(lines)
