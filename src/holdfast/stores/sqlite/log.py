"""One log in the file of a store: its lines are a table, and their words stand in the file's full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from holdfast.stores.logs import Line
from holdfast.stores.utf8 import to_bytes, to_text

from .file import DatabaseFile

SPAN = 1 << 32
"""Line p of log n has the number n * SPAN + p, in the table and in the index alike."""

_GAP = 4  # lines that are read beside those that are wanted, for one question less
_MOST_TERMS = 200  # words of a question; one of 50,000 tokens asks for its first
_MOST_WEIGHED = 24  # words that a search weighs, the rarest: the others change nearly nothing
_MOST_HOLDERS = 10_000  # lines that one search weighs: some 6 ms, whatever the length of the log
_FINE = 10**10  # parts of a score that count: of equals, whatever the order of the words, the earlier line is first

_LOG = "SELECT id, length FROM logs WHERE name = ?"
_NEW_LOG = "INSERT INTO logs (name, length) VALUES (?, 0) RETURNING id, length"
_GROW = "UPDATE logs SET length = ? WHERE id = ?"
_KNOWN = "SELECT number FROM lines WHERE log = ? AND id = ?"
_KEEP = "INSERT INTO lines (number, log, id, time, body) VALUES (?, ?, ?, ?, ?)"
_INDEX = "INSERT INTO line_words (rowid, words) VALUES (?, ?)"
_RANGE = "SELECT number, id, time, body FROM lines WHERE number >= ? AND number < ?"
_BETWEEN = "SELECT number FROM lines WHERE log = ? AND time >= ? AND time <= ? ORDER BY time, number LIMIT ?"
_HOLDERS = (
    "SELECT count(*) FROM (SELECT 1 FROM line_words WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? LIMIT ?)"
)
_BEST = (  # not by FTS5's column rank: that is sorted in a statement made anew each time, and weighs the best twice
    f"SELECT rowid, CAST(-{_FINE} * bm25(line_words) AS INTEGER) AS score FROM line_words "
    "WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY score DESC, rowid LIMIT ?"
)

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
            end = length
            for line in lines:
                known = _position(connection, log, line.id)
                places.append(end if known is None else known)
                if known is None:
                    _keep(connection, log, end, line)
                    end += 1
            if end > length:
                connection.execute(_GROW, (end, log))
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
        with self._file.reading() as connection:
            log, length = self._found(connection)
            words = list(dict.fromkeys(terms))
            if len(words) > _MOST_WEIGHED or len(words) * length > _MOST_HOLDERS:
                words = _telling(connection, log, words)
            span = (log * SPAN, (log + 1) * SPAN)
            found = connection.execute(_BEST, (_quoted(words), *span, most)).fetchall() if words else []
        return {number % SPAN: score / _FINE for number, score in found}

    def _found(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the log and its length; (0, 0) where nothing was kept yet."""
        row: tuple[int, int] | None = connection.execute(_LOG, (self._name,)).fetchone()
        return row or (0, 0)


def _keep(connection: sqlite3.Connection, log: int, position: int, line: Line) -> None:
    number = log * SPAN + position
    name = to_bytes(line.id) if line.id else None
    connection.execute(_KEEP, (number, log, name, line.time, to_bytes(line.body)))
    if line.words:
        connection.execute(_INDEX, (number, line.words.encode("utf-8", "replace")))


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


def _telling(connection: sqlite3.Connection, log: int, terms: Sequence[str]) -> list[str]:
    """The terms that are weighed: the rarest, as long as their holders are not too many; at least one.

    A word that everybody says says nothing, and is what a search over a long log would take its time for.
    """
    span = (log * SPAN, (log + 1) * SPAN)
    holders: dict[str, int] = {
        term: connection.execute(_HOLDERS, (_quoted([term]), *span, _MOST_HOLDERS)).fetchone()[0]
        for term in terms[:_MOST_TERMS]
    }
    chosen: list[str] = []
    left = _MOST_HOLDERS
    rarest = sorted((term for term in holders if holders[term]), key=lambda term: holders[term])
    for term in rarest[:_MOST_WEIGHED]:
        left -= holders[term]
        if left < 0 and chosen:
            break
        chosen.append(term)
    return chosen


def _quoted(words: Sequence[str]) -> str:
    """A query for any of the words; quoted, so that none of them is an operator."""
    query = " OR ".join('"' + word.replace('"', '""').replace("\x00", " ") + '"' for word in words)
    return query.encode("utf-8", "replace").decode()
