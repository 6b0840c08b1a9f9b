"""A whole JSON text in its lossless form: arrays of records as tables, the rest as minified JSON.

A text that is one array of records becomes one table. In any other, the JSON comes first, with a short string
where each table belongs, and each table follows under the path of its place::

    {"total":2,"orders":"2 records below"}
    orders: 2 records, a line each: id status
    17 paid
    18 open
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from . import read
from .columns import Record
from .tables import HEADER, Noun, Path, Table, path_of, tables
from .values import DECODER, Value, dump
from .write import ROW_END


def written(documents: list[Value], *, keep: float) -> str:
    """The documents in their lossless form; constants of up to ``keep`` characters stay in the rows."""
    rest, found = tables(documents)
    texts = [table.text(keep=keep) for table in found]
    if not found:
        return ROW_END.join(map(dump, documents))
    return texts[0] if not found[0].path else ROW_END.join((dump(rest), *texts))


def expanded(text: str) -> str:
    """The JSON text of which ``written`` made this one; raises ValueError if it made nothing of the kind."""
    header = HEADER.match(text)
    if header and header.group("path") is None:
        value, noun, end = _read_table(text, header)
        if end != len(text):
            raise ValueError("something stands behind the table")
        return ROW_END.join(map(dump, cast("list[Value]", value))) if noun == "JSON lines" else dump(value)
    value, at = cast("tuple[Value, int]", DECODER.raw_decode(text))
    for path, child, end in _below(text, at):
        value = _placed(value, path, child)
        at = end
    if at != len(text):
        raise ValueError("something stands behind the tables")
    return dump(value)


def _below(text: str, at: int) -> Iterator[tuple[Path, Value, int]]:
    while at < len(text):
        header = HEADER.match(text, at + len(ROW_END))
        if header is None:
            raise ValueError("no table follows")
        value, _, at = _read_table(text, header)
        yield path_of(header.group("path") or ""), value, at


def _read_table(text: str, header: re.Match[str]) -> tuple[Value, str, int]:
    end = text.find(ROW_END, header.end())
    if end < 0:
        raise ValueError("a header without rows")
    found, at = read.rows(text[header.end() : end], text, end + 1, int(header.group("count")))
    noun = cast("Noun", header.group("noun"))
    records = cast("list[Record]", found)
    return Table((), noun, records).value(), noun, at


def _placed(value: Value, path: Path, child: Value) -> Value:
    """The value with the child where the path leads."""
    if not path:
        return child
    holder = value
    for part in path[:-1]:
        holder = cast("dict[str | int, Value]", holder)[part]
    cast("dict[str | int, Value]", holder)[path[-1]] = child
    return value
