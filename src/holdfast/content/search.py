"""Hits of a search, as grep, ripgrep, git grep and ack print them: each file once, its hits below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.selection.pieces import Piece, Reading, clauses, passages

from .code import numbered
from .lossy import Read
from .shares import enough, sampled

_SHARE = 0.7  # of the lines must be hits
_FEWEST = 3
_LONGEST_PATH = 300
_LONGEST_NUMBER = 9  # digits

_PATH = rf"[^\s:\x00][^:\x00]{{0,{_LONGEST_PATH}}}?"
_NUMBERED = re.compile(rf"({_PATH})([:-])(\d+)\2")
_PLAIN = re.compile(r"((?:[^\s:]{0,200}/)?[^\s:/]{1,100}\.\w{1,8}|[^\s:]{0,200}/[^\s:]{1,100}):")
_BARE = re.compile(r"(\d+)([:-])(?!\d\d[-:]\d\d)")
_HEADING = re.compile(r"(?:[^\s:]{1,200}/)?[^\s:/]{1,100}$")
_DATE = re.compile(r"(?:^|[\sT\[-])(?:\d{1,2}|\d{4})$")
_SEPARATOR = "--"
_NUMBER = re.compile(r"[:-]?\d+[:-](?:\d+:)?")
_LEAST_SAVING = 0.05
_HEADING_ONCE = "[search hits, each path once: N:text is a hit, -N-text a line near one]"
_BELOW, _OTHER = "> ", "= "


class Search(Read):
    """Hits of a search; the hits of a file stand under its path, written once with their number."""

    name = "search"

    def fit(self, text: str) -> float:
        """The share of the lines that are a path or a line number and what was found there."""
        lines = _lines(sampled(text))
        form = _form(lines)
        found = _hits(lines, form) if form else []
        beside = {_SEPARATOR, *(hit.path for hit in found)}  # what stands between the hits, and headings
        asked = [hit for hit in found if hit.rest.strip() and hit.rest not in beside]
        return sum(bool(hit.path) for hit in asked) / len(asked) if asked else 0.0

    def compact(self, text: str) -> str | None:
        """Each path once, its hits below it; None where that saves nothing."""
        lines = text.split("\n")
        form = _form(lines)
        if form not in {"numbered", "plain"}:
            return None
        short = _compacted(_hits(lines, form))
        return short if len(short) <= (1 - _LEAST_SAVING) * len(text) and _expanded(short) == text else None

    def expand(self, compacted: str) -> str:
        """The lines as they were."""
        return _expanded(compacted)

    def read(self, text: str) -> Reading:
        """A piece a path, and its hits under it."""
        lines = _lines(text)
        files: dict[str, list[str]] = {}
        for hit in _hits(lines, _form(lines)):
            if hit.path and (told := _told(hit)):
                files.setdefault(hit.path, []).append(told)
        pieces: list[Piece] = []
        at = 0
        for path, hits in files.items():
            under = len(pieces)
            pieces.append(Piece(f"{path} ({len(hits):,} hits)" if len(hits) > 1 else path, at, 0))
            for number, told in enumerate(hits):
                *first, last = clauses(told)
                pieces += [Piece(part, at + number, 0, under=under) for part in first]
                pieces.append(Piece(last, at + number, under=under))
            at += len(hits)
        return Reading(pieces, at, "hit") if pieces else passages(text)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _told(hit: _Hit) -> str:
    """The line as it stands below its path, without the indentation that it has in its file."""
    rest = hit.rest.removeprefix(":")
    number = _NUMBER.match(rest)
    start = number.end() if number else 0
    return f"  {rest[:start]}{rest[start:].strip()}" if rest[start:].strip() else ""


@dataclass(frozen=True, slots=True)
class _Hit:
    """One line of the output: ``rest`` is all that follows the path, the sign between them included.

    A line that is no hit has no path, a hit of an untold file a blank one.
    """

    path: str
    rest: str


def _form(lines: Sequence[str]) -> str:
    """``numbered``, ``plain``, ``headed`` or ``bare``, as nearly all lines are; nothing for other texts."""
    asked = [line[: _LONGEST_PATH * 2] for line in lines if line.strip() and line != _SEPARATOR]
    if len(asked) < _FEWEST:
        return ""
    least = max(_FEWEST, _SHARE * len(asked))
    signs = {match[2] for line in enough(asked, _path_and_number, least) if (match := _path_and_number(line))}
    if ":" in signs:  # the lines around hits alone are none
        return "numbered"
    bare = [int(_number(line)) for line in enough(asked, _number, least)]
    if bare and numbered(lines):
        return ""  # a file, shown with its line numbers
    if bare:
        headings = sum(_HEADING.match(line) is not None and not _BARE.match(line) for line in asked)
        falls = sum(one >= other for one, other in pairwise(bare))
        return "headed" if headings and falls < headings else "bare" if falls == 0 else ""
    plain = enough(asked, _path, least)
    return "plain" if len(set(map(_path, plain))) < len(plain) else ""


def _path_and_number(line: str) -> re.Match[str] | None:
    found = _NUMBERED.match(line)
    return found if found and _is_path(found[1]) else None


def _number(line: str) -> str:
    """The number in front of a line, or nothing."""
    found = _BARE.match(line)
    return found[1] if found and len(found[1]) <= _LONGEST_NUMBER else ""


def _path(line: str) -> str:
    """The path in front of a line, or nothing."""
    found = _PLAIN.match(line)
    return found[1] if found else ""


def _hits(lines: Sequence[str], form: str) -> list[_Hit]:
    """Every line as a hit, a line around one, or neither."""
    found: list[_Hit] = []
    heading = ""
    for line in lines:
        if form == "numbered":
            found.append(_numbered(line, found[-1].path if found else ""))
        elif form == "plain":
            match = _PLAIN.match(line)
            found.append(_Hit(match[1], line[len(match[1]) :]) if match else _Hit("", line))
        else:
            bare = _BARE.match(line)
            if bare:
                found.append(_Hit(heading or " ", line))
            else:
                heading = line if form == "headed" and line.strip() and line != _SEPARATOR else heading
                found.append(_Hit("", line))
    return found


def _numbered(line: str, previous: str) -> _Hit:
    """A path may hold ``-12-`` itself: the path of the line above is tried first."""
    if previous and line.startswith(previous):
        rest = line[len(previous) :]
        sign = re.match(r"([:-])\d+\1", rest)
        if sign:
            return _Hit(previous, rest)
    found = _path_and_number(line[: _LONGEST_PATH * 2])
    if found is None:
        return _Hit("", line)
    return _Hit(found[1], line[len(found[1]) :])


def _is_path(text: str) -> bool:
    """Whether the text before a number can be a path, and is not the beginning of a date or a time."""
    if _DATE.search(text) or '"' in text or not any(map(str.isalpha, text)):
        return False
    return "/" in text or "\\" in text or " " not in text or "." in text


def _compacted(found: Sequence[_Hit]) -> str:
    """The hits below their paths; lines that are no hits keep their place."""
    lines = [_HEADING_ONCE]
    path = ""
    for hit in found:
        if not hit.path:
            lines.append(_OTHER + hit.rest)
            continue
        if hit.path != path:
            path = hit.path
            lines.append(_BELOW + path)
        digit = hit.rest[:1] == ":" and hit.rest[1:2].isdigit()
        lines.append(hit.rest[1:] if digit else hit.rest)
    return "\n".join(lines)


def _expanded(text: str) -> str:
    """The lines that ``_compacted`` was made of; any other text as it is."""
    heading, _, body = text.partition("\n")
    if heading != _HEADING_ONCE:
        return text
    lines: list[str] = []
    path = ""
    for line in body.split("\n"):
        if line.startswith(_BELOW):
            path = line[len(_BELOW) :]
        elif line.startswith(_OTHER):
            lines.append(line[len(_OTHER) :])
        elif line[:1].isdigit():
            lines.append(f"{path}:{line}")
        else:
            lines.append(path + line)
    return "\n".join(lines)
