"""One SQLite file, shared by the threads of a process, safe across forks, with one-line errors.

The file says to which program it belongs (``application_id``) and how many steps of the schema it
has (``user_version``). A released step never changes: later changes are new steps.
"""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import Literal
from weakref import finalize
from zlib import crc32

from holdfast.kernel.errors import StoreError
from holdfast.kernel.forks import FILES


@contextmanager
def transaction(
    connection: sqlite3.Connection, kind: Literal["deferred", "immediate"]
) -> Generator[None]:
    """A transaction: ``deferred`` reads the state of one moment, ``immediate`` writes.

    The latter waits for other writers.
    """
    with connection:  # commits, or rolls back what failed
        connection.execute(f"BEGIN {kind}")  # an interrupt of its waiting is raised after it
        yield


# begins with a byte that UTF-8 never has: older versions stored values without a checksum
_MARK = b"\xffcrc"


def sealed(value: bytes, *about: object) -> bytes:
    """The value after a checksum over it and over the facts ``about`` it."""
    return _MARK + crc32(value, crc32(repr(about).encode())).to_bytes(4, "big") + value


def unsealed(value: object, *about: object) -> bytes | None:
    """The value that was sealed with these facts, or a value without a checksum.

    None if the value or a fact has changed.
    """
    if not isinstance(value, bytes):
        return None
    if not value.startswith(_MARK):
        return value
    content = value[len(_MARK) + 4 :]
    return content if value == sealed(content, *about) else None


def is_sealed(value: object) -> bool:
    """Whether the value has a checksum."""
    return isinstance(value, bytes) and value.startswith(_MARK)


APPLICATION = int.from_bytes(b"Hold", "big")

STEPS: tuple[tuple[str, ...], ...] = (
    (
        # Keys are UTF-8 as bytes: any text, in the order of its code points. ``ends`` is in Unix
        # seconds.
        "CREATE TABLE entries (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL, ends REAL)",
        "CREATE INDEX entries_by_end ON entries (ends) WHERE ends IS NOT NULL",
    ),
    (
        # Names and ids are UTF-8 as bytes too. The number of a line combines its log and its
        # position: see ``sqlite.SPAN``.
        (
            "CREATE TABLE logs (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE,"
            " length INTEGER NOT NULL)"
        ),
        (
            "CREATE TABLE lines (number INTEGER PRIMARY KEY, log INTEGER NOT NULL, id BLOB,"
            " time REAL, body BLOB)"
        ),
        "CREATE UNIQUE INDEX lines_by_id ON lines (log, id) WHERE id IS NOT NULL",
        "CREATE INDEX lines_by_time ON lines (log, time)",
        # An index without content: the words are never read back from it.
        (
            "CREATE VIRTUAL TABLE line_words USING fts5 (words, content = '',"
            " tokenize = 'porter unicode61')"
        ),
    ),
    (
        # Words that are not indexed yet; ``id`` is their number.
        (
            "CREATE TABLE waiting_words (id INTEGER PRIMARY KEY, number INTEGER NOT NULL,"
            " words BLOB NOT NULL)"
        ),
        # The number of equal parts of the index that are merged; fewer than by default, because
        # each word is searched in each part.
        "INSERT INTO line_words (line_words, rank) VALUES ('crisismerge', 4)",
    ),
    # From this step on, values and lines have checksums; earlier ones stay unchanged.
    (),
    (
        # One index for each log, so that neither the scores nor the time of a search depend on
        # other logs. It has parts, each of consecutive lines: ``parts`` lists the position of the
        # first one and the level of each. ``indexed`` and ``terms`` count all lines in the index
        # and their terms.
        (
            "CREATE TABLE postings (log INTEGER NOT NULL, part INTEGER NOT NULL,"
            " term BLOB NOT NULL, at INTEGER NOT NULL, block BLOB NOT NULL,"
            " PRIMARY KEY (log, part, term, at)) WITHOUT ROWID"
        ),
        "ALTER TABLE logs ADD COLUMN parts TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE logs ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE logs ADD COLUMN terms INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE waiting (number INTEGER PRIMARY KEY, words BLOB NOT NULL)",
        "INSERT INTO waiting SELECT number, words FROM waiting_words",
        # The former index has the stems of another stemmer. The words of a line that is JSON are
        # taken from its texts, up to the length that a session indexes; other lines keep the stems.
        (
            "INSERT INTO waiting SELECT number, CAST(substr((SELECT group_concat(atom, ' ')"
            " FROM json_tree(text) WHERE type = 'text' AND coalesce(key, '') NOT IN"
            " ('role', 'type', 'kind')), 1, 20000) AS BLOB) FROM (SELECT number, CAST(iif("
            "substr(body, 1, 4) = x'ff637263', substr(body, 9), body) AS TEXT) AS text FROM lines"
            " WHERE number IN (SELECT id FROM line_words_docsize))"
            " WHERE iif(json_valid(text), json_type(text) IN ('array', 'object'), 0)"
        ),
        "CREATE VIRTUAL TABLE temp.stems USING fts5vocab (main, line_words, instance)",
        (
            "INSERT INTO waiting SELECT doc, CAST(group_concat(term, ' ') AS BLOB) FROM stems"
            " WHERE doc NOT IN (SELECT number FROM waiting) GROUP BY doc"
        ),
        "DROP TABLE temp.stems",
        "DROP TABLE line_words",
        "DROP TABLE waiting_words",
    ),
    # A second index of names, in another order: a damaged page seldom hides a name in both.
    ("CREATE INDEX logs_by_end ON logs (substr(name, -8), name)",),
)


class SchemaError(Exception):
    """The file cannot be used: by this version, or since it is damaged."""


def version(connection: sqlite3.Connection) -> int:
    """The number of steps that the file has; 0 for an empty file. Call it inside a transaction.

    Raises SchemaError if the file belongs to another program, or to a newer Holdfast.
    """
    application, reached, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION and (application or reached or tables):
        raise SchemaError(
            "the file is the database of another program; give the store a file of its own"
        )
    if reached > len(STEPS):
        raise SchemaError(
            f"the file was written by a newer Holdfast (schema {reached}, this one knows "
            f"{len(STEPS)}); upgrade with pip install -U holdfast"
        )
    return int(reached)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the missing steps, all or none, also while others open the file.

    A file that is read-only can be read without the newest steps.
    """
    try:
        with transaction(connection, "immediate"):
            for step in STEPS[version(connection) :]:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {len(STEPS)}")
    except sqlite3.OperationalError as fault:
        if code_of(fault) != sqlite3.SQLITE_READONLY:
            raise


Synchronous = Literal["full", "normal"]

EXPLANATIONS = {
    sqlite3.SQLITE_FULL: "the disk is full; this write was not kept, all earlier ones are",
    sqlite3.SQLITE_IOERR: "the disk refuses to read or write; this call did nothing, earlier "
    "writes are kept",
    sqlite3.SQLITE_READONLY: "the file is read-only; nothing was written",
    sqlite3.SQLITE_PERM: "the file may not be used by this user",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check that its directory exists, and "
    "where it may not be written to, that no -wal file is beside it: copy both to where they may "
    "be",
    sqlite3.SQLITE_NOTADB: "the file is not a SQLite database; name another one",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a copy or name another one",
    sqlite3.SQLITE_TOOBIG: "the value is larger than the 1 GB that one entry may have",
}
"""Explanations by SQLite's primary result code."""

# errors of SQLite, of the system, and of reading what the file holds
_FAULTS = (sqlite3.Error, OSError, OverflowError, UnicodeDecodeError, SchemaError)
# SQLite's message if it may not create files next to the database
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_PAUSE = 0.01  # seconds before another process may have made its change of the log mode


@dataclass(eq=False)
class DatabaseFile:
    """A file that is opened at the first use, with one connection. Only its owner may read it.

    ``timeout``: seconds to wait for another process that writes. ``makes_folder``: whether a
    missing folder is created.
    """

    path: Path
    timeout: float
    synchronous: Synchronous
    makes_folder: bool

    def __post_init__(self) -> None:
        self._place = self.path.absolute()
        self._home: tuple[int, int] | None = None
        """Device and inode of the file when it was opened: it may be replaced meanwhile."""
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._closer: finalize[..., DatabaseFile] | None = None
        # A SQLite connection that a child inherits does not have the locks that it assumes: the
        # parent could delete a log into which the child still writes. So every file is closed
        # before a fork and opened again after it, in both processes.
        FILES.watch(self)

    @contextmanager
    def use(self) -> Generator[sqlite3.Connection]:
        """The connection, for this thread alone.

        Raises StoreError for errors of SQLite and the system.
        """
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except _FAULTS as fault:
                raise StoreError(f"sqlite store {self.path}: {self._explained(fault)}") from fault

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Like ``use``; all reads are of one moment."""
        with self.use() as connection, transaction(connection, "deferred"):
            yield connection

    @contextmanager
    def writing(self, *, flush: bool = True) -> Generator[sqlite3.Connection]:
        """Like ``use``; writes are on the disk after the block, or undone if it fails.

        Without ``flush`` a write survives the end of the process, but a power cut only after the
        next flushed write, which brings the whole write-ahead log to the disk.
        """
        level = self.synchronous if flush else "normal"
        with self.use() as connection:
            connection.execute(f"PRAGMA synchronous = {level}")
            with transaction(connection, "immediate"):
                yield connection
                if self._seen() != self._home:
                    problem = "the file was moved or deleted since it was opened"
                    raise StoreError(
                        f"sqlite store {self.path}: {problem}; nothing was written; "
                        "put it back, or open the store again"
                    )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._closer is not None and self._closer.detach():
                connection.close()  # now: a fork waits for the lock

    def acquire(self) -> None:
        """Close the file and keep every other thread from opening it, until ``release``."""
        self._lock.acquire()
        self.close()

    def release(self) -> None:
        """The inverse of ``acquire``."""
        self._lock.release()

    def _open(self) -> sqlite3.Connection:
        if self.makes_folder:
            self._place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would create it readable for all; the -wal and -shm files get its mode
        with suppress(FileExistsError):
            os.close(os.open(self._place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            connection = self._connected("")
        except sqlite3.OperationalError as fault:
            ahead = self._place.with_name(self._place.name + "-wal")
            if code_of(fault) not in _CLOSED or (ahead.exists() and ahead.stat().st_size):
                raise
            connection = self._connected("?immutable=1")  # the log is empty
        self._home = self._seen()
        return connection

    def _connected(self, options: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._place.as_uri() + options,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        try:
            with transaction(connection, "deferred"):
                reached = version(connection)  # raises for a file that is another program's
            if not options:
                self._log_ahead(connection)
                connection.execute(f"PRAGMA synchronous = {self.synchronous}")
                if reached < len(STEPS):
                    migrate(connection)
        except BaseException:
            connection.close()
            raise
        self._closer = finalize(self, FILES.end, partial(_let_go, self._lock, connection))
        return connection

    def _seen(self) -> tuple[int, int] | None:
        """Device and inode of the file that is at the path now."""
        with suppress(FileNotFoundError):
            found = self._place.stat()
            return found.st_dev, found.st_ino
        return None

    def _log_ahead(self, connection: sqlite3.Connection) -> None:
        """Turn the write-ahead log on.

        If two processes open a new file at once, SQLite refuses one without waiting, to avoid a
        deadlock; then it is tried again.
        """
        until = monotonic() + self.timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as fault:
                if code_of(fault) != sqlite3.SQLITE_BUSY or monotonic() > until:
                    raise
                sleep(_PAUSE)
            else:
                return

    def _explained(self, fault: Exception) -> str:
        if isinstance(fault, OSError):
            return f"{fault.strerror}; check the path and its directory"
        if isinstance(fault, UnicodeDecodeError):  # in SQLite's quotation of a schema, or in a key
            return "the file is damaged: it holds names that are not text"
        code = code_of(fault)
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            waited = f"another process has been writing for {self.timeout:g} s"
            return f"{waited}; try again, or set a longer timeout"
        return EXPLANATIONS.get(code, str(fault))


def _let_go(lock: RLock, connection: sqlite3.Connection) -> None:
    """Close the connection when no thread uses it, as one may at the end of a process."""
    with lock:
        connection.close()


def code_of(fault: Exception) -> int:
    """SQLite's primary result code; 255 for an error without one."""
    return getattr(fault, "sqlite_errorcode", -1) & 0xFF
