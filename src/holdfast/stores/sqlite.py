"""A store in one SQLite file: durable, and shared by many threads and processes.

The words of lines wait in a table of their own, and are indexed many lines at once: one by one it
would cost an append nearly as much again as to keep them. What waits and what is indexed change in
one transaction, so that every line is in one of both, whenever a process ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self

from holdfast.kernel.errors import ConfigError, CorruptError, StoreError
from holdfast.stores.protocols import Line, to_bytes, to_text
from holdfast.stores.sqlite_file import DatabaseFile, Synchronous, code_of, sealed, unsealed
from holdfast.text.similarity import Lexical

MOST_WAITING = 64
"""Lines whose words may wait: to index so many takes a search some 3 ms."""

_MOST_TERMS = 200  # words of a question; one of 50,000 tokens asks for its first
_MOST_WEIGHED = 24  # words that a search weighs, the rarest: the others change nearly nothing
_MOST_HOLDERS = 10_000  # lines that one search weighs: some 6 ms, whatever the length of the log
# parts of a score that count: of equals the earlier line is first, whatever the order of the words
_FINE = 1e10

_WAIT = "INSERT INTO waiting_words (number, words) VALUES (?, ?)"
_IS_WAITING = "SELECT 1 FROM waiting_words WHERE number >= ? AND number < ? LIMIT 1"
_WAITING = (
    "SELECT number, words FROM waiting_words WHERE number >= ? AND number < ? ORDER BY number"
)
_INDEX = (
    "INSERT INTO line_words (rowid, words) SELECT number, words FROM waiting_words ORDER BY number"
)
_INDEXED = "DELETE FROM waiting_words"
_HOLDERS = (
    "SELECT count(*) FROM (SELECT 1 FROM line_words"
    " WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? LIMIT ?)"
)
# not by FTS5's column rank: that is sorted by a statement made anew each time, and weighs some
# twice
_BEST = (
    "SELECT rowid, CAST(-? * bm25(line_words) AS INTEGER) AS score FROM line_words "
    "WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY score DESC, rowid LIMIT ?"
)

Span = tuple[int, int]
"""The numbers of a log's lines: from the first, up to the second."""


def keep_words(connection: sqlite3.Connection, number: int, words: str) -> int:
    """Let the words of a line wait; how many lines do now."""
    row = connection.execute(_WAIT, (number, words.encode("utf-8", "replace")))
    return row.lastrowid or 0  # the table is only ever emptied whole, and counts from 1 again


def is_behind(connection: sqlite3.Connection, span: Span) -> bool:
    """Whether the words of any of these lines wait."""
    return connection.execute(_IS_WAITING, span).fetchone() is not None


def index_words(connection: sqlite3.Connection) -> None:
    """Index all that waits."""
    connection.execute(_INDEX)
    connection.execute(_INDEXED)


def best_lines(
    connection: sqlite3.Connection, span: Span, length: int, terms: Sequence[str], most: int
) -> dict[int, float]:
    """BM25 scores by number, best first.

    A word that stands nearly everywhere is left out of a long log.
    """
    words = list(dict.fromkeys(terms))
    if len(words) > _MOST_WEIGHED or len(words) * length > _MOST_HOLDERS:
        words = _telling(connection, span, words)
    rows = (
        connection.execute(_BEST, (_FINE, _quoted(words), *span, most)).fetchall() if words else []
    )
    return {number: score / _FINE for number, score in rows}


def with_waiting(
    connection: sqlite3.Connection,
    span: Span,
    terms: Sequence[str],
    most: int,
    found: Mapping[int, float],
) -> dict[int, float]:
    """What was found, and the lines that still wait, each scored by what is rare among them."""
    rows = connection.execute(_WAITING, span).fetchall()
    lexical = Lexical()
    for _, words in rows:
        lexical.add(to_text("words", words))
    late = {rows[place][0]: score for place, score in lexical.any_of(terms).items()}
    scores = {**found, **late}
    return {
        number: scores[number] for number in sorted(scores, key=lambda n: (-scores[n], n))[:most]
    }


def _telling(connection: sqlite3.Connection, span: Span, terms: Sequence[str]) -> list[str]:
    """The terms that are weighed: the rarest, as long as their holders are not too many.

    At least one.

    A word that everybody says says nothing, and is what a search over a long log would take its
    time for.
    """
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
# types as they were written, whatever the disk made of them: no fault of reading hides the others
_RANGE = (
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

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
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
            if waiting >= MOST_WAITING:
                index_words(connection)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """Those of the positions that there are, in order, without those that the disk damaged."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            rows = list(_rows(connection, log, positions))
        found: dict[int, Line] = {}
        for number, name, moment, value in rows:
            body = unsealed(value, self._name, number, name, moment)
            with suppress(StoreError):  # it is no text any more
                if body is not None:
                    found[number % SPAN] = Line(to_text("", body), to_text("", name or b""), moment)
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
            rows = connection.execute(
                _BETWEEN, (self._found(connection)[0], first, last, most)
            ).fetchall()
        return [number % SPAN for (number,) in rows]

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, best first.

        A word that stands nearly everywhere is left out of a long log.
        """
        found = self._scores(terms, most, waiting=False)
        if found is None:
            with suppress(StoreError), self._file.writing(flush=False, waits=False) as connection:
                index_words(connection)
            found = self._scores(terms, most, waiting=True)
        return {number % SPAN: score for number, score in (found or {}).items()}

    def _scores(self, terms: Sequence[str], most: int, *, waiting: bool) -> dict[int, float] | None:
        """By number; None if words wait that are to be indexed first.

        Where they cannot be, in a read-only file or while somebody writes, ``waiting`` ones are
        looked through.
        """
        with self._file.reading() as connection:
            log, length = self._found(connection)
            span = log * SPAN, (log + 1) * SPAN
            behind = is_behind(connection, span)
            if behind and not waiting:
                return None
            found = best_lines(connection, span, length, terms, most)
            return with_waiting(connection, span, terms, most, found) if behind else found

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
                    raise StoreError(
                        f"what the file says of log {shown!r} is damaged; restore it from a copy"
                    )
                return log, length
        return 0, 0

    def _keep(self, connection: sqlite3.Connection, number: int, line: Line) -> int:
        """Keep the line; of how many lines the words wait now, 0 if it has none."""
        name, time = to_bytes(line.id) if line.id else None, float(line.time)
        body = sealed(to_bytes(line.body), self._name, number, name, time)
        connection.execute(_KEEP, (number, number // SPAN, name, time, body))
        return keep_words(connection, number, line.words) if line.words else 0


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


READ = "SELECT value, ends FROM entries WHERE key = ? AND (ends IS NULL OR ends > ?)"
LIST = (
    "SELECT key FROM entries WHERE key >= ? AND key < ? AND (ends IS NULL OR ends > ?) ORDER BY key"
)
WRITE = (
    "INSERT INTO entries (key, value, ends) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends"
)
CLAIM = f"{WRITE} WHERE entries.ends <= ?"
DELETE = "DELETE FROM entries WHERE key = ?"
_NAMELESS = "UPDATE logs SET name = x'ff' || randomblob(16), length = 0 WHERE id = ?"
_ERASED = (
    "DELETE FROM waiting_words WHERE number >= ? AND number < ?",
    "DELETE FROM lines WHERE number >= ? AND number < ?",
)
LOGS = "SELECT name FROM logs WHERE name >= ? AND name < ? AND length > 0 ORDER BY name"
FORGET = "DELETE FROM entries WHERE ends <= ?"


class SqliteStore:
    """One file with a write-ahead log, safe with many threads and processes on one machine.

    A write is on the disk before the call returns, and all of it or nothing is there after a kill
    at any moment. With ``synchronous="normal"`` that holds for a killed process but not for a power
    cut, which may then take the newest writes; it is about eight times faster. ``timeout``: seconds
    to wait for another process that writes. ``clock``: Unix seconds, for expiry. ``makes_folder``:
    whether its folder is made too. The file is opened
    when first used, made with mode 0600, and opened again if the store is used after ``close``.
    Errors are StoreError. A file on a network share is not safe.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        timeout: float = 30.0,
        synchronous: Synchronous = "full",
        clock: Callable[[], float] = time,
        makes_folder: bool = False,
    ) -> None:
        self._file = DatabaseFile(
            Path(path), timeout=timeout, synchronous=synchronous, makes_folder=makes_folder
        )
        self._clock = clock

    @classmethod
    def from_url(cls, url: str) -> SqliteStore:
        """The store of ``sqlite:///relative/file.db`` or ``sqlite:////absolute/file.db``."""
        _, _, rest = url.partition("://")
        path = rest.removeprefix("/")
        if not path or not rest.startswith("/"):
            raise ConfigError(
                f"{url!r} names no file",
                place="store",
                advice="write 'sqlite:///file.db', or 'sqlite:////var/file.db' for an absolute path",
            )
        if path == ":memory:":
            raise ConfigError(
                "a sqlite store is a file", place="store", advice="for memory write 'memory://'"
            )
        if "?" in path:
            raise ConfigError(
                f"{url!r} has options, which a sqlite URL does not take", place="store"
            )
        return cls(path)

    def get(self, key: str) -> str | None:
        """The value, or None. Raises StoreError if it was put as bytes that are not UTF-8."""
        value = self.get_bytes(key)
        return None if value is None else to_text(key, value)

    def get_bytes(self, key: str) -> bytes | None:
        """The bytes, or None; of text, its UTF-8."""
        with self._file.use() as connection:
            return self._read(connection, key)

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of the keys, all of the same moment."""
        with self._file.reading() as connection:
            values = [self._read(connection, key) for key in keys]
        return [None if v is None else to_text(key, v) for key, v in zip(keys, values, strict=True)]

    def set(self, key: str, value: str) -> None:
        """Keep the value, without an end."""
        self.set_bytes(key, to_bytes(value))

    def set_bytes(self, key: str, value: bytes) -> None:
        """Keep the bytes, without an end."""
        with self._file.writing() as connection:
            connection.execute(WRITE, _row(key, value))

    def set_many(self, values: Mapping[str, str]) -> None:
        """Keep all of them, in one transaction."""
        with self._file.writing() as connection:
            connection.executemany(
                WRITE, [_row(key, to_bytes(value)) for key, value in values.items()]
            )

    def set_for(self, key: str, value: str, seconds: float) -> None:
        """Keep the value for so many seconds; what has ended since is removed from the file."""
        now = self._clock()
        with self._file.writing() as connection:
            connection.execute(FORGET, (now,))
            connection.execute(WRITE, _row(key, to_bytes(value), float(now + seconds)))

    def put_if_absent(self, key: str, value: str) -> bool:
        """Keep the value if the key is free; whether it was. Of many processes, one is told so."""
        return self.put_bytes_if_absent(key, to_bytes(value))

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Keep the bytes if the key is free; whether it was. Of many processes, one is told so."""
        with self._file.writing() as connection:
            claimed = connection.execute(CLAIM, (*_row(key, value), self._clock()))
            return claimed.rowcount == 1

    def delete(self, key: str) -> None:
        """Forget the key."""
        with self._file.writing() as connection:
            connection.execute(DELETE, (to_bytes(key),))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        start = to_bytes(prefix)
        end = start + b"\xff"  # a byte that UTF-8 never has
        with self._file.use() as connection:
            rows: list[tuple[bytes]] = connection.execute(
                LIST, (start, end, self._clock())
            ).fetchall()
        return [to_text("", key) for (key,) in rows]

    def log(self, name: str) -> SqliteLog:
        """The log of this name; empty until something is appended."""
        return SqliteLog(self._file, name)

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the logs that hold a line and start with the prefix, in order."""
        start = to_bytes(prefix)
        with self._file.use() as connection:
            rows: list[tuple[bytes]] = connection.execute(LOGS, (start, start + b"\xff")).fetchall()
        return [to_text("", name) for (name,) in rows]

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines, whose place in the file is overwritten with zeros.

        Its number is never given again: the index still has stems of its words under it.
        """
        with self._file.use() as connection:
            row = connection.execute(_LOG.format(""), (to_bytes(name),)).fetchone()
        if row is None:
            return
        span = row[0] * SPAN, (row[0] + 1) * SPAN
        with self._file.writing() as connection:
            connection.execute("PRAGMA secure_delete = ON")
            for statement in _ERASED:
                connection.execute(statement, span)
            connection.execute(_NAMELESS, (row[0],))

    def reindex(self, words: Iterable[tuple[str, int, str]]) -> None:
        """Make the index of words anew, of these alone: log, position and words of each line.

        What was erased leaves stems in an index without content, which nothing else removes.
        """
        rows = list(words)
        with self._file.writing() as connection:
            numbers: dict[bytes, int] = dict(
                connection.execute("SELECT CAST(name AS BLOB), id FROM logs")
            )
            connection.execute("INSERT INTO line_words (line_words) VALUES ('delete-all')")
            connection.execute(_INDEXED)
            for log, position, found in rows:
                if found:
                    keep_words(connection, numbers[to_bytes(log)] * SPAN + position, found)
            index_words(connection)

    def migrate(self) -> int:
        """Take the steps that the schema lacks, which opening the file does; how many are left."""
        with self._file.use():
            return 0

    def compact(self) -> None:
        """Merge the index, and give the room of what was deleted back to the disk."""
        with self._file.writing() as connection:
            index_words(connection)
            connection.execute("INSERT INTO line_words (line_words) VALUES ('optimize')")
        with self._file.use() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> list[str]:
        """What SQLite finds damaged, a line each."""
        with self._file.use() as connection:
            rows: list[tuple[str]] = connection.execute("PRAGMA integrity_check").fetchall()
        return [line for (line,) in rows if line != "ok"]

    leftovers = "stems of the erased words in the index of the file, and copies of the file"

    def close(self) -> None:
        """Let go of the file; a later use opens it again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, connection: sqlite3.Connection, key: str) -> bytes | None:
        row: tuple[object, object] | None = connection.execute(
            READ, (to_bytes(key), self._clock())
        ).fetchone()
        if row is None:
            return None
        value = unsealed(row[0], to_bytes(key), row[1])
        if value is None:
            raise CorruptError(
                key, "its bytes were changed on the disk; restore the file from a copy"
            )
        return value


def _row(key: str, value: bytes, ends: float | None = None) -> tuple[bytes, bytes, float | None]:
    name = to_bytes(key)
    return name, sealed(value, name, ends), ends
