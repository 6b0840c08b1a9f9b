"""Conversations in Parquet: a column ``messages``, as JSON or as lists of objects."""

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from holdfast.formats.payloads import compact, is_list, is_object
from holdfast.kernel.errors import InputError
from holdfast.kernel.registry import needed_by

with needed_by("a file of Parquet", "parquet"):
    # not plain imports: the package has no types for the checkers
    _arrow: Any = import_module("pyarrow")
    _parquet: Any = import_module("pyarrow.parquet")

_ROWS = 500  # rows in memory at once: conversations of 100 kB take 50 MB
_COLUMN = "messages"


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows as JSON values; fields without a value are left out."""
    for some in _batches(file):
        for row in some.to_pylist():
            row[_COLUMN] = _valued(row[_COLUMN])
            yield row


def _valued(held: object) -> object:
    """The value without fields that have none: a column has every field of any of its objects."""
    if is_object(held):
        return {name: _valued(value) for name, value in held.items() if value is not None}
    return list(map(_valued, held)) if is_list(held) else held


def write(files: Sequence[Path], outputs: Callable[[], Iterator[str]], target: Path) -> None:
    """Write the outputs into the files' rows; rows with an empty output are left out.

    Messages are written as JSON where they do not fit the type of their column, such as notes that
    are text beside contents that are lists. Where files have other columns too, so are whole rows.
    """
    for rows_of, as_json in ((files, False), (files, True), ((), True)):
        try:
            _write(rows_of, outputs(), target, as_json=as_json)
        except (_arrow.ArrowException, ValueError):  # the second is that of other columns
            if not rows_of:
                raise
        else:
            return


def _write(files: Sequence[Path], found: Iterator[str], target: Path, *, as_json: bool) -> None:
    writer: Any = None
    try:
        for table in _filled(files, found, as_json=as_json) if files else _plain(found):
            writer = writer or _parquet.ParquetWriter(target, table.schema)
            writer.write_table(table.cast(writer.schema))
        if writer is None:
            _parquet.write_table(_arrow.table({_COLUMN: _arrow.array([], "string")}), target)
    finally:
        if writer is not None:
            writer.close()


def _filled(files: Sequence[Path], outputs: Iterator[str], *, as_json: bool) -> Iterator[Any]:
    for file in files:
        for some in _batches(file):
            lines = list(islice(outputs, some.num_rows))
            table = _arrow.Table.from_batches([some]).filter(_arrow.array(map(bool, lines)))
            at = table.schema.get_field_index(_COLUMN)
            kind = _arrow.string() if as_json else table.schema.field(at).type
            values = [json.loads(line)[_COLUMN] for line in lines if line]
            if as_json:
                values = [each if isinstance(each, str) else compact(each) for each in values]
            yield table.set_column(at, _COLUMN, _arrow.array(values, kind))


def _plain(outputs: Iterator[str]) -> Iterator[Any]:
    while lines := list(islice(outputs, _ROWS)):
        yield _arrow.table({_COLUMN: _arrow.array([line for line in lines if line], "string")})


def _batches(file: Path) -> Iterator[Any]:
    try:
        opened = _parquet.ParquetFile(file)
    except (OSError, _arrow.ArrowException) as fault:
        raise InputError(
            "it cannot be read as Parquet", place=str(file), advice="check the file"
        ) from fault
    with opened:
        if _COLUMN not in opened.schema_arrow.names:
            known = ", ".join(opened.schema_arrow.names)
            raise InputError(
                f"it has no column {_COLUMN!r}", place=str(file), advice=f"there are {known}"
            )
        yield from opened.iter_batches(_ROWS)
