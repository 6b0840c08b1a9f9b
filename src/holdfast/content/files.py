"""Listings of files, as ls, find, tree, du, tar and dir print them.

Entries are under their folder, which has their number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.selection.pieces import Reading

from .lossy import LossyKind, Once, by_lines, enough, rows, sampled, under

_SHARE = 0.8  # share of the lines that must be entries
_NAMED = 0.5  # share of bare names that must have an extension
_FEWEST = 4
_LONGEST = 1_000  # characters of a line that are read

_SIZE = r"(?P<size>\d[\d.,]*[kKMGTP]?i?B?)"
_FORMS = {
    "long": re.compile(
        r"\s*(?:\d+ +\d+ +)?(?P<mode>[-dlbcps][-rwxsStT]{9})[.+@]? +(?:\d+ +)?\S+(?: +\S+)?? +"
        rf"(?:\d+, +)?{_SIZE} +(?:[A-Z][a-z]{{2}} [ \d]\d (?: \d{{4}}|\d\d:\d\d)"
        r"|\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: [+-]\d{4})?) "
        r"(?P<name>.+?)(?: -> .*)?$"
    ),
    "windows": re.compile(
        rf"\d\d[./-]\d\d[./-]\d{{4}} +\d\d:\d\d(?: [AP]M)? +(?:(?P<mode><DIR>)"
        rf"|{_SIZE}) +(?P<name>\S.*)"
    ),
    "tree": re.compile(
        r"(?P<lead>(?:[│\u00a0 ]|\|(?!--))*+)(?:├──|└──|\|--|`--|\+--|\\--)[ \u00a0]"
        rf"(?:\[(?P<mode>[-dlrwx]{{10}} +)?(?:\S+ +)?{_SIZE}\] +)?(?P<name>\S.*)"
    ),
    "used": re.compile(rf"{_SIZE}\t(?P<name>\S.*)"),
    "paths": re.compile(
        r"(?P<name>(?=[^ ]*+(?: [^ ]*+){0,3}$)(?:\.{1,2}|~"
        r"|[A-Za-z]:)?[^\s:*?\"<>|]*[/\\][^:*?\"<>|]*)$"
    ),
    "names": re.compile(r"(?P<name>\.?[\w@+~-][\w@+.~-]*(?: [\w@+.~-]*)?)$"),
}
_SURELY = re.compile(r"[./~]|[^/]*/[^/]*/|.*\\|.*\.\w{1,8}$")  # a path and nothing else
_EXTENSION = re.compile(r".*\.\w{1,8}$")
_FOLDER = re.compile(r"(\S[^:]*):$")
_TOTAL = re.compile(
    r"total \d|\d+ director(?:y|ies), \d+ files?|Volume |Directory of |^\s+\d+ (?:File|Dir)\(s\)"
)
_EXTENSIONS = 3  # extensions that a folder's line counts
_ONCE = Once("[paths, each folder once: names stand below theirs]")


class Entry(NamedTuple):
    """One file or folder: its folder, its name, and its size as listed."""

    folder: str
    name: str
    is_folder: bool = False
    size: str = ""


class Listing(LossyKind):
    """Lists of files; names are under their folder, which counts its entries by extension."""

    name = "listing"

    def fit(self, text: str) -> float:
        """The share of the lines that are entries, without totals and folder names."""
        lines = _lines(sampled(text))
        form = form_of(lines)
        asked = [line for line in lines if not _FOLDER.match(line)]
        found = sum(1 for _ in entries(lines, form))
        return min(1.0, found / len(asked)) if found else 0.0

    def compact(self, text: str) -> str | None:
        """For paths: each folder once, its names below it; None if that saves little."""
        if form_of(_lines(text)) != "paths":
            return None
        parted = (line.rpartition("/") for line in text.split("\n"))
        return _ONCE.compacted(text, ((above + sign, name) for above, sign, name in parted))

    def read(self, text: str) -> Reading:
        """A piece for each folder, and its entries under it."""
        lines = _lines(text)
        members: dict[str, list[Entry]] = {}
        for entry in entries(lines, form_of(lines)):
            members.setdefault(entry.folder, []).append(entry)
        told = [
            (_counts(folder, inside), list(map(_line, inside)))
            for folder, inside in members.items()
        ]
        return under(told, "name") if told else by_lines(text)


def _lines(text: str) -> list[str]:
    """The lines without empty ones and totals."""
    lines = rows(text)
    return [line[:_LONGEST] for line in lines if line.strip() and not _TOTAL.match(line)]


def _counts(folder: str, inside: Sequence[Entry]) -> str:
    """The folder in one line, with the number of its entries by extension."""
    kinds = Counter(_extension(entry) for entry in inside)
    usual = kinds.most_common(_EXTENSIONS)
    rest = len(inside) - sum(count for _, count in usual)
    told = [f"{count:,} {kind}" for kind, count in [*usual, ("others", rest)] if count]
    return f"{folder.removesuffix('/') or '.'}/ ({', '.join(told)})"


def _extension(entry: Entry) -> str:
    if entry.is_folder:
        return "folders"
    _, dot, extension = entry.name.lstrip(".").rpartition(".")
    return f".{extension}" if dot and len(extension) <= 8 else "without extension"


def _line(entry: Entry) -> str:
    return f"{entry.name}/" if entry.is_folder else f"{entry.name} {entry.size}".strip()


def form_of(lines: Sequence[str]) -> str:
    """The form of the listing; empty for other texts."""
    headings = "".join(line for line in lines if _FOLDER.match(line))
    asked = [line for line in lines if not _FOLDER.match(line)]
    least = max(_FEWEST, _SHARE * len(asked))
    for form, pattern in _FORMS.items():
        found = [] if form == "paths" and headings else enough(asked, pattern.match, least)
        sure = {"paths": _SURELY, "names": _EXTENSION}.get(form)
        if sure and not (form == "names" and "/" in headings):
            named = sum(sure.match(match.string) is not None for match in found)
            found = found if named >= _NAMED * len(asked) else []
        if found:
            return form
    return ""


def entries(lines: Sequence[str], form: str) -> Iterator[Entry]:
    """The entries in order; none without a form."""
    if not form:
        return
    heading = ""
    around: list[str] = []  # the open folders of a tree
    found = [_FORMS[form].match(line) for line in lines]
    depths = [(len(entry["lead"]) + 3) // 4 if entry and form == "tree" else 0 for entry in found]
    for line, entry, depth, deeper in zip(lines, found, depths, [*depths[1:], 0], strict=True):
        if entry is None:
            folder = _FOLDER.match(line)
            heading = folder[1] if folder else line.strip() if form == "tree" else heading
            continue
        told = entry.groupdict()
        name = entry["name"].rstrip("/\\")
        is_folder = (
            (told.get("mode") or "").startswith(("d", "<DIR>"))
            or name != entry["name"]
            or deeper > depth
        )
        above, sign, last = name.replace("\\", "/").rpartition("/")
        if form == "tree":
            above = "/".join(around[:depth])
            around[depth:] = [name]
            last = name
        within = "/".join(filter(None, (heading, above))) or sign
        yield Entry(within, last or entry["name"], is_folder, told.get("size") or "")
