"""A store in a PostgreSQL database, for many machines and many threads.

An append is a function of the database, so that it is one round trip and one transaction. An
advisory lock serialises appends to one log; those to different logs do not wait for each other.
After a lost connection a call is repeated: each append has a unique number, by which the database
knows whether it was done.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import getpid
from threading import BoundedSemaphore
from time import monotonic, sleep, time
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit
from uuid import uuid4
from weakref import finalize

from holdfast.kernel.errors import ConfigError, MissingExtraError, StoreError
from holdfast.kernel.forks import brief_lock
from holdfast.stores.postings import Tallied, Wanted, blocks, tallied, waiting_words
from holdfast.stores.protocols import EntryStore, Line, shown, texts, to_bytes, to_text
from holdfast.text.similarity import POSTING

try:
    from psycopg import Connection, Cursor, Error, InterfaceError, OperationalError, connect
    from psycopg.errors import InsufficientPrivilege
    from psycopg.pq import TransactionStatus
except ImportError as missing:
    raise MissingExtraError("a PostgreSQL store", "postgres") from missing

T = TypeVar("T")
Row = tuple[Any, ...]

_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds before a lost connection is tried again
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


class Database:
    """Connections to one database, opened at the first use; a forked process opens its own."""

    def __init__(self, url: str, patience: float, connections: int) -> None:
        self._url, self._patience, self._most = url, patience, connections
        self._lock = brief_lock()
        self._pools: dict[int, _Pool] = {}
        self._ready = False

    def one(self, statement: str, facts: Any) -> Row:
        """The single row of the answer."""
        return self.all(statement, facts)[0]

    def all(self, statement: str, facts: Any) -> list[Row]:
        """The rows of the answer."""
        return self.ask(lambda connection: _run(connection, statement, facts).fetchall())

    def do(self, statement: str, facts: Any) -> None:
        """Execute a statement that may be repeated."""
        self.ask(lambda connection: _run(connection, statement, facts))

    def ask(self, work: Callable[[Connection[Row]], T]) -> T:
        """The result of ``work`` with a connection; it is repeated while the server is down.

        Raises StoreError if the server refuses, or stays away for ``patience`` seconds.
        """
        until, pause = monotonic() + self._patience, _PAUSE
        while True:
            try:
                if not self._ready:
                    self.migrate()
                with self._pool().connection() as connection:
                    return work(connection)
            except Error as fault:
                if not _is_passing(fault) or not self._ready or monotonic() > until:
                    raise self._store_error(fault) from fault
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def migrate(self) -> int:
        """Apply the missing steps of the schema, all or none; return their number."""
        try:
            with connect(self._url, autocommit=True, connect_timeout=10) as connection:
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
                found = self._pools[getpid()] = _Pool(self._url, self._most)
                finalize(self, found.close)
            return found

    def _store_error(self, fault: Error) -> StoreError:
        problem = " ".join(str(fault).split("\n")[0].split()) or type(fault).__name__
        if isinstance(fault, InsufficientPrivilege):
            problem += "; let a user who may run: holdfast store migrate"
        return StoreError(f"postgresql store {shown(self._url)}: {problem}")


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


def _run(connection: Connection[Row], statement: str, facts: Any) -> Cursor[Row]:
    return connection.execute(statement.encode(), facts, binary=True)


def _is_passing(fault: Error) -> bool:
    """Whether another attempt may succeed: a lost connection, or a conflict with others."""
    state = fault.sqlstate or ""
    if state:
        return state.startswith(("08", "40")) or state in {"57P01", "57P02", "57P03", "53300"}
    return isinstance(fault, OperationalError | InterfaceError)


def _migrated(connection: Connection[Row]) -> int:
    reached = _reached(connection)
    if reached == len(STEPS):
        return 0
    # until the connection closes; the transaction begins later, to see the newest tables
    connection.execute("SELECT pg_advisory_lock(%s)", (_MIGRATION,))
    with connection.transaction():
        reached = _reached(connection)
        if not reached:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS holdfast_schema (step integer PRIMARY KEY)"
            )
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


MOST_WAITING = 256
"""Lines whose words may wait to be indexed. A search scans this many in about 2 ms."""


_LENGTH = """SELECT coalesce(max(position) + 1, 0) FROM holdfast_lines
    WHERE log = holdfast_log(%(name)s)"""
_APPEND = """SELECT holdfast_append(
    %s, %s, %s, %s, %s::bytea[], %s::float8[], %s::bytea[], %s::bytea[])"""
_RANGE = """SELECT position, id, time, body FROM holdfast_lines
    WHERE log = holdfast_log(%(name)s) AND position BETWEEN %(first)s AND %(last)s
    ORDER BY position"""
_SOME = """SELECT position, id, time, body FROM holdfast_lines
    WHERE log = holdfast_log(%(name)s) AND position = ANY(%(places)s) ORDER BY position"""
_FIND = """SELECT id, position FROM holdfast_lines
    WHERE log = holdfast_log(%(name)s) AND id IS NOT NULL
    AND sha256(id) = ANY(SELECT sha256(wanted) FROM unnest(%(ids)s::bytea[]) AS wanted)"""
_BETWEEN = """SELECT position FROM holdfast_lines WHERE log = holdfast_log(%(name)s)
    AND time >= %(first)s AND time <= %(last)s ORDER BY time, position LIMIT %(most)s"""
_INDEX = "SELECT id, indexed, terms FROM holdfast_logs WHERE hash = sha256(%s)"
_WAITING = "SELECT position, words FROM holdfast_waiting WHERE log = %s ORDER BY position"
_TAKEN = "DELETE FROM holdfast_waiting WHERE log = %s RETURNING position, words"
_HOLDERS = """SELECT term, sum(holders)::bigint FROM holdfast_postings
    WHERE log = %s AND term = ANY(%s::bytea[]) GROUP BY term"""
_BLOCKS = """SELECT term, block FROM holdfast_postings
    WHERE log = %s AND term = ANY(%s::bytea[]) ORDER BY term, first"""
_POST = "INSERT INTO holdfast_postings VALUES (%s, %s, %s, %s, %s)"
_COUNT = "UPDATE holdfast_logs SET indexed = indexed + %s, terms = terms + %s WHERE id = %s"
_MERGE = """SELECT term FROM holdfast_postings WHERE log = %s
    GROUP BY term HAVING count(*) > 1"""
_MERGED = "DELETE FROM holdfast_postings WHERE log = %s AND term = %s RETURNING first, block"


class _PostgresPostings:
    """The index of one log, within a transaction."""

    def __init__(self, connection: Connection[Row], log: int, lines: int, terms: int) -> None:
        self._connection, self._log = connection, log
        self.lines, self.terms = lines, terms

    def waiting(self) -> list[Tallied]:
        return tallied(self._connection.execute(_WAITING, (self._log,)).fetchall())

    def holders(self, keys: Sequence[bytes]) -> list[Row]:
        return self._connection.execute(_HOLDERS, (self._log, keys)).fetchall()

    def blocks(self, keys: Sequence[bytes]) -> list[Row]:
        return self._connection.execute(_BLOCKS, (self._log, keys)).fetchall()


class PostgresLog:
    """A log in the database of a store."""

    def __init__(self, server: Database, name: str) -> None:
        self._server = server
        self._name = to_bytes(name)

    def length(self) -> int:
        """The number of lines."""
        return cast("int", self._server.one(_LENGTH, {"name": self._name})[0])

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append the lines in one transaction; return their positions."""
        if not lines:
            return []
        facts = (
            self._name,
            at,
            uuid4(),
            flush,
            [to_bytes(line.id) if line.id else None for line in lines],
            [float(line.time) for line in lines],
            [to_bytes(line.body) for line in lines],
            [waiting_words(line.words) if line.words else None for line in lines],
        )
        places: list[int] = self._server.one(_APPEND, facts)[0]
        if places and places[-1] // MOST_WAITING != (places[0] - 1) // MOST_WAITING:
            self._server.ask(self._index)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order."""
        if not positions:
            return {}
        first, last = min(positions), max(positions)
        facts = {"name": self._name, "first": first, "last": last, "places": list(positions)}
        whole = isinstance(positions, range) or last - first < len(positions)
        rows = self._server.all(_RANGE if whole else _SOME, facts)
        wanted = positions if isinstance(positions, range) else set(positions)
        return {
            place: Line(to_text("", body), to_text("", name or b""), moment)
            for place, name, moment, body in rows
            if place in wanted
        }

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        facts = {"name": self._name, "ids": [to_bytes(name) for name in ids if name]}
        return {to_text("", name): place for name, place in self._server.all(_FIND, facts)}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        facts = {"name": self._name, "first": first, "last": last, "most": most}
        return [place for (place,) in self._server.all(_BETWEEN, facts)]

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, best first.

        Of many words, or of words in many lines, the rarest are used.
        """
        wanted = Wanted(terms)
        return self._server.ask(lambda connection: self._best(connection, wanted, most))

    def compact(self) -> int:
        """Merge the blocks of each term into one; return the number of removed blocks."""
        return self._server.ask(self._merged)

    def _best(self, connection: Connection[Row], wanted: Wanted, most: int) -> dict[int, float]:
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            found = connection.execute(_INDEX, (self._name,)).fetchone()
            return wanted.scores(_PostgresPostings(connection, *found), most) if found else {}

    def _index(self, connection: Connection[Row]) -> None:
        """Index the waiting words."""
        with connection.transaction():
            log = self._locked(connection)
            rows = connection.execute(_TAKEN, (log,)).fetchall()
            made, total = blocks(sorted(tallied(rows)))
            with connection.cursor() as cursor:
                cursor.executemany(_POST, [_row(log, *block) for block in made.items()])
            connection.execute(_COUNT, (len(rows), total, log))

    def _merged(self, connection: Connection[Row]) -> int:
        self._index(connection)
        gone = 0
        with connection.transaction():
            log = self._locked(connection)
            for (term,) in connection.execute(_MERGE, (log,)).fetchall():
                rows = connection.execute(_MERGED, (log, term)).fetchall()
                block = b"".join(block for _, block in sorted(rows))
                connection.execute(_POST, _row(log, term, block))
                gone += len(rows) - 1
        return gone

    def _locked(self, connection: Connection[Row]) -> int | None:
        """The number of the log, locked for the transaction; None for an empty log."""
        connection.execute("SELECT holdfast_lock(sha256(%s))", (self._name,))
        found = connection.execute(_INDEX, (self._name,)).fetchone()
        return cast("int", found[0]) if found else None


def _row(log: int | None, term: bytes, block: bytes) -> Row:
    return log, term, POSTING.unpack_from(block)[0], len(block) // POSTING.size, block


_GET = """SELECT value FROM holdfast_entries
    WHERE hash = sha256(%s) AND (ends IS NULL OR ends > %s)"""
_SET = """INSERT INTO holdfast_entries (hash, key, value, ends)
    SELECT DISTINCT ON (key) sha256(key), key, value, %s::float8
    FROM unnest(%s::bytea[], %s::bytea[]) AS given (key, value) ORDER BY key
    ON CONFLICT (hash) DO UPDATE SET value = excluded.value, ends = excluded.ends"""
_GLANCE = """SELECT
    ARRAY(SELECT value FROM unnest(%(keys)s::bytea[]) WITH ORDINALITY AS wanted (key_, n)
        LEFT JOIN holdfast_entries ON hash = sha256(key_) AND (ends IS NULL OR ends > %(now)s)
        ORDER BY n),
    ARRAY(SELECT (SELECT coalesce(max(position) + 1, 0) FROM holdfast_lines
            WHERE log = holdfast_log(name_))
        FROM unnest(%(logs)s::bytea[]) WITH ORDINALITY AS wanted (name_, n) ORDER BY n)"""
_CLAIM = """INSERT INTO holdfast_entries (hash, key, value)
    VALUES (sha256(%(key)s), %(key)s, %(value)s)
    ON CONFLICT (hash) DO UPDATE SET value = excluded.value, ends = NULL
    WHERE holdfast_entries.ends <= %(now)s RETURNING 1"""
_DELETE = "DELETE FROM holdfast_entries WHERE hash = sha256(%s)"
_FORGET = "DELETE FROM holdfast_entries WHERE ends <= %s"
_LIST = """SELECT key FROM holdfast_entries
    WHERE substring(key FOR 256) >= substring(%(start)s FOR 256)
    AND substring(key FOR 256) <= %(end)s AND key >= %(start)s AND key < %(end)s
    AND (ends IS NULL OR ends > %(now)s) ORDER BY key"""
_LOGS = """SELECT name FROM holdfast_logs
    WHERE substring(name FOR 256) >= substring(%(start)s FOR 256)
    AND substring(name FOR 256) <= %(end)s AND name >= %(start)s AND name < %(end)s
    AND EXISTS (SELECT 1 FROM holdfast_lines WHERE log = holdfast_logs.id) ORDER BY name"""
_ERASE = "DELETE FROM holdfast_logs WHERE hash = sha256(%s)"


class PostgresStore(EntryStore):
    """A PostgreSQL database, 13 or newer, safe with many threads, processes and machines.

    A write is on the server's disk before the call returns (unless the server is set not to wait
    for it), and is complete or absent if a process is killed. ``patience``: seconds to wait for a
    server that is down or restarting. ``connections``: the most that are open at once. ``clock``:
    Unix seconds, for expiry. Tables are created at the first use; if the user may not create them,
    ``holdfast store migrate`` does. Errors are StoreError.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float = 30.0,
        connections: int = 8,
        clock: Callable[[], float] = time,
    ) -> None:
        self._server = Database(url, patience, connections)
        self._clock = clock

    @classmethod
    def from_url(cls, url: str) -> PostgresStore:
        """The store of ``postgresql://user:password@host:port/database``, with options of libpq."""
        if not urlsplit(url).path.strip("/"):
            raise ConfigError(
                f"{shown(url)!r} names no database",
                place="store",
                advice="write 'postgresql://user@host/database'",
            )
        return cls(url)

    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""
        found = self._server.all(_GET, (to_bytes(key), self._clock()))
        return found[0][0] if found else None

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. Only one of many callers gets True.

        If the connection was lost meanwhile and the key has the same value, this call counts as the
        one that stored it.
        """
        facts = {"key": to_bytes(key), "value": value, "now": self._clock()}
        tries = 0

        def claim(connection: Connection[Row]) -> bool:
            nonlocal tries
            tries += 1
            if connection.execute(_CLAIM, facts).fetchone() is not None:
                return True
            if tries == 1:
                return False
            held = connection.execute(_GET, (facts["key"], facts["now"])).fetchone()
            return held == (value,)

        return self._server.ask(claim)

    def delete(self, key: str) -> None:
        """Delete the key."""
        self._server.do(_DELETE, (to_bytes(key),))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        return self._names(_LIST, prefix)

    def log(self, name: str) -> PostgresLog:
        """The log of this name, which may be empty."""
        return PostgresLog(self._server, name)

    def glance(
        self, keys: Sequence[str], logs: Sequence[str]
    ) -> tuple[list[str | None], list[int]]:
        """The values of the keys and the lengths of the logs, from one moment."""
        facts = {
            "keys": list(map(to_bytes, keys)),
            "logs": list(map(to_bytes, logs)),
            "now": self._clock(),
        }
        rows, lengths = self._server.one(_GLANCE, facts)
        return texts(keys, rows), lengths

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        return self._names(_LOGS, prefix)

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines and their index."""
        self._server.do(_ERASE, (to_bytes(name),))

    def migrate(self) -> int:
        """Apply the missing steps of the schema; return their number."""
        return self._server.migrate()

    def compact(self) -> None:
        """Merge the index of every log."""
        for name in self.logs():
            self.log(name).compact()

    def check(self) -> list[str]:
        """The server settings that weaken the guarantees of the store, one text for each."""
        names = ("fsync", "full_page_writes", "synchronous_commit")
        rows = [(name, self._server.one(f"SHOW {name}", ())[0]) for name in names]
        return [
            f"the server runs with {name} = off: a crash of it may lose what was acknowledged"
            for name, value in rows
            if value == "off"
        ]

    leftovers = "bytes of rows until VACUUM FULL, and back-ups and archives of the write-ahead log"

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._server.close()

    def _write(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        now = self._clock()
        ends = None if seconds is None else float(now + seconds)
        if ends is not None:
            self._server.do(_FORGET, (now,))
        if values:
            names = [to_bytes(key) for key in values]
            self._server.do(_SET, (ends, names, list(values.values())))

    def _names(self, question: str, prefix: str) -> list[str]:
        start = to_bytes(prefix)
        facts = {"start": start, "end": start + b"\xff", "now": self._clock()}
        return [to_text("", name) for (name,) in self._server.all(question, facts)]
