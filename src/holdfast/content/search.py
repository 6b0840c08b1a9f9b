"""Search hits, as grep, ripgrep, git grep and ack print them: hits under their files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.selection.pieces import Reading

from .code import numbered
from .lossy import LossyKind, Once, by_lines, enough, rows, sampled, under

_SHARE = 0.7  # share of the lines that must be hits
_FEWEST = 3
_LONGEST_PATH = 300  # characters; bounds the search for the number of the line
_HEAD = 2 * _LONGEST_PATH  # characters of a line that are examined

_NUMBERED = re.compile(rf"([^\s:\x00][^:\x00]{{0,{_LONGEST_PATH}}}?)([:-])(\d+)\2")
_PLAIN = re.compile(r"((?:[^\s:]{0,200}/)?[^\s:/]{1,100}\.\w{1,8}|[^\s:]{0,200}/[^\s:]{1,100}):")
_BARE = re.compile(r"(\d{1,9})([:-])(?!\d\d[-:]\d\d)")
_HEADING = re.compile(r"(?!\d{1,9}[:-])(?:[^\s:]{1,200}/)?[^\s:/]{1,100}$")
_DATE = re.compile(r"(?:^|[\sT\[-])(?:\d{1,2}|\d{4})$")
_NUMBER = re.compile(r":?((?:-?\d+[:-](?:\d+:)?)?)(.*)", re.DOTALL)
_SEPARATOR = "--"
_ONCE = Once("[search hits, each path once: N:text is a hit, -N-text a line near one]", ":")
_Hit = tuple[str, str]
"""The path and the rest of the line with its separator; the path is empty if it is not a hit."""


class Search(LossyKind):
    """Search hits under their file, whose path is written once with their number."""

    name = "search"

    def fit(self, text: str) -> float:
        """The share of the lines that are a hit: a path or a line number, and the found text."""
        lines = rows(sampled(text))
        form = _form(lines)
        found = list(_hits(lines, form)) if form else []
        # separators between hits, and headings
        beside = {_SEPARATOR, *(path for path, _ in found)}
        asked = [path for path, rest in found if rest.strip() and rest not in beside]
        return sum(map(bool, asked)) / len(asked) if asked else 0.0

    def compact(self, text: str) -> str | None:
        """Each path once, its hits below it; None if that saves nothing."""
        lines = text.split("\n")
        form = _form(lines)
        return _ONCE.compacted(text, _hits(lines, form)) if form in {"numbered", "plain"} else None

    def read(self, text: str) -> Reading:
        """A piece for each path, and its hits under it."""
        lines = rows(text)
        files: dict[str, list[str]] = {}
        for path, rest in _hits(lines, _form(lines)):
            found = _NUMBER.match(rest)
            if path and found and found[2].strip():
                files.setdefault(path, []).append(f"{found[1]}{found[2].strip()}")
        told = [
            (f"{p} ({len(hits):,} hits)" if len(hits) > 1 else p, hits) for p, hits in files.items()
        ]
        return under(told, "hit") if told else by_lines(text)


def _form(lines: Sequence[str]) -> str:
    """``numbered``, ``plain``, ``headed`` or ``bare``, if nearly all lines are; else empty."""
    asked = [line[:_HEAD] for line in lines if line.strip() and line != _SEPARATOR]
    least = max(_FEWEST, _SHARE * len(asked))
    if any(match[2] == ":" for match in enough(asked, _path_and_number, least)):
        return "numbered"  # context lines without hits do not count
    bare = [int(match[1]) for match in enough(asked, _BARE.match, least)]
    if bare and numbered(lines):
        return ""  # a file with line numbers
    if bare:
        headings = sum(_HEADING.match(line) is not None for line in asked)
        falls = sum(one >= other for one, other in pairwise(bare))
        return "headed" if headings and falls < headings else "bare" if falls == 0 else ""
    plain = [match[1] for match in enough(asked, _PLAIN.match, least)]
    return "plain" if len(set(plain)) < len(plain) else ""


def _path_and_number(line: str) -> re.Match[str] | None:
    """The path and the number at the start of a line, unless that is a date or time."""
    found = _NUMBERED.match(line[:_HEAD])
    path = found[1] if found else ""
    if _DATE.search(path) or '"' in path or not any(map(str.isalpha, path)):
        return None
    return found if " " not in path or any(map(path.__contains__, "/\\.")) else None


def _hits(lines: Sequence[str], form: str) -> Iterator[_Hit]:
    """Each line with its path; a line with a number alone gets the path of the heading above it."""
    heading = " "
    for line in lines:
        if form == "numbered":
            found = _path_and_number(line)
            path = found[1] if found else ""
            yield path, line[len(path) :]
        elif form == "plain":
            match = _PLAIN.match(line)
            yield (match[1], line[len(match[1]) :]) if match else ("", line)
        elif _BARE.match(line):
            yield heading, line
        else:
            heading = line if form == "headed" and line.strip() and line != _SEPARATOR else heading
            yield "", line
