"""A store in one SQLite file: durable, and shared by many threads and processes.

The words of new lines wait in a table of their own and are indexed many lines at once: indexing
each line as it is appended would nearly double the time of an append. One transaction moves the
words from that table into the index, so every line is in one of the two, whenever a process ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Self

from holdfast.kernel.errors import ConfigError, CorruptError, StoreError
from holdfast.stores.entries import EntryStore
from holdfast.stores.postings import MOST_HOLDERS, MOST_TERMS, affordable, too_many
from holdfast.stores.protocols import Line, to_bytes, to_text
from holdfast.stores.sqlite_file import DatabaseFile, Synchronous, code_of, sealed, unsealed
from holdfast.text.similarity import Lexical, best_of

MOST_WAITING = 64
"""Lines whose words may wait. A search indexes this many in about 3 ms."""

SPAN = 1 << 32
"""Line p of log n has the number n * SPAN + p, in the table and in the index."""

_FINE = 1e10
"""Scores are rounded to 1 / _FINE before they are compared. The order of the words changes the last
digits of a score, and of equal scores the earlier line comes first.
"""

_LOST = 4_096  # lines at the end that one damaged page can affect: no page has more bytes
_GAP = 4  # unwanted lines that are read too, to save one query

_LOG = "SELECT id, coalesce(CAST(length AS INTEGER), -1), name FROM logs{} WHERE name = ?"
_NEW_LOG = "INSERT INTO logs (name, length) VALUES (?, 0) RETURNING id, length"
_GROW = "UPDATE logs SET length = ? WHERE id = ?"
_KNOWN = "SELECT number FROM lines WHERE log = ? AND id = ?"
_KEEP = "INSERT INTO lines (number, log, id, time, body) VALUES (?, ?, ?, ?, ?)"
_LAST = "SELECT max(number) FROM lines WHERE number >= ? AND number < ?"
# CAST gives the written types, even on a damaged disk: a value of another type would raise an error
# that hides the other lines
_RANGE = (
    "SELECT number, CAST(id AS BLOB), CAST(time AS REAL), CAST(body AS BLOB) "
    "FROM lines WHERE number >= ? AND number <= ?"
)
_BETWEEN = (
    "SELECT number FROM lines WHERE log = ? AND time >= ? AND time <= ? "
    "ORDER BY time, number LIMIT ?"
)

_WAIT = "INSERT INTO waiting_words (number, words) VALUES (?, ?)"
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
# not ordered by FTS5's column rank: that prepares a new statement each time, and scores some lines
# twice
_BEST = (
    "SELECT rowid, CAST(-? * bm25(line_words) AS INTEGER) AS score FROM line_words "
    "WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY score DESC, rowid LIMIT ?"
)

Row = tuple[int, bytes | None, float, object]


class SqliteLog:
    """A log in the file of a store, which is opened if needed."""

    def __init__(self, file: DatabaseFile, name: str) -> None:
        self._file = file
        self._name = to_bytes(name)

    def length(self) -> int:
        """The number of lines."""
        with self._file.reading() as connection:
            return self._found(connection)[1]

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append the lines in one transaction; return their positions."""
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
                _index(connection)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order, without damaged ones."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            rows = list(_rows(connection, log, positions))
        found: dict[int, Line] = {}
        for number, name, moment, value in rows:
            body = unsealed(value, self._name, number, name, moment)
            with suppress(StoreError):  # not text any more
                if body is not None:
                    found[number % SPAN] = Line(to_text("", body), to_text("", name or b""), moment)
        return found

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        with self._file.reading() as connection:
            log = self._found(connection)[0]
            places = {name: _position(connection, log, name) for name in ids}
        return {name: place for name, place in places.items() if place is not None}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        with self._file.reading() as connection:
            wanted = (self._found(connection)[0], first, last, most)
            return [number % SPAN for (number,) in connection.execute(_BETWEEN, wanted)]

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, best first.

        Of many words the most frequent are ignored. Lines with waiting words are indexed first; if
        that is not possible, in a read-only file or while another process writes, they are scanned
        and scored by what is rare among them.
        """
        found = self._scores(terms, most, with_waiting=False)
        if found is None:
            with suppress(StoreError), self._file.writing(flush=False, waits=False) as connection:
                _index(connection)
            found = self._scores(terms, most, with_waiting=True) or {}
        return found

    def _scores(
        self, terms: Sequence[str], most: int, *, with_waiting: bool
    ) -> dict[int, float] | None:
        """The scores, best first; None if waiting words must be indexed first."""
        words = list(dict.fromkeys(terms))
        with self._file.reading() as connection:
            log, length = self._found(connection)
            span = log * SPAN, (log + 1) * SPAN
            waiting = connection.execute(_WAITING, span).fetchall()
            if waiting and not with_waiting:
                return None
            if too_many(words, length):
                holders: dict[str, int] = {}
                for word in words[:MOST_TERMS]:
                    counted = (_query([word]), *span, MOST_HOLDERS)
                    (holders[word],) = connection.execute(_HOLDERS, counted).fetchone()
                words = [word for (word,) in affordable([(word,) for word in holders], holders)]
            rows = connection.execute(_BEST, (_FINE, _query(words), *span, most)) if words else ()
            scores = {number: score / _FINE for number, score in rows}
        lexical = Lexical()
        for _, text in waiting:
            lexical.add(to_text("words", text))
        scores |= {waiting[place][0]: score for place, score in lexical.any_of(terms).items()}
        return {number % SPAN: score for number, score in best_of(scores, most)}

    def _found(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the log and its length; (0, 0) if it is empty."""
        for index in ("", " NOT INDEXED"):  # the name is in the index and in the table
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
        """Insert the line; the number of lines with waiting words, 0 if this one has none."""
        name, time = to_bytes(line.id) if line.id else None, float(line.time)
        body = sealed(to_bytes(line.body), self._name, number, name, time)
        connection.execute(_KEEP, (number, number // SPAN, name, time, body))
        return _wait(connection, number, line.words) if line.words else 0


def _wait(connection: sqlite3.Connection, number: int, words: str) -> int:
    """Let the words of a line wait; return the number of lines with waiting words."""
    row = connection.execute(_WAIT, (number, words.encode("utf-8", "replace")))
    return row.lastrowid or 0  # the table is only emptied as a whole, and then counts from 1


def _index(connection: sqlite3.Connection) -> None:
    """Index all waiting words."""
    connection.execute(_INDEX)
    connection.execute(_INDEXED)


def _query(words: Sequence[str]) -> str:
    """A query for any of the words; quoted, so that none of them is an operator."""
    query = " OR ".join('"' + word.replace('"', '""').replace("\x00", " ") + '"' for word in words)
    return query.encode("utf-8", "replace").decode()


def _position(connection: sqlite3.Connection, log: int, name: str) -> int | None:
    if not name:
        return None
    row: tuple[int] | None = connection.execute(_KNOWN, (log, to_bytes(name))).fetchone()
    return None if row is None else row[0] % SPAN


def _rows(connection: sqlite3.Connection, log: int, positions: Sequence[int]) -> Iterator[Row]:
    """The lines at these positions; lines close to each other are read with one query."""
    wanted = sorted({place for place in positions if 0 <= place < SPAN})
    runs: list[list[int]] = []
    for place in wanted:
        if runs and place - runs[-1][-1] <= _GAP:
            runs[-1].append(place)
        else:
            runs.append([place])
    for run in runs:
        among = set(run)
        for row in _range(connection, log * SPAN + run[0], log * SPAN + run[-1]):
            if row[0] % SPAN in among:
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


_READ = "SELECT value, ends FROM entries WHERE key = ? AND (ends IS NULL OR ends > ?)"
_LIST = (
    "SELECT key FROM entries WHERE key >= ? AND key < ? AND (ends IS NULL OR ends > ?) ORDER BY key"
)
_WRITE = (
    "INSERT INTO entries (key, value, ends) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends"
)
_CLAIM = f"{_WRITE} WHERE entries.ends <= ?"
_DELETE = "DELETE FROM entries WHERE key = ?"
_FORGET = "DELETE FROM entries WHERE ends <= ?"
_LOGS = "SELECT name FROM logs WHERE name >= ? AND name < ? AND length > 0 ORDER BY name"
_NAMELESS = "UPDATE logs SET name = x'ff' || randomblob(16), length = 0 WHERE id = ?"
_ERASED = (
    "DELETE FROM waiting_words WHERE number >= ? AND number < ?",
    "DELETE FROM lines WHERE number >= ? AND number < ?",
)


class SqliteStore(EntryStore):
    """One file with a write-ahead log, safe with many threads and processes on one machine.

    A write is on the disk before the call returns, and is complete or absent if a process is
    killed. With ``synchronous="normal"`` a power cut may lose the newest writes; it is about eight
    times faster. ``timeout``: seconds to wait for another process that writes. ``clock``: Unix
    seconds, for expiry. ``makes_folder``: whether the file's folder is created. The file is opened
    at the first use, created with mode 0600, and opened again if the store is used after ``close``.
    Errors are StoreError. A file on a network share is not safe.
    """

    leftovers = "stems of the erased words in the index of the file, and copies of the file"

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
        path, advice = rest.removeprefix("/"), ""
        if not path or not rest.startswith("/"):
            problem = f"{url!r} names no file"
            advice = "write 'sqlite:///file.db', or 'sqlite:////var/file.db' for an absolute path"
        elif path == ":memory:":
            problem, advice = "a sqlite store is a file", "for memory write 'memory://'"
        elif "?" in path:
            problem = f"{url!r} has options, which a sqlite URL does not take"
        else:
            return cls(path)
        raise ConfigError(problem, place="store", advice=advice)

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. One of many callers gets True."""
        with self._file.writing() as connection:
            claimed = connection.execute(_CLAIM, (*_row(key, value), self._clock()))
            return claimed.rowcount == 1

    def delete(self, key: str) -> None:
        """Delete the key."""
        with self._file.writing() as connection:
            connection.execute(_DELETE, (to_bytes(key),))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        return self._names(_LIST, prefix, self._clock())

    def log(self, name: str) -> SqliteLog:
        """The log of this name, which may be empty."""
        return SqliteLog(self._file, name)

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        return self._names(_LOGS, prefix)

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines, overwriting them in the file with zeros.

        Its number is not used again, since the index still has stems of its words under it.
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
        """Rebuild the index from these lines alone: log, position and words of each.

        Erased lines leave stems in an index without content, which nothing else removes.
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
                    _wait(connection, numbers[to_bytes(log)] * SPAN + position, found)
            _index(connection)

    def migrate(self) -> int:
        """Apply the missing steps of the schema, which opening does; return the number left."""
        with self._file.use():
            return 0

    def compact(self) -> None:
        """Merge the index, and free the space of deleted entries."""
        with self._file.writing() as connection:
            _index(connection)
            connection.execute("INSERT INTO line_words (line_words) VALUES ('optimize')")
        with self._file.use() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> list[str]:
        """The damage that SQLite finds, one text for each."""
        with self._file.use() as connection:
            rows: list[tuple[str]] = connection.execute("PRAGMA integrity_check").fetchall()
        return [line for (line,) in rows if line != "ok"]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def _names(self, query: str, prefix: str, *facts: float) -> list[str]:
        start = to_bytes(prefix)
        end = start + b"\xff"  # a byte that UTF-8 never has
        with self._file.use() as connection:
            rows: list[tuple[bytes]] = connection.execute(query, (start, end, *facts)).fetchall()
        return [to_text("", name) for (name,) in rows]

    def _read(self, keys: Sequence[str]) -> list[bytes | None]:
        now = self._clock()
        found: list[bytes | None] = []
        with self._file.reading() as connection:
            for key in keys:
                row = connection.execute(_READ, (to_bytes(key), now)).fetchone()
                value = row and unsealed(row[0], to_bytes(key), row[1])
                if row and value is None:
                    raise CorruptError(
                        key, "its bytes were changed on the disk; restore the file from a copy"
                    )
                found.append(value)
        return found

    def _write(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        now = self._clock()
        ends = None if seconds is None else float(now + seconds)
        with self._file.writing() as connection:
            if ends is not None:
                connection.execute(_FORGET, (now,))
            connection.executemany(_WRITE, [_row(*entry, ends) for entry in values.items()])


def _row(key: str, value: bytes, ends: float | None = None) -> tuple[bytes, bytes, float | None]:
    name = to_bytes(key)
    return name, sealed(value, name, ends), ends
