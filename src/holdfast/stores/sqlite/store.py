"""The store in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import time
from types import TracebackType
from typing import Self

from holdfast.kernel.errors import ConfigError, CorruptError
from holdfast.stores.utf8 import to_bytes, to_text

from .file import DatabaseFile, Synchronous
from .log import SqliteLog
from .seal import sealed, unsealed

READ = "SELECT value, ends FROM entries WHERE key = ? AND (ends IS NULL OR ends > ?)"
LIST = "SELECT key FROM entries WHERE key >= ? AND key < ? AND (ends IS NULL OR ends > ?) ORDER BY key"
WRITE = (
    "INSERT INTO entries (key, value, ends) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends"
)
CLAIM = f"{WRITE} WHERE entries.ends <= ?"
DELETE = "DELETE FROM entries WHERE key = ?"
LOGS = "SELECT name FROM logs WHERE name >= ? AND name < ? AND length > 0 ORDER BY name"
FORGET = "DELETE FROM entries WHERE ends <= ?"


class SqliteStore:
    """One file with a write-ahead log, safe with many threads and processes on one machine.

    A write is on the disk before the call returns, and all of it or nothing is there after a kill at any moment.
    With ``synchronous="normal"`` that holds for a killed process but not for a power cut, which may then take the
    newest writes; it is about eight times faster. ``timeout``: seconds to wait for another process that writes.
    ``clock``: Unix seconds, for expiry. The file is opened when first used, made with mode 0600, and opened again
    if the store is used after ``close``. Errors are StoreError. A file on a network share is not safe.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        timeout: float = 30.0,
        synchronous: Synchronous = "full",
        clock: Callable[[], float] = time,
    ) -> None:
        self._file = DatabaseFile(Path(path), timeout=timeout, synchronous=synchronous)
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
            raise ConfigError("a sqlite store is a file", place="store", advice="for memory write 'memory://'")
        if "?" in path:
            raise ConfigError(f"{url!r} has options, which a sqlite URL does not take", place="store")
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
            connection.executemany(WRITE, [_row(key, to_bytes(value)) for key, value in values.items()])

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
            rows: list[tuple[bytes]] = connection.execute(LIST, (start, end, self._clock())).fetchall()
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
        row: tuple[object, object] | None = connection.execute(READ, (to_bytes(key), self._clock())).fetchone()
        if row is None:
            return None
        value = unsealed(row[0], to_bytes(key), row[1])
        if value is None:
            raise CorruptError(key, "its bytes were changed on the disk; restore the file from a copy")
        return value


def _row(key: str, value: bytes, ends: float | None = None) -> tuple[bytes, bytes, float | None]:
    name = to_bytes(key)
    return name, sealed(value, name, ends), ends
