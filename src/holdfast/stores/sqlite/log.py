"""One log in the file of a store: its lines are a table, and their words stand in the file's full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress

from holdfast.kernel.errors import StoreError
from holdfast.stores.logs import Line
from holdfast.stores.utf8 import to_bytes, to_text

from . import words
from .file import DatabaseFile

SPAN = 1 << 32
"""Line p of log n has the number n * SPAN + p, in the table and in the index alike."""

_GAP = 4  # lines that are read beside those that are wanted, for one question less

_LOG = "SELECT id, length FROM logs WHERE name = ?"
_NEW_LOG = "INSERT INTO logs (name, length) VALUES (?, 0) RETURNING id, length"
_GROW = "UPDATE logs SET length = ? WHERE id = ?"
_KNOWN = "SELECT number FROM lines WHERE log = ? AND id = ?"
_KEEP = "INSERT INTO lines (number, log, id, time, body) VALUES (?, ?, ?, ?, ?)"
_RANGE = "SELECT number, id, time, body FROM lines WHERE number >= ? AND number < ?"
_BETWEEN = "SELECT number FROM lines WHERE log = ? AND time >= ? AND time <= ? ORDER BY time, number LIMIT ?"

Row = tuple[int, bytes | None, float, bytes]


class SqliteLog:
    """A log of a store's file; it lives as long as the file is open, or opens it."""

    def __init__(self, file: DatabaseFile, name: str) -> None:
        self._file = file
        self._name = to_bytes(name)

    def length(self) -> int:
        """How many lines there are."""
        with self._file.use() as connection:
            return self._found(connection)[1]

    def append(self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True) -> list[int]:
        """Keep all of them in one transaction, or none; the position of each."""
        with self._file.writing(flush=flush) as connection:
            log, length = self._found(connection)
            if at is not None and at != length:
                return []
            if not log:
                log, length = connection.execute(_NEW_LOG, (self._name,)).fetchone()
            places: list[int] = []
            end, waiting = length, 0
            for line in lines:
                known = _position(connection, log, line.id)
                places.append(end if known is None else known)
                if known is None:
                    waiting = _keep(connection, log, end, line) or waiting
                    end += 1
            if end > length:
                connection.execute(_GROW, (end, log))
            if waiting >= words.MOST_WAITING:
                words.index(connection)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """Those of the positions that there are, in order."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            rows = list(_rows(connection, log, positions))
        return {
            number % SPAN: Line(to_text(f"line {number % SPAN}", body), to_text("", name or b""), time)
            for number, name, time, body in rows
        }

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of those of the ids that there are."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            places = {name: _position(connection, log, name) for name in ids}
        return {name: place for name, place in places.items() if place is not None}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of lines of this span of time, the earliest first."""
        with self._file.reading() as connection:
            rows = connection.execute(_BETWEEN, (self._found(connection)[0], first, last, most)).fetchall()
        return [number % SPAN for (number,) in rows]

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, best first; a word that stands nearly everywhere is left out of a long log."""
        found = self._scores(terms, most, waiting=False)
        if found is None:
            with suppress(StoreError), self._file.writing(flush=False, waits=False) as connection:
                words.index(connection)
            found = self._scores(terms, most, waiting=True)
        return {number % SPAN: score for number, score in (found or {}).items()}

    def _scores(self, terms: Sequence[str], most: int, *, waiting: bool) -> dict[int, float] | None:
        """By number; None if words wait that are to be indexed first.

        Where they cannot be, in a read-only file or while somebody writes, ``waiting`` ones are looked through.
        """
        with self._file.reading() as connection:
            log, length = self._found(connection)
            span = log * SPAN, (log + 1) * SPAN
            behind = words.is_behind(connection, span)
            if behind and not waiting:
                return None
            found = words.best(connection, span, length, terms, most)
            return words.with_waiting(connection, span, terms, most, found) if behind else found

    def _found(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the log and its length; (0, 0) where nothing was kept yet."""
        row: tuple[int, int] | None = connection.execute(_LOG, (self._name,)).fetchone()
        return row or (0, 0)


def _keep(connection: sqlite3.Connection, log: int, position: int, line: Line) -> int:
    """Keep the line; of how many lines the words wait now, 0 if it has none."""
    number = log * SPAN + position
    name = to_bytes(line.id) if line.id else None
    connection.execute(_KEEP, (number, log, name, line.time, to_bytes(line.body)))
    return words.keep(connection, number, line.words) if line.words else 0


def _position(connection: sqlite3.Connection, log: int, name: str) -> int | None:
    if not name:
        return None
    row: tuple[int] | None = connection.execute(_KNOWN, (log, to_bytes(name))).fetchone()
    return None if row is None else row[0] % SPAN


def _rows(connection: sqlite3.Connection, log: int, positions: Sequence[int]) -> Iterator[Row]:
    """The lines at these positions: those that stand near each other in one go."""
    wanted = set(positions)
    for first, last in _runs(sorted(place for place in wanted if 0 <= place < SPAN)):
        for row in connection.execute(_RANGE, (log * SPAN + first, log * SPAN + last + 1)):
            if row[0] % SPAN in wanted:
                yield row


def _runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last position of each run without a large gap."""
    start = 0
    for at in range(1, len(positions) + 1):
        if at == len(positions) or positions[at] - positions[at - 1] > _GAP:
            yield positions[start], positions[at - 1]
            start = at
