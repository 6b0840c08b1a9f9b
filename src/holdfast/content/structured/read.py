"""Rows back to records: the header of ``write`` is read into readers, and each reads the cells of its column."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, cast

from .cells import EDGES, value_of
from .columns import Record, from_entries
from .values import DECODER, KEY, MISSING, Cell, Value
from .write import NAME, ROW_END

_JSON_STARTS = ('"', "[", "{")
_SEPARATOR = re.compile(rf"~\d+~|[{re.escape(''.join(sorted(EDGES)))}]*")
_TAG = re.compile(r"[a-z]{1,2}(?= )")
_NO_RECORD = re.compile(r"null|-|(?=\{)")
_NO_LIST = re.compile(r"null|-|\[\]")
_NO_ENTRIES = re.compile(r"null|-|\{\}")


_EMPTY: dict[str, list[Value] | dict[str, Value]] = {"[]": [], "{}": {}}


class At(NamedTuple):
    """What was read, and where the rest begins."""

    value: Cell
    end: int


def _any_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the longest of the texts that stands somewhere."""
    return re.compile("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)))


@dataclass(slots=True)
class LeafReader:
    """Reads scalars, and JSON where it stands."""

    text: bool = False
    stops: re.Pattern[str] = field(default=re.compile(ROW_END))

    def bind(self, follow: tuple[str, ...]) -> None:
        """Learns what ends a cell."""
        self.stops = _any_of(follow)

    def read(self, source: str, at: int) -> At:
        """The cell that starts here."""
        if source.startswith(_JSON_STARTS, at):
            return At(*DECODER.raw_decode(source, at))
        stop = self.stops.search(source, at)
        end = stop.start() if stop else len(source)
        return At(value_of(source[at:end], text=self.text), end)


@dataclass(slots=True)
class FixedReader:
    """A column that is the same in every row."""

    value: Value


@dataclass(slots=True)
class GroupReader:
    """Reads records of one shape; ``ends`` are what stands behind each column but the last."""

    columns: list[tuple[str, Reader | FixedReader]] = field(
        default_factory=list["tuple[str, Reader | FixedReader]"]
    )
    ends: list[str] = field(default_factory=list[str])

    def bind(self, follow: tuple[str, ...]) -> None:
        """Learns what ends the last cell."""
        readers = [reader for _, reader in self.columns if not isinstance(reader, FixedReader)]
        for place, reader in enumerate(readers):
            reader.bind(follow if place + 1 == len(readers) else (self.ends[place],))

    def read(self, source: str, at: int) -> At:
        """The record that starts here."""
        record: dict[str, Value] = {}
        place = 0
        for name, reader in self.columns:
            if isinstance(reader, FixedReader):
                record[name] = reader.value
                continue
            if place:
                at += len(self.ends[place - 1])
            value, at = reader.read(source, at)
            place += 1
            if value is not MISSING:
                record[name] = value
        return At(record, at)


@dataclass(slots=True)
class RecordsReader:
    """Reads records of several shapes, each behind the tag of its shape, or of one that may be missing."""

    groups: dict[str, GroupReader]
    other: LeafReader = field(default_factory=LeafReader)

    def bind(self, follow: tuple[str, ...]) -> None:
        """Learns what ends a record."""
        self.other.bind(follow)
        for group in self.groups.values():
            group.bind(follow)

    def read(self, source: str, at: int) -> At:
        """The record that starts here, or what stands instead of one."""
        if "" in self.groups:
            return self._optional(source, at)
        tag = _TAG.match(source, at)
        group = self.groups.get(tag.group()) if tag else None
        return group.read(source, at + len(tag.group()) + 1) if group and tag else self.other.read(source, at)

    def _optional(self, source: str, at: int) -> At:
        if _NO_RECORD.match(source, at):
            value, end = self.other.read(source, at)
            if not isinstance(value, str) and (end == len(source) or self.other.stops.match(source, end)):
                return At(value, end)
        return self.groups[""].read(source, at)


@dataclass(slots=True)
class ManyReader:
    """Reads lists: their items, and ``between`` between two."""

    item: Reader
    between: str
    stops: re.Pattern[str] = field(default=re.compile(ROW_END))
    breaks: re.Pattern[str] = field(default=re.compile(ROW_END))

    def is_keyed(self) -> bool:
        """Whether the lists were objects, and each entry has its key in front."""
        return isinstance(self.item, GroupReader) and self.item.columns[0][0] == KEY

    def bind(self, follow: tuple[str, ...]) -> None:
        """Learns what ends a list."""
        self.stops, self.breaks = _any_of(follow), _any_of((self.between, *follow))
        self.item.bind((self.between, *follow))

    def read(self, source: str, at: int) -> At:
        """The list that starts here, or what stands instead of one."""
        none = (_NO_ENTRIES if self.is_keyed() else _NO_LIST).match(source, at)
        if none and (none.end() == len(source) or self.stops.match(source, none.end())):
            word = none.group()
            return At(value_of(word) if word not in _EMPTY else _EMPTY[word].copy(), none.end())
        items: list[Value] = []
        while True:
            value, at = self.item.read(source, at)
            items.append(cast("Value", value))
            found = self.breaks.match(source, at)
            if found is None or found.group() != self.between:
                return At(from_entries(cast("list[Record]", items)) if self.is_keyed() else items, at)
            at = found.end()


Reader: TypeAlias = LeafReader | GroupReader | RecordsReader | ManyReader


@dataclass(slots=True)
class _Header:
    """Reads a header from left to right."""

    source: str
    at: int = 0

    def next(self) -> str:
        return self.source[self.at : self.at + 1]

    def take(self, text: str) -> None:
        if not self.source.startswith(text, self.at):
            raise ValueError(f"{text!r} expected at {self.at} of the header")
        self.at += len(text)

    def json(self) -> Value:
        value, self.at = DECODER.raw_decode(self.source, self.at)
        return cast("Value", value)

    def separator(self) -> str:
        found = _SEPARATOR.match(self.source, self.at)
        self.at = found.end() if found else self.at
        return found.group() if found else ""

    def name(self) -> str:
        if self.next() == '"':
            return str(self.json())
        found = NAME.match(self.source, self.at)
        if found is None:
            raise ValueError(f"a name expected at {self.at} of the header")
        self.at = found.end()
        return found.group()

    def body(self, close: str) -> tuple[GroupReader, str]:
        """Columns up to the closing mark, and the separator in front of it."""
        group, between = GroupReader(), ""
        while self.next() != close:
            if self.next() == "(":
                group.columns.append(self.fixed())
                between = self.separator()
            else:
                name = self.name()
                group.columns.append((name, self.node()))
                between = self.separator()
                group.ends.append(between)
        self.take(close)
        return group, between

    def fixed(self) -> tuple[str, FixedReader]:
        self.take("(")
        name = self.name()
        self.take("=")
        value = self.json()
        self.take(")")
        return name, FixedReader(value)

    def node(self) -> Reader:
        """What stands behind a column's name."""
        mark = self.next()
        if mark == "[":
            return self.many()
        if mark in {"{", "?", "<"} and mark:
            return self.records()
        return self.leaf()

    def leaf(self) -> LeafReader:
        text = self.source.startswith(":text", self.at)
        self.at += len(":text") if text else 0
        return LeafReader(text=text)

    def many(self) -> ManyReader:
        self.take("[")
        mark = self.next()
        item: Reader
        if mark in {"?", "<"}:
            item, between = self.records(), self.separator()
            self.take("]")
        elif mark == ":" or mark in EDGES:
            item, between = self.leaf(), self.separator()
            self.take("]")
        else:
            item, between = self.body("]")
        return ManyReader(item, between)

    def records(self) -> GroupReader | RecordsReader:
        mark = self.next()
        if mark == "{":
            self.take("{")
            return self.body("}")[0]
        if mark == "?":
            self.take("?{")
            return RecordsReader({"": self.body("}")[0]})
        self.take("<")
        groups: dict[str, GroupReader] = {}
        while self.next() != ">":
            tag, _, _ = self.source[self.at : self.at + 3].partition("{")
            self.take(f"{tag}{{")
            groups[tag] = self.body("}")[0]
            self.separator()
        self.take(">")
        return RecordsReader(groups)


def rows(header: str, source: str, at: int, count: int) -> tuple[list[Value], int]:
    """So many records, one a line, from here on; the header says what their cells are. Raises ValueError."""
    reading = _Header(header)
    reader = reading.records() if reading.next() in {"?", "<"} else reading.body("")[0]
    reader.bind((ROW_END,))
    found: list[Value] = []
    for place in range(count):
        if place:
            if not source.startswith(ROW_END, at):
                raise ValueError(f"row {place} ends too late")
            at += len(ROW_END)
        value, at = reader.read(source, at)
        found.append(cast("Value", value))
    return found, at
