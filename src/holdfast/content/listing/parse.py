"""Listings of files, as ls, find, tree, du, tar and dir print them, cut into folders and entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.content.shares import enough

_SAMPLE = 400  # lines that tell how the entries are written
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
    asked = [line[:_LONGEST] for line in lines[:_SAMPLE] if line.strip() and not _TOTAL.match(line)]
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
