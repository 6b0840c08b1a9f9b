"""A PostgreSQL database: connections that outlive a restart of the server, and the schema."""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import getpid
from threading import BoundedSemaphore
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import finalize

from holdfast.kernel.errors import StoreError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.registry import needed_by

from .protocols import shown

with needed_by("a PostgreSQL store", "postgres"):
    from psycopg import Connection, Error, InterfaceError, OperationalError, connect
    from psycopg.errors import InsufficientPrivilege
    from psycopg.pq import TransactionStatus

__all__ = ["Connection", "Database", "Row"]

T = TypeVar("T")
Row = tuple[Any, ...]

# seconds before a lost connection is tried again: a server that was restarted is found at once,
# and one that stays away is not asked more than once a second
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_PASSING = frozenset({"57P01", "57P02", "57P03", "53300"})  # the server ends, starts or is full
_LOST = (OperationalError, InterfaceError)
_MIGRATION = 0x486F6C64  # the advisory lock for changes of the schema: "Hold"

STEPS: tuple[str, ...] = (
    # Keys, names and ids are UTF-8 as bytes: any text, in the order of its code points. They are
    # found by their hash, because an index key has at most 2,700 bytes. ``ends`` is in Unix
    # seconds.
    """
    CREATE TABLE holdfast_entries (
        hash bytea PRIMARY KEY, key bytea NOT NULL, value bytea NOT NULL, ends float8
    );
    CREATE INDEX holdfast_entries_by_key ON holdfast_entries (substring(key FOR 256));
    CREATE INDEX holdfast_entries_by_end ON holdfast_entries (ends) WHERE ends IS NOT NULL;
    CREATE TABLE holdfast_logs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        hash bytea NOT NULL UNIQUE, name bytea NOT NULL,
        indexed bigint NOT NULL DEFAULT 0, terms bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX holdfast_logs_by_name ON holdfast_logs (substring(name FOR 256));
    CREATE TABLE holdfast_lines (
        log bigint NOT NULL REFERENCES holdfast_logs ON DELETE CASCADE,
        position bigint NOT NULL, id bytea, time float8 NOT NULL, body bytea NOT NULL, append uuid,
        PRIMARY KEY (log, position)
    );
    CREATE UNIQUE INDEX holdfast_lines_by_id ON holdfast_lines (log, sha256(id))
        WHERE id IS NOT NULL;
    CREATE UNIQUE INDEX holdfast_lines_by_append ON holdfast_lines (log, append)
        WHERE append IS NOT NULL;
    CREATE INDEX holdfast_lines_by_time ON holdfast_lines (log, time, position);
    CREATE TABLE holdfast_waiting (
        log bigint NOT NULL REFERENCES holdfast_logs ON DELETE CASCADE,
        position bigint NOT NULL, words bytea NOT NULL, PRIMARY KEY (log, position)
    );
    CREATE TABLE holdfast_postings (
        log bigint NOT NULL REFERENCES holdfast_logs ON DELETE CASCADE,
        term bytea NOT NULL, first bigint NOT NULL, holders integer NOT NULL, block bytea NOT NULL,
        PRIMARY KEY (log, term, first)
    );
    CREATE FUNCTION holdfast_lock(hash bytea) RETURNS void LANGUAGE sql AS $$
        SELECT pg_advisory_xact_lock(('x' || encode(substring(hash FOR 8), 'hex'))::bit(64)::bigint)
    $$;
    CREATE FUNCTION holdfast_log(name_ bytea) RETURNS bigint LANGUAGE sql STABLE AS $$
        SELECT id FROM holdfast_logs WHERE hash = sha256(name_)
    $$;
    CREATE FUNCTION holdfast_append(
        name_ bytea, at_ bigint, append_ uuid, flush_ boolean,
        ids bytea[], times float8[], bodies bytea[], words bytea[]
    ) RETURNS bigint[] LANGUAGE plpgsql AS $$
    DECLARE
        log_ bigint; next_ bigint; place bigint; places bigint[] := '{}';
        kept boolean; mark uuid := append_;
    BEGIN
        IF NOT flush_ THEN
            PERFORM set_config('synchronous_commit', 'off', true);
        END IF;
        PERFORM holdfast_lock(sha256(name_));
        SELECT id INTO log_ FROM holdfast_logs WHERE hash = sha256(name_);
        IF log_ IS NULL THEN
            INSERT INTO holdfast_logs (hash, name) VALUES (sha256(name_), name_)
                RETURNING id INTO log_;
        END IF;
        SELECT position INTO next_ FROM holdfast_lines WHERE log = log_ AND append = append_;
        kept := FOUND;
        IF NOT kept THEN
            SELECT coalesce(max(position) + 1, 0) INTO next_ FROM holdfast_lines WHERE log = log_;
            IF at_ <> next_ THEN
                RETURN places;
            END IF;
        END IF;
        FOR i IN 1 .. cardinality(bodies) LOOP
            place := NULL;
            IF ids[i] IS NOT NULL THEN
                SELECT position INTO place FROM holdfast_lines
                    WHERE log = log_ AND sha256(id) = sha256(ids[i]) AND id IS NOT NULL;
            END IF;
            IF place IS NULL AND NOT kept THEN
                INSERT INTO holdfast_lines (log, position, id, time, body, append)
                    VALUES (log_, next_, ids[i], times[i], bodies[i], mark);
                mark := NULL;
                IF words[i] IS NOT NULL THEN
                    INSERT INTO holdfast_waiting VALUES (log_, next_, words[i]);
                END IF;
            END IF;
            place := coalesce(place, next_);
            IF place = next_ THEN
                next_ := next_ + 1;
            END IF;
            places := places || place;
        END LOOP;
        RETURN places;
    END $$;
    """,
    # From this step on, words wait as counted terms. Earlier versions would read them as text; the
    # step makes them refuse the database.
    """
    COMMENT ON COLUMN holdfast_waiting.words IS 'counted terms; in the first schema, text'
    """,
)
"""The steps of the schema. A step that was released never changes."""


@dataclass(repr=False)
class Database:
    """Connections to one database, opened at the first use; a forked process opens its own."""

    url: str
    patience: float
    connections: int

    def __post_init__(self) -> None:
        self._lock = brief_lock()
        self._pools: dict[int, _Pool] = {}
        self._ready = False

    def one(self, statement: str, facts: Any) -> Row:
        """The single row of the answer."""
        return self.all(statement, facts)[0]

    def all(self, statement: str, facts: Any) -> list[Row]:
        """Execute a statement that may be repeated, and return the rows of the answer."""

        def rows(connection: Connection[Row]) -> list[Row]:
            found = connection.execute(statement.encode(), facts, binary=True)
            return found.fetchall() if found.description else []

        return self.ask(rows)

    def ask(self, work: Callable[[Connection[Row]], T]) -> T:
        """The result of ``work`` with a connection; it is repeated while the server is down.

        Raises StoreError if the server refuses, or stays away for ``patience`` seconds.
        """
        until, pause = monotonic() + self.patience, _PAUSE
        while True:
            try:
                if not self._ready:
                    self.migrate()
                with self._pool().connection() as connection:
                    return work(connection)
            except Error as fault:
                state = fault.sqlstate or ""
                # another attempt may succeed: a lost connection, or a conflict with others
                passing = state.startswith(("08", "40")) or state in _PASSING
                passing = passing or (not state and isinstance(fault, _LOST))
                if not passing or not self._ready or monotonic() > until:
                    raise self._store_error(fault) from fault
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def migrate(self) -> int:
        """Apply the missing steps of the schema, all or none; return their number."""
        try:
            with connect(self.url, autocommit=True, connect_timeout=10) as connection:
                taken = 0
                if _reached(connection) < len(STEPS):
                    # until the connection closes; the transaction begins later, to see the newest
                    # tables
                    connection.execute("SELECT pg_advisory_lock(%s)", (_MIGRATION,))
                    with connection.transaction():
                        taken = _migrated(connection)
        except Error as fault:
            raise self._store_error(fault) from fault
        self._ready = True
        return taken

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            pool = self._pools.pop(getpid(), None)
        if pool is not None:
            pool.close()

    def _pool(self) -> _Pool:
        with self._lock:
            # connections of the parent process are not ours, and stay open
            found = self._pools.get(getpid())
            if found is None:
                found = self._pools[getpid()] = _Pool(self.url, self.connections)
                finalize(self, found.close)
            return found

    def _store_error(self, fault: Error) -> StoreError:
        problem = " ".join(str(fault).split("\n")[0].split()) or type(fault).__name__
        if isinstance(fault, InsufficientPrivilege):
            problem += "; let a user who may run: holdfast store migrate"
        return StoreError(f"postgresql store {shown(self.url)}: {problem}")


class _Pool:
    """Connections of one process. An idle connection is checked before it is used.

    psycopg_pool is not used: while a server restarts it waits up to a minute between two attempts,
    and does not report the reason.
    """

    def __init__(self, url: str, most: int) -> None:
        self._url, self._process = url, getpid()
        self._room = BoundedSemaphore(most)
        self._idle: deque[Connection[Row]] = deque()

    @contextmanager
    def connection(self) -> Generator[Connection[Row]]:
        """A connection for this thread alone; waits while too many are in use."""
        with self._room:
            connection = self._waiting() or connect(self._url, autocommit=True, connect_timeout=10)
            try:
                yield connection
            finally:
                if connection.info.transaction_status == TransactionStatus.IDLE:
                    self._idle.append(connection)
                else:
                    connection.close()

    def close(self) -> None:
        """Close the idle connections, unless they belong to the parent of this process."""
        while self._idle and self._process == getpid():
            self._idle.pop().close()

    def _waiting(self) -> Connection[Row] | None:
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                # an idle connection has data to read only if the server closed it
                if not select.select([connection.fileno()], [], [], 0)[0]:
                    return connection
                connection.close()
        return None


def _migrated(connection: Connection[Row]) -> int:
    reached = _reached(connection)
    if not reached:
        connection.execute("CREATE TABLE IF NOT EXISTS holdfast_schema (step integer PRIMARY KEY)")
    for number, step in enumerate(STEPS[reached:], reached + 1):
        connection.execute(step.encode())
        connection.execute("INSERT INTO holdfast_schema VALUES (%s)", (number,))
    return len(STEPS) - reached


def _reached(connection: Connection[Row]) -> int:
    """The number of steps that the schema has.

    Raises StoreError if a newer Holdfast added steps.
    """
    (known,) = connection.execute("SELECT to_regclass('holdfast_schema')").fetchone() or (None,)
    if known is None:
        return 0
    (reached,) = connection.execute(
        "SELECT coalesce(max(step), 0) FROM holdfast_schema"
    ).fetchone() or (0,)
    if reached > len(STEPS):
        raise StoreError(
            f"the database was written by a newer Holdfast (schema {reached}, this one knows "
            f"{len(STEPS)}); upgrade with pip install -U holdfast"
        )
    return int(reached)
