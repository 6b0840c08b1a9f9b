"""Hits of a search, as grep, ripgrep, git grep and ack print them: a file, often a line number, and the line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.content.shares import enough

_SAMPLE = 400  # lines that tell how the hits are written
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


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of the output: ``rest`` is all that follows the path, the sign between them included.

    A line that is no hit has no path, a hit of an untold file a blank one; ``around`` is a line near a hit.
    """

    path: str
    rest: str
    around: bool = False

    @property
    def is_hit(self) -> bool:
        """Whether the line was searched for."""
        return bool(self.path) and not self.around


def form_of(lines: Sequence[str]) -> str:
    """``numbered``, ``plain``, ``headed`` or ``bare``, as nearly all lines are; nothing for other texts."""
    asked = [line[: _LONGEST_PATH * 2] for line in lines[:_SAMPLE] if line.strip() and line != _SEPARATOR]
    if len(asked) < _FEWEST:
        return ""
    least = max(_FEWEST, _SHARE * len(asked))
    if enough(asked, _path_and_number, least):
        return "numbered"
    bare = [int(_number(line)) for line in enough(asked, _number, least)]
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


def hits(lines: Sequence[str], form: str) -> list[Hit]:
    """Every line as a hit, a line around one, or neither."""
    found: list[Hit] = []
    heading = ""
    for line in lines:
        if form == "numbered":
            found.append(_numbered(line, found[-1].path if found else ""))
        elif form == "plain":
            match = _PLAIN.match(line)
            found.append(Hit(match[1], line[len(match[1]) :]) if match else Hit("", line))
        else:
            bare = _BARE.match(line)
            if bare:
                found.append(Hit(heading or " ", line, around=bare[2] == "-"))
            else:
                heading = line if form == "headed" and line.strip() and line != _SEPARATOR else heading
                found.append(Hit("", line))
    return found


def _numbered(line: str, previous: str) -> Hit:
    """A path may hold ``-12-`` itself: the path of the line above is tried first."""
    if previous and line.startswith(previous):
        rest = line[len(previous) :]
        sign = re.match(r"([:-])\d+\1", rest)
        if sign:
            return Hit(previous, rest, around=sign[1] == "-")
    found = _path_and_number(line[: _LONGEST_PATH * 2])
    if found is None:
        return Hit("", line)
    return Hit(found[1], line[len(found[1]) :], around=found[2] == "-")


def _is_path(text: str) -> bool:
    """Whether the text before a number can be a path, and is not the beginning of a date or a time."""
    if _DATE.search(text) or '"' in text or not any(map(str.isalpha, text)):
        return False
    return "/" in text or "\\" in text or " " not in text or "." in text
