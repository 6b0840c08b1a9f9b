"""The tables in a JSON value: arrays of records, objects of records, JSON lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from .columns import NOTHING_STAYS, Record, entries, from_entries, infer_table
from .values import DECODER, KEY, VALUE, Value, dump, quote
from .write import ROW_END, render

Noun: TypeAlias = Literal["records", "JSON lines", "entries"]
Path: TypeAlias = tuple[str | int, ...]

_FEWEST = 3  # records that are worth a header of their own
_DEEPEST = 16  # levels of nesting above a table
_DEEPEST_INNER = 4  # levels of nesting in which a record's own lists are looked for
_WORTH, _WORTH_LOSSY = 0.9, 1.1  # of the JSON's length: a table longer than that is no gain
_WIDEST = 12  # records in the lists of one record: where there are more, the lists are what has to be cut
_MOST_LOOKED_AT = 300  # lists and objects of records: a text with more of them is no set of tables
_SAMPLE = 12  # records that show whether a table is a gain
_PART = re.compile(r'\[(\d+)\]|\.?([^\W\d][\w/@$-]*)|\.?("(?:[^"\\]|\\.)*")')
HEADER = re.compile(
    rf"(?:(?P<path>(?:{re.sub(r'[(](?!.:)', '(?:', _PART.pattern)})+): )?"
    r"(?P<count>\d+) (?P<noun>records|JSON lines|entries), a line each: "
)
"""What every table begins with, up to its columns."""


@dataclass(frozen=True, slots=True)
class Table:
    """Records that stand together: where, what they are called, and themselves."""

    path: Path
    noun: Noun
    records: list[Record]

    def text(self, *, keep: float) -> str:
        """Header and rows; constants of up to ``keep`` characters stay in them."""
        spec, rows = render(infer_table(self.records, keep=keep), (ROW_END,))
        return self.headed(spec, rows)

    def headed(self, spec: str, rows: list[str]) -> str:
        """The rows under a header that says where they belong, how many they are and what their columns are."""
        where = f"{path_text(self.path)}: " if self.path else ""
        columns = spec[1:-1] if spec.startswith("{") else spec
        return ROW_END.join((f"{where}{len(rows)} {self.noun}, a line each: {columns}", *rows))

    def value(self) -> Value:
        """What the document holds at the path."""
        if self.noun != "entries":
            return list[Value](self.records)
        return from_entries(self.records)


def path_text(path: Path) -> str:
    """The path as a reader writes it: ``data.items[0].rows``."""
    parts = [
        f"[{part}]" if isinstance(part, int) else f".{part if _is_plain(part) else quote(part)}" for part in path
    ]
    return "".join(parts).removeprefix(".")


def _is_plain(part: str) -> bool:
    found = _PART.fullmatch(part)
    return found is not None and found.group(2) == part


def path_of(text: str) -> Path:
    """The path that was written as this text."""
    parts: list[str | int] = []
    for index, plain, quoted in _PART.findall(text):
        parts.append(int(index) if index else plain or cast("str", DECODER.decode(quoted)))
    return tuple(parts)


def tables(documents: list[Value], *, lossy: bool = False) -> tuple[Value, list[Table]]:
    """The value with a short string in the place of each table, and the tables; no value is changed in place.

    Several documents are one table of JSON lines, or none. ``lossy``: rows and columns are to be left out. Then a
    table need not be shorter than the JSON, and where records hold long lists of records, these are the tables.
    """
    finder = _Finder(lossy)
    if len(documents) > 1:
        lines = finder.table((), "JSON lines", documents)
        return "", [lines] if lines else []
    return finder.without_tables(documents[0], ()), finder.found


class _Finder:
    """Looks for tables from the root downwards; what stands within one is part of it."""

    def __init__(self, lossy: bool) -> None:
        self.found: list[Table] = []
        self._lossy = lossy
        self._left = _MOST_LOOKED_AT

    def without_tables(self, value: Value, path: Path) -> Value:
        """The value with a few words in the place of each table, which joins the found ones."""
        if not isinstance(value, dict | list) or len(path) > _DEEPEST or self._left <= 0:
            return value
        table = self._map(path, value) if isinstance(value, dict) else self.table(path, "records", value)
        if table is not None:
            self.found.append(table)
            return f"{len(table.records)} {table.noun} below"
        if isinstance(value, dict):
            return {key: self.without_tables(child, (*path, key)) for key, child in value.items()}
        return [self.without_tables(child, (*path, place)) for place, child in enumerate(value)]

    def table(self, path: Path, noun: Noun, values: list[Value]) -> Table | None:
        """The values as a table, where they are records and that is a gain."""
        if len(values) < _FEWEST or not all(isinstance(value, dict) for value in values):
            return None
        self._left -= 1
        records = cast("list[Record]", values)
        if noun != "entries" and any(KEY in record for record in records):
            return None
        sample = Table(path, noun, records[:: -(-len(records) // _SAMPLE)])
        if self._lossy and sum(_inner(record, 0) for record in sample.records) > _WIDEST * len(sample.records):
            return None
        worth = (_WORTH_LOSSY if self._lossy else _WORTH) * len(dump(sample.value()))
        return Table(path, noun, records) if len(sample.text(keep=NOTHING_STAYS)) <= worth else None

    def _map(self, path: Path, value: Record) -> Table | None:
        """An object whose values are records that are alike, as a table with the keys in the first column."""
        if len(value) < _FEWEST or not all(isinstance(child, dict) for child in value.values()):
            return None
        found = entries(value)
        return self.table(path, "entries", list[Value](found)) if found and VALUE not in found[0] else None


def _inner(value: Value, depth: int) -> int:
    """How many records stand in the lists of this one."""
    if depth > _DEEPEST_INNER or not isinstance(value, dict):
        return 0
    lists = [child for child in value.values() if isinstance(child, list)]
    records = sum(isinstance(item, dict) for child in lists for item in child)
    return records + sum(_inner(child, depth + 1) for child in value.values())
