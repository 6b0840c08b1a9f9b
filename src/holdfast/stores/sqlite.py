"""A store in one SQLite file: durable, and shared by many threads and processes.

The words of the newest lines of a log wait in a table of their own and are indexed many lines at
once. One transaction moves the words from that table into the index, so every line is in one of the
two, whenever a process ends. The index of a log is a few sorted parts, of which equally large ones
are merged (a log-structured merge tree): in one large tree, each term would be inserted at another
place, and every insertion would write a page.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from time import time

from holdfast.kernel.errors import CorruptError, StoreError
from holdfast.text.similarity import POSTING, Scores

from .entries import EntryStore
from .postings import Tallied, blocks, scores, tallied, waiting_words
from .protocols import ClosedAfterUse, Line, shown, to_bytes, to_text, unusable
from .sqlite_file import (
    DatabaseFile,
    SchemaError,
    Synchronous,
    code_of,
    is_sealed,
    sealed,
    unsealed,
)

MOST_WAITING = 128
"""Lines of a log whose words may wait. A search scans this many in about 0.5 ms. With half,
indexing the words of 1,000 messages takes half as long again."""

# parts of one level that are merged into one of the next: 100,000 lines have at most 21 parts
_MERGED = 8

SPAN = 1 << 32
"""Line p of log n has the number n * SPAN + p."""

# bytes of postings in a row; more than 1,002 of a row would take a page of their own, as SQLite's
# file format says
_BLOCK = 900
_LOST = 4_096  # lines at the end that one damaged page can affect: no page has more bytes

_LOG = (
    "SELECT id, coalesce(CAST(length AS INTEGER), -1), name, (SELECT max(number) FROM lines "
    "WHERE number >= logs.id << 32 AND number < (logs.id + 1) << 32) FROM logs {} name = ?1"
)
_BY_NAME, _BY_END = "WHERE", "INDEXED BY logs_by_end WHERE substr(name, -8) = substr(?1, -8) AND"
# CAST gives the written types, even on a damaged disk: a value of another type would raise an error
# that hides the other lines
_LINE = (
    "SELECT CAST(id AS BLOB), CAST(time AS REAL), CAST(body AS BLOB) FROM lines WHERE number = ?"
)
_BETWEEN = (
    "SELECT number FROM lines WHERE log = ? AND time >= ? AND time <= ? "
    "ORDER BY time, number LIMIT ?"
)

_WAITING = "FROM waiting WHERE number >= ?1 << 32 AND number < (?1 + 1) << 32"
_INDEXED = f"DELETE {_WAITING}"
_BLOCKS = (
    "SELECT term, block FROM postings WHERE log = ? AND part = ? AND term IN ({}) ORDER BY term, at"
)
# the last of a term's blocks tells the size of all
_HOLDERS = (
    "WITH asked (term) AS (VALUES {}) SELECT term, (SELECT at + length(block) FROM postings WHERE "
    "log = ? AND part = ? AND term = asked.term ORDER BY at DESC LIMIT 1) FROM asked"
)
_FROM = "SELECT term, block FROM postings WHERE log = ? AND part >= ? ORDER BY term, part, at"


@dataclass
class SqliteLog:
    """A log in the file of a store, which is opened if needed."""

    file: DatabaseFile
    name: bytes

    def length(self) -> int:
        """The number of lines."""
        with self.file.use() as connection:
            return self._found(connection)[1]

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append the lines in one transaction; return their positions."""
        with self.file.writing(flush=flush) as connection:
            log, length = self._found(connection)
            if at not in (None, length):
                return []
            if not log:
                log, length = connection.execute(
                    "INSERT INTO logs (name, length) VALUES (?, 0) RETURNING id, length",
                    (self.name,),
                ).fetchone()
            places: list[int] = []
            end = length
            for line in lines:
                place = _position(connection, log, line.id)
                if place is None:
                    place = end
                    self._keep(connection, log * SPAN + place, line)
                    end += 1
                places.append(place)
            if end > length:
                connection.execute("UPDATE logs SET length = ? WHERE id = ?", (end, log))
            late = connection.execute(f"SELECT count(*) {_WAITING}", (log,))
            if late.fetchone()[0] >= MOST_WAITING:
                with _reading_words():
                    _Index(connection, log).grow()
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order, without damaged ones."""
        with self.file.reading() as connection:
            log = self._found(connection)[0]
            wanted = sorted({place for place in positions if 0 <= place < SPAN})
            lines = {place: self._line(connection, log * SPAN + place) for place in wanted}
        return {place: line for place, line in lines.items() if line is not None}

    def _line(self, connection: sqlite3.Connection, number: int) -> Line | None:
        """The line with this number; None if there is none, or it is damaged."""
        try:
            row = connection.execute(_LINE, (number,)).fetchone()
        except sqlite3.DatabaseError as fault:
            if code_of(fault) != sqlite3.SQLITE_CORRUPT:
                raise
            return None
        with suppress(StoreError):  # not text any more
            if row is not None:
                name, moment, value = row
                body = unsealed(value, self.name, number, name, moment)
                if body is value:  # without a checksum, as of a log that an older version began
                    first = connection.execute(_LINE, (number - number % SPAN,)).fetchone()
                    body = None if first is not None and is_sealed(first[2]) else body
                if body is not None:
                    return Line(to_text("", body), to_text("", name or b""), moment)
        return None

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        with self.file.reading() as connection:
            log = self._found(connection)[0]
            places = {name: _position(connection, log, name) for name in ids}
        return {name: place for name, place in places.items() if place is not None}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        with self.file.reading() as connection:
            wanted = (self._found(connection)[0], first, last, most)
            return [number % SPAN for (number,) in connection.execute(_BETWEEN, wanted)]

    def search(self, terms: Sequence[str], most: int) -> Scores:
        """BM25 scores by position, best first.

        Of many words, or of words in many lines, the rarest are used.
        """
        with self.file.reading() as connection:
            log, _ = self._found(connection)
            with _reading_words():
                if not log:
                    return {}
                index = _Index(connection, log)
                return scores(terms, index, most, index.waiting())

    def _found(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """The number of the log and its length; (0, 0) if it is empty."""
        for index in (_BY_NAME, _BY_END):
            rows = connection.execute(_LOG.format(index), (self.name,)).fetchall()
            for log, length, name, last in rows:
                seen = 0 if last is None else last % SPAN + 1
                # a damaged index gives no number for a log
                if log is None or name != self.name or not 0 <= length - seen <= _LOST:
                    damaged = to_text("", self.name)
                    raise StoreError(
                        f"what the file says of log {damaged!r} is damaged; restore it from a copy"
                    )
                return log, length
        return 0, 0

    def _keep(self, connection: sqlite3.Connection, number: int, line: Line) -> None:
        name, time = to_bytes(line.id) if line.id else None, float(line.time)
        body = sealed(to_bytes(line.body), self.name, number, name, time)
        connection.execute(
            "INSERT INTO lines (number, log, id, time, body) VALUES (?, ?, ?, ?, ?)",
            (number, number // SPAN, name, time, body),
        )
        if line.words:
            words = waiting_words(line.words)
            connection.execute("INSERT INTO waiting VALUES (?, ?)", (number, words))


@contextmanager
def _reading_words() -> Generator[None]:
    """Name the damage of an index of words, which shows as values of other types and forms."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        struct.error,
    ) as fault:
        raise SchemaError(
            "the file is damaged: its index of words cannot be read; restore it from a copy"
        ) from fault


class _Index:
    """The index of one log, within a transaction."""

    def __init__(self, connection: sqlite3.Connection, log: int) -> None:
        self._connection, self._log = connection, log
        self.lines, self.terms, parts = connection.execute(
            "SELECT indexed, terms, parts FROM logs WHERE id = ?", (log,)
        ).fetchone()
        self.parts: list[list[int]] = json.loads(parts)
        """The first position of each part, and its level."""

    def waiting(self) -> list[Tallied]:
        """The lines that are not indexed yet."""
        rows = self._connection.execute(
            f"SELECT number & 0xffffffff, words {_WAITING}", (self._log,)
        )
        return tallied(rows)

    def holders(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
        """Keys of terms with numbers of lines that have them, from each part."""
        question = _HOLDERS.format(", ".join(["(?)"] * len(keys)))
        for part, _ in self.parts if keys else ():
            found = self._connection.execute(question, (*keys, self._log, part))
            yield from ((key, size // POSTING.size) for key, size in found if size)

    def blocks(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Keys of terms with blocks of their postings, part by part."""
        question = _BLOCKS.format(", ".join("?" * len(keys)))
        for part, _ in self.parts if keys else ():
            yield from self._connection.execute(question, (self._log, part, *keys))

    def grow(self) -> None:
        """Index the waiting words, as a new part."""
        rows = self.waiting()
        part = rows[0][0]
        made, terms = blocks(rows)
        self._post(part, made.items())
        self.parts.append([part, int(math.log(max(1, len(rows) / MOST_WAITING), _MERGED))])
        while [level for _, level in self.parts[-_MERGED:]] == [self.parts[-1][1]] * _MERGED:
            self._join(_MERGED)
        self._save(len(rows), terms)
        self._connection.execute(_INDEXED, (self._log,))

    def merge(self) -> None:
        """Merge all parts into one."""
        self._join(len(self.parts))
        self._save(0, 0)

    def _join(self, number: int) -> None:
        """Merge the newest parts, so many of them, into one of the next level."""
        first, level = self.parts[-number]
        rows = self._connection.execute(_FROM, (self._log, first)).fetchall()
        self._connection.execute(
            "DELETE FROM postings WHERE log = ? AND part >= ?", (self._log, first)
        )
        made = groupby(rows, itemgetter(0))
        self._post(first, ((term, b"".join(block for _, block in some)) for term, some in made))
        self.parts[-number:] = [[first, level + 1]]

    def _post(self, part: int, made: Iterable[tuple[bytes, bytes]]) -> None:
        rows = (
            (self._log, part, term, at, block[at : at + _BLOCK])
            for term, block in made
            for at in range(0, len(block), _BLOCK)
        )
        self._connection.executemany("INSERT INTO postings VALUES (?, ?, ?, ?, ?)", rows)

    def _save(self, lines: int, terms: int) -> None:
        """Write the parts, and count so many lines and terms more."""
        self._connection.execute(
            "UPDATE logs SET indexed = indexed + ?, terms = terms + ?, parts = ? WHERE id = ?",
            (lines, terms, json.dumps(self.parts), self._log),
        )


def _position(connection: sqlite3.Connection, log: int, name: str) -> int | None:
    if not name:
        return None
    row: tuple[int] | None = connection.execute(
        "SELECT number FROM lines WHERE log = ? AND id = ?", (log, to_bytes(name))
    ).fetchone()
    return None if row is None else row[0] % SPAN


_READ = "SELECT value, ends FROM entries WHERE key = ? AND (ends IS NULL OR ends > ?)"
_LIST = (
    "SELECT key FROM entries WHERE key >= ? AND key < ? AND (ends IS NULL OR ends > ?) ORDER BY key"
)
_WRITE = (
    "INSERT INTO entries (key, value, ends) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends"
)
_CLAIM = f"{_WRITE} WHERE entries.ends <= ?"
_LOGS = "SELECT name FROM logs WHERE name >= ? AND name < ? AND length > 0 ORDER BY name"
_ERASED = (
    _INDEXED,
    "DELETE FROM lines WHERE number >= ?1 << 32 AND number < (?1 + 1) << 32",
    "DELETE FROM postings WHERE log = ?1",
    "DELETE FROM logs WHERE id = ?1",
)


class SqliteStore(EntryStore, ClosedAfterUse):
    """One file with a write-ahead log, safe with many threads and processes on one machine.

    A write is on the disk before the call returns, and is complete or absent if a process is
    killed. With ``synchronous="normal"`` a power cut may lose the newest writes; it is about eight
    times faster. ``timeout``: seconds to wait for another process that writes. ``clock``: Unix
    seconds, for expiry. ``makes_folder``: whether the file's folder is created. The file is opened
    at the first use, created with mode 0600, and opened again if the store is used after ``close``.
    Errors are StoreError. A file on a network share is not safe.
    """

    leftovers = "copies of the file"

    def __init__(
        self,
        path: str | Path,
        *,
        timeout: float = 30.0,
        synchronous: Synchronous = "full",
        clock: Callable[[], float] = time,
        makes_folder: bool = False,
    ) -> None:
        self._file = DatabaseFile(Path(path), timeout, synchronous, makes_folder)
        super().__init__(clock)

    @classmethod
    def from_url(cls, url: str) -> SqliteStore:
        """The store of ``sqlite:///relative/file.db`` or ``sqlite:////absolute/file.db``."""
        _, _, rest = url.partition("://")
        path, advice = rest.removeprefix("/"), ""
        if not path or not rest.startswith("/"):
            problem = f"{shown(url)!r} names no file"
            advice = "write 'sqlite:///file.db', or 'sqlite:////var/file.db' for an absolute path"
        elif path == ":memory:":
            problem, advice = "a sqlite store is a file", "for memory write 'memory://'"
        elif "?" in path:
            problem = f"{url!r} has options, which a sqlite URL does not take"
        else:
            return cls(path)
        raise unusable(problem, advice)

    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""
        with self._file.reading() as connection:
            row = connection.execute(_READ, (to_bytes(key), self._clock())).fetchone()
        if row is None:
            return None
        value = unsealed(row[0], to_bytes(key), row[1])
        if value is None:
            raise CorruptError(
                key, "its bytes were changed on the disk; restore the file from a copy"
            )
        return value

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. One of many callers gets True."""
        with self._file.writing() as connection:
            return connection.execute(_CLAIM, (*_row(key, value), self._clock())).rowcount == 1

    def delete(self, key: str) -> None:
        """Delete the key."""
        with self._file.writing() as connection:
            connection.execute("DELETE FROM entries WHERE key = ?", (to_bytes(key),))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        return self._names(_LIST, prefix, self._clock())

    def log(self, name: str) -> SqliteLog:
        """The log of this name, which may be empty."""
        return SqliteLog(self._file, to_bytes(name))

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        return self._names(_LOGS, prefix)

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines and their index, overwriting them with zeros."""
        with self._file.writing() as connection:
            connection.execute("PRAGMA secure_delete = ON")
            found = connection.execute(_LOG.format(_BY_NAME), (to_bytes(name),)).fetchall()
            for (log, *_), statement in product(found, _ERASED):
                connection.execute(statement, (log,))

    def migrate(self) -> int:
        """Apply the missing steps of the schema, which opening does; return the number left."""
        with self._file.use():
            return 0

    def compact(self) -> None:
        """Merge the index, and free the space of deleted entries.

        Raises StoreError if somebody reads the file meanwhile, so that what was erased stays in it.
        """
        with self._file.writing() as connection:
            for (log,) in connection.execute(
                "SELECT DISTINCT number >> 32 FROM waiting"
            ).fetchall():
                _Index(connection, log).grow()
            parted = "SELECT id FROM logs WHERE json_array_length(parts) > 1"
            for (log,) in connection.execute(parted).fetchall():
                _Index(connection, log).merge()
        with self._file.use() as connection:
            connection.execute("VACUUM")
            ((is_read, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if is_read:
            raise StoreError(
                f"sqlite store {self._file.path}: another process uses it, so its files may still "
                "hold what was erased; end that, and run holdfast store compact"
            )

    def check(self) -> list[str]:
        """The damage that SQLite finds, one text for each."""
        with self._file.use() as connection:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
        return [line for (line,) in rows if line != "ok"]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def _names(self, query: str, prefix: str, *facts: float) -> list[str]:
        start = to_bytes(prefix)
        span = start, start + b"\xff"  # a byte that UTF-8 never has
        with self._file.use() as connection:
            return [to_text("", name) for (name,) in connection.execute(query, (*span, *facts))]

    def _write(self, values: Mapping[str, bytes], ends: float | None = None) -> None:
        with self._file.writing() as connection:
            if ends is not None:
                connection.execute("DELETE FROM entries WHERE ends <= ?", (self._clock(),))
            connection.executemany(_WRITE, [_row(*entry, ends) for entry in values.items()])


def _row(key: str, value: bytes, ends: float | None = None) -> tuple[bytes, bytes, float | None]:
    name = to_bytes(key)
    return name, sealed(value, name, ends), ends
