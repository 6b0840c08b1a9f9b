"""One log in the file of a store: its lines are a table, and their words stand in the file's full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress

from holdfast.kernel.errors import StoreError
from holdfast.stores.logs import Line
from holdfast.stores.utf8 import to_bytes, to_text

from . import words
from .file import DatabaseFile, code_of
from .seal import sealed, unsealed

SPAN = 1 << 32
"""Line p of log n has the number n * SPAN + p, in the table and in the index alike."""

_LOST = 4_096  # lines at the end that a damaged page can take: no page has more bytes
_GAP = 4  # lines that are read beside those that are wanted, for one question less

_LOG = "SELECT id, coalesce(CAST(length AS INTEGER), -1), name FROM logs{} WHERE name = ?"
_NEW_LOG = "INSERT INTO logs (name, length) VALUES (?, 0) RETURNING id, length"
_GROW = "UPDATE logs SET length = ? WHERE id = ?"
_KNOWN = "SELECT number FROM lines WHERE log = ? AND id = ?"
_KEEP = "INSERT INTO lines (number, log, id, time, body) VALUES (?, ?, ?, ?, ?)"
_LAST = "SELECT max(number) FROM lines WHERE number >= ? AND number < ?"
_RANGE = (  # types as they were written, whatever the disk made of them: no fault of reading hides the others
    "SELECT number, CAST(id AS BLOB), CAST(time AS REAL), CAST(body AS BLOB) "
    "FROM lines WHERE number >= ? AND number <= ?"
)
_BETWEEN = "SELECT number FROM lines WHERE log = ? AND time >= ? AND time <= ? ORDER BY time, number LIMIT ?"

Row = tuple[int, bytes | None, float, object]


class SqliteLog:
    """A log of a store's file; it lives as long as the file is open, or opens it."""

    def __init__(self, file: DatabaseFile, name: str) -> None:
        self._file = file
        self._name = to_bytes(name)

    def length(self) -> int:
        """How many lines there are."""
        with self._file.reading() as connection:
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
                    waiting = self._keep(connection, log * SPAN + end, line) or waiting
                    end += 1
            if end > length:
                connection.execute(_GROW, (end, log))
            if waiting >= words.MOST_WAITING:
                words.index(connection)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """Those of the positions that there are, in order, without those that the disk damaged."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            rows = list(_rows(connection, log, positions))
        found: dict[int, Line] = {}
        for number, name, time, value in rows:
            body = unsealed(value, self._name, number, name, time)
            with suppress(StoreError):  # it is no text any more
                if body is not None:
                    found[number % SPAN] = Line(to_text("", body), to_text("", name or b""), time)
        return found

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
        for index in ("", " NOT INDEXED"):  # the name stands in the index and in the table
            row = connection.execute(_LOG.format(index), (self._name,)).fetchone()
            if row is not None:
                log, length, name = row
                (last,) = connection.execute(_LAST, (log * SPAN, (log + 1) * SPAN)).fetchone()
                seen = 0 if last is None else last % SPAN + 1
                if name != self._name or not 0 <= length - seen <= _LOST:
                    shown = to_text("", self._name)
                    raise StoreError(f"what the file says of log {shown!r} is damaged; restore it from a copy")
                return log, length
        return 0, 0

    def _keep(self, connection: sqlite3.Connection, number: int, line: Line) -> int:
        """Keep the line; of how many lines the words wait now, 0 if it has none."""
        name, time = to_bytes(line.id) if line.id else None, float(line.time)
        body = sealed(to_bytes(line.body), self._name, number, name, time)
        connection.execute(_KEEP, (number, number // SPAN, name, time, body))
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
        for row in _range(connection, log * SPAN + first, log * SPAN + last):
            if row[0] % SPAN in wanted:
                yield row


def _range(connection: sqlite3.Connection, first: int, last: int) -> list[Row]:
    """The lines with these numbers, without those on a damaged page."""
    try:
        return connection.execute(_RANGE, (first, last)).fetchall()
    except sqlite3.DatabaseError as fault:
        if code_of(fault) != sqlite3.SQLITE_CORRUPT:
            raise
    if first == last:
        return []
    middle = (first + last) // 2
    return [*_range(connection, first, middle), *_range(connection, middle + 1, last)]


def _runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last position of each run without a large gap."""
    start = 0
    for at in range(1, len(positions) + 1):
        if at == len(positions) or positions[at] - positions[at - 1] > _GAP:
            yield positions[start], positions[at - 1]
            start = at
