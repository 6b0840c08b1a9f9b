"""How the lines of a log begin: which columns are time, process, level and component, and where the words start.

Nothing is known of any system. A column belongs to the head when it is of one class in nearly every line; the
head ends after its last telling column (a time, a level, a component, a mark), for numbers and single words
alone might be the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import NamedTuple

from holdfast.text.states import states

from .levels import is_level

_MOST_COLUMNS = 12
_SAMPLE = 120  # lines that are looked at
_LONGEST_HEAD = 600  # characters
_SHARE = 0.9  # of the lines that must agree on a column
_RECORDS = 0.3  # of the lines that begin with a time or a level make the others continue them
_FEW = 12  # distinct words that a column may have and still be a label
_NAMES = 0.3  # of the lines: with more distinct names a column does not name components

# A bracketed field may hold spaces, a bar is a field. Possessive: a line is walked once, whatever it holds.
_FIELD = r"((?>\[[^\]\n]{0,160}+\][^\s|]*+|\||[^\s|]++))"
_GAP = r"\s*+"
_FIELDS = re.compile(_GAP + _FIELD)

_NAMES_OF_DAYS = """
    jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun
    january february march april june july august september october november december
    """
_CALENDAR = frozenset(_NAMES_OF_DAYS.split())
_TIME_OF_DAY = re.compile(r"\d:\d\d")
_CLOCK = re.compile(
    r"(?<![\d.:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])"
    r"|(?<![\d./-])\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?![\d])(?!\1\d)"
    r"|(?<![\w.])\d{8}[-T_]\d"
    r"|1\d{9}(?:\.?\d{3,9})?\W{0,2}$"  # seconds since 1970
    r"|(?<=\[) {0,8}\d{1,9}\.\d{3,9}\]$"  # seconds since the start
)
_LEAD = re.compile(r"(?:[a-z_]{1,12}=)?\W{0,2}")
_REPLY = re.compile(r"[1-5]\d\d")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*+(?:(?:[.$]|::)[\w$-]++)++")

_DAY_AND_YEAR = 3  # columns from the name of a month to the clock
_TELLING = frozenset({"time", "stamp", "level", "tag", "mark"})


class Head(NamedTuple):
    """What a line begins with, and the message after it."""

    time: str = ""
    level: str = ""
    tag: str = ""
    message: str = ""


class Layout:
    """The classes of the columns of the head, in order; none where the lines begin with their message."""

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = tuple(columns)
        self._whole = re.compile(_GAP + _GAP.join([_FIELD] * len(columns)) + _GAP) if columns else None
        self.time_column = self.columns.index("time") if "time" in self.columns else -1

    @classmethod
    def of(cls, lines: Sequence[str]) -> Layout:
        """The head that nearly all records share; lines that continue one are not asked where that can be told."""
        asked = [line for line in lines if line and not line[0].isspace()]
        step = max(1, len(asked) // _SAMPLE)
        rows = _records([_FIELDS.findall(line[:_LONGEST_HEAD])[:_MOST_COLUMNS] for line in asked[::step]])
        columns = list(takewhile(bool, (_class_of(column, len(rows)) for column in _columns(rows))))
        while columns and (columns[-1] not in _TELLING or _takes_all(columns, rows)):
            columns.pop()
        return cls(_with_one_time(columns, rows))

    def split(self, line: str) -> Head | None:
        """The head and the message of one line; None where the line continues another."""
        if self._whole is None:
            return Head(message=line)
        found = self._whole.match(line)
        if found is not None:
            fields = found.groups()
            if all(map(_conforms, fields, self.columns)):
                return self._head(fields, line[found.end() :])
        return self._split_in_part(line)

    def level(self, line: str) -> str:
        """The level of one line, or nothing."""
        head = self.split(line)
        return head.level if head else ""

    def _split_in_part(self, line: str) -> Head | None:
        """A line whose head is shorter than most: it ends before the first field that does not belong there."""
        fields: list[str] = []
        end = 0
        for name in self.columns:
            field = _FIELDS.match(line, end)
            if field is None or not _conforms(field[1], name):
                break
            fields.append(field[1])
            end = field.end()
        if len(fields) <= self.time_column:
            return None
        return self._head(fields, line[end:].lstrip())

    def _head(self, fields: Sequence[str], message: str) -> Head:
        time = level = tag = ""
        labelled = False
        for field, name in zip(fields, self.columns, strict=False):
            if name == "time":
                time = f"{time} {field}" if time else field
            elif name == "level":
                level = field
            elif name in {"tag", "label"}:
                tag = f"{tag} {field}" if tag and labelled else field
                labelled = name == "label"
        return Head(time, level, tag, message)


def _takes_all(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether hardly a line says anything behind these columns, so that the last of them is what it says."""
    return columns[-1] != "time" and sum(len(row) > len(columns) for row in rows) <= (1 - _SHARE) * len(rows)


def _records(rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows that begin as most do: what a stack trace or a wrapped line begins with is no column."""
    rows = [row for row in rows if row]
    classes = Counter(_kind_of(row[0]) for row in rows)
    for name in ("time", "level"):
        if classes[name] >= _RECORDS * len(rows):
            return [row for row in rows if _kind_of(row[0]) == name]
    return rows


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    for at in range(_MOST_COLUMNS):
        column = [row[at] for row in rows if len(row) > at]
        if not rows or len(column) < _SHARE * len(rows):
            return
        yield column


def _class_of(column: Sequence[str], rows: int) -> str:
    """The class that nearly every line has in this column, or nothing."""
    fields = Counter(column)
    classes: dict[str, int] = {}
    for field, count in fields.items():
        kind = _kind_of(field)
        classes[kind] = classes.get(kind, 0) + count
    name, count = max(classes.items(), key=itemgetter(1))
    if name == "number" and count >= _SHARE * rows:
        if _runs_like_a_clock(column):
            return "time"
        return "label" if all(map(_REPLY.fullmatch, fields)) else "number"
    if name == "name":
        name = "tag" if len(fields) <= max(_FEW, _NAMES * rows) else "word"
    if name not in {"word", "path"} and count >= _SHARE * rows:
        return name
    if len(column) - max(0, len(fields) - _FEW) >= _SHARE * rows:  # else the commonest cannot be so many
        common = sorted(fields.values(), reverse=True)[:_FEW]
        if common[0] >= _SHARE * rows:
            return "label" if len(fields) > 1 and any(states((field,)) for field in fields) else "same"
        if sum(common) >= _SHARE * rows:
            return "label"
    return "id" if sum(classes.get(one, 0) for one in ("number", "id", "tag")) >= _SHARE * rows else ""


def _with_one_time(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The columns with the day between month and clock as time, and with one time where there are several.

    The one with a time of day is kept: people read it; the others are stamps.
    """
    named = list(columns)
    times = [at for at, name in enumerate(named) if name == "time"]
    for one, other in pairwise(times):
        if other - one <= _DAY_AND_YEAR and all(name in {"number", "same"} for name in named[one + 1 : other]):
            named[one:other] = ["time"] * (other - one)
    starts = [at for at, name in enumerate(named) if name == "time" and (at == 0 or named[at - 1] != "time")]
    runs = [
        range(at, next((end for end in range(at, len(named)) if named[end] != "time"), len(named)))
        for at in starts
    ]
    if len(runs) > 1:
        first = rows[0]
        kept = next(
            (run for run in runs if any(_TIME_OF_DAY.search(first[at]) for at in run if at < len(first))), runs[0]
        )
        named = ["stamp" if name == "time" and at not in kept else name for at, name in enumerate(named)]
    return named


@lru_cache(maxsize=1 << 12)
def _kind_of(field: str) -> str:
    if field.isalpha():  # most fields of what is no log are words
        return "time" if _is_calendar(field) else "level" if is_level(field) else "word"
    if _is_clock(field) or _is_calendar(field):
        return "time"
    if is_level(field):
        return "level"
    if _is_mark(field):
        return "mark"
    if _is_tag(field):
        return "name" if _DOTTED.fullmatch(field[:200]) else "tag"
    if field.rstrip(",").isdecimal():
        return "number"
    if field[0] in "/\\\"'" or "://" in field:
        return "path"
    return "id" if any(map(str.isdigit, field)) else "word"


@lru_cache(maxsize=1 << 12)
def _conforms(field: str, name: str) -> bool:
    """Whether one field can stand in a column of that class; asked of lines and of their shapes alike."""
    if name in {"time", "stamp"}:
        return any(map(str.isdigit, field)) or _is_calendar(field)
    if name == "mark":
        return _is_mark(field)
    if name in {"level", "tag"}:
        return is_level(field) or _is_tag(field)
    return True


def _is_clock(field: str) -> bool:
    """Whether a field begins with a date or a time; in brackets either may stand anywhere."""
    if field[0] == "[":
        return _CLOCK.search(field) is not None
    lead = _LEAD.match(field)
    return _CLOCK.match(field, lead.end() if lead else 0) is not None


def _is_calendar(field: str) -> bool:
    return field.strip(",[(").lower() in _CALENDAR


def _is_mark(field: str) -> bool:
    return not any(map(str.isalnum, field))


def _is_tag(field: str) -> bool:
    if field.endswith(":"):
        return field[0] != '"'
    if field.endswith("]") and "[" not in field:
        return ":" in field
    if field[0] == "[":
        return field.endswith(("]", "],"))
    return _DOTTED.fullmatch(field[:200]) is not None


def _runs_like_a_clock(column: Sequence[str]) -> bool:
    """Whether bare numbers of one length, six digits or more, nearly always grow: a date or a time of day."""
    if len({len(field) for field in column}) != 1 or not 6 <= len(column[0]) <= 20:
        return False
    if not all(map(str.isdecimal, column)):
        return False
    growing = sum(one <= other for one, other in pairwise(column))  # of one length: as numbers, so as texts
    return growing >= _SHARE * (len(column) - 1)
