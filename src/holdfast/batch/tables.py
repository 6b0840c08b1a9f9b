"""Conversations in Parquet: a column ``messages``, as JSON or as lists of objects."""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from holdfast.formats.payloads import is_list, is_object
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
            held: object = row[_COLUMN]
            if is_list(held):
                row[_COLUMN] = [
                    {name: value for name, value in message.items() if value is not None}
                    if is_object(message)
                    else message
                    for message in held
                ]
            yield row


def write(files: Sequence[Path], outputs: Iterable[str], target: Path) -> None:
    """Write the outputs into the files' rows; rows with an empty output are left out."""
    found = iter(outputs)
    writer: Any = None
    try:
        for table in _filled(files, found) if files else _plain(found):
            writer = writer or _parquet.ParquetWriter(target, table.schema)
            writer.write_table(table.cast(writer.schema))
        if writer is None:
            _parquet.write_table(_arrow.table({_COLUMN: _arrow.array([], "string")}), target)
    finally:
        if writer is not None:
            writer.close()


def _filled(files: Sequence[Path], outputs: Iterator[str]) -> Iterator[Any]:
    for file in files:
        for some in _batches(file):
            lines = list(islice(outputs, some.num_rows))
            table = _arrow.Table.from_batches([some]).filter(_arrow.array(map(bool, lines)))
            at = table.schema.get_field_index(_COLUMN)
            kind = table.schema.field(at).type
            values = [json.loads(line)[_COLUMN] for line in lines if line]
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
