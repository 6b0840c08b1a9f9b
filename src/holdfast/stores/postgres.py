"""A store in a PostgreSQL database, for many machines and many threads.

An append is a function of the database, so that it is one round trip and one transaction. An
advisory lock serialises appends to one log; those to different logs do not wait for each other.
After a lost connection a call is repeated: each append has a unique number, by which the database
knows whether it was done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import time
from urllib.parse import urlsplit
from uuid import uuid4

from holdfast.text.similarity import POSTING, Scores

from .entries import EntryStore
from .postgres_database import Connection, Database, Row
from .postings import blocks, scores, tallied, waiting_words
from .protocols import Line, as_text, shown, to_bytes, to_text, unusable

MOST_WAITING = 256
"""Lines whose words may wait to be indexed. A search scans this many in about 2 ms."""


_OF_LOG = "FROM holdfast_lines WHERE log = holdfast_log(%s)"
_LENGTH = f"SELECT coalesce(max(position) + 1, 0) {_OF_LOG}"
_APPEND = """SELECT holdfast_append(
    %s, %s, %s, %s, %s::bytea[], %s::float8[], %s::bytea[], %s::bytea[])"""
_READ = f"""SELECT position, id, time, body {_OF_LOG}
    AND position = ANY(%s::bigint[]) ORDER BY position"""
_FIND = """SELECT id, position FROM holdfast_lines
    WHERE log = holdfast_log(%s) AND id IS NOT NULL
    AND sha256(id) = ANY(SELECT sha256(wanted) FROM unnest(%s::bytea[]) AS wanted)"""
_BETWEEN = f"""SELECT position {_OF_LOG}
    AND time >= %s AND time <= %s ORDER BY time, position LIMIT %s"""
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


@dataclass
class _PostgresPostings:
    """The index of one log, within a transaction."""

    connection: Connection[Row]
    log: int
    lines: int
    terms: int

    def holders(self, keys: Sequence[bytes]) -> list[Row]:
        return self.connection.execute(_HOLDERS, (self.log, keys)).fetchall()

    def blocks(self, keys: Sequence[bytes]) -> list[Row]:
        return self.connection.execute(_BLOCKS, (self.log, keys)).fetchall()


@dataclass
class PostgresLog:
    """A log in the database of a store."""

    server: Database
    name: bytes

    def length(self) -> int:
        """The number of lines."""
        return int(self.server.one(_LENGTH, (self.name,))[0])

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append the lines in one transaction; return their positions."""
        if not lines:
            return []
        facts = (
            self.name,
            at,
            uuid4(),
            flush,
            [to_bytes(line.id) if line.id else None for line in lines],
            [float(line.time) for line in lines],
            [to_bytes(line.body) for line in lines],
            [waiting_words(line.words) if line.words else None for line in lines],
        )
        places: list[int] = self.server.one(_APPEND, facts)[0]
        if places and places[-1] // MOST_WAITING != (places[0] - 1) // MOST_WAITING:
            self.server.ask(self._index)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order."""
        return {
            place: Line(to_text("", body), to_text("", name or b""), moment)
            for place, name, moment, body in self.server.all(_READ, (self.name, list(positions)))
        }

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        rows = self.server.all(_FIND, (self.name, [to_bytes(name) for name in ids if name]))
        return {to_text("", name): place for name, place in rows}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        return [place for (place,) in self.server.all(_BETWEEN, (self.name, first, last, most))]

    def search(self, terms: Sequence[str], most: int) -> Scores:
        """BM25 scores by position, best first.

        Of many words, or of words in many lines, the rarest are used.
        """

        def best(connection: Connection[Row]) -> Scores:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                found = connection.execute(_INDEX, (self.name,)).fetchone()
                if found is None:
                    return {}
                waiting = tallied(connection.execute(_WAITING, found[:1]).fetchall())
                return scores(terms, _PostgresPostings(connection, *found), most, waiting)

        return self.server.ask(best)

    def compact(self) -> None:
        """Merge the blocks of each term into one."""
        self.server.ask(self._merge)

    def _index(self, connection: Connection[Row]) -> None:
        """Index the waiting words."""
        with connection.transaction():
            log = self._locked(connection)
            rows = connection.execute(_TAKEN, (log,)).fetchall()
            made, total = blocks(sorted(tallied(rows)))
            with connection.cursor() as cursor:
                cursor.executemany(_POST, [_row(log, *block) for block in made.items()])
            connection.execute(_COUNT, (len(rows), total, log))

    def _merge(self, connection: Connection[Row]) -> None:
        self._index(connection)
        with connection.transaction():
            log = self._locked(connection)
            for (term,) in connection.execute(_MERGE, (log,)).fetchall():
                rows = connection.execute(_MERGED, (log, term)).fetchall()
                block = b"".join(block for _, block in sorted(rows))
                connection.execute(_POST, _row(log, term, block))

    def _locked(self, connection: Connection[Row]) -> int | None:
        """The number of the log, locked for the transaction; None for an empty log."""
        connection.execute("SELECT holdfast_lock(sha256(%s))", (self.name,))
        found = connection.execute(_INDEX, (self.name,)).fetchone()
        return int(found[0]) if found else None


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
_LIST = """SELECT key FROM holdfast_entries
    WHERE substring(key FOR 256) >= substring(%(start)s FOR 256)
    AND substring(key FOR 256) <= %(end)s AND key >= %(start)s AND key < %(end)s
    AND (ends IS NULL OR ends > %(now)s) ORDER BY key"""
_LOGS = """SELECT name FROM holdfast_logs
    WHERE substring(name FOR 256) >= substring(%(start)s FOR 256)
    AND substring(name FOR 256) <= %(end)s AND name >= %(start)s AND name < %(end)s
    AND EXISTS (SELECT 1 FROM holdfast_lines WHERE log = holdfast_logs.id) ORDER BY name"""


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
        super().__init__(clock)
        self._server = Database(url, patience, connections)

    @classmethod
    def from_url(cls, url: str) -> PostgresStore:
        """The store of ``postgresql://user:password@host:port/database``, with options of libpq."""
        if not urlsplit(url).path.strip("/"):
            problem = f"{shown(url)!r} names no database"
            raise unusable(problem, "write 'postgresql://user@host/database'")
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
            return connection.execute(_GET, (facts["key"], facts["now"])).fetchone() == (value,)

        return self._server.ask(claim)

    def delete(self, key: str) -> None:
        """Delete the key."""
        self._server.all("DELETE FROM holdfast_entries WHERE hash = sha256(%s)", (to_bytes(key),))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        return self._names(_LIST, prefix)

    def log(self, name: str) -> PostgresLog:
        """The log of this name, which may be empty."""
        return PostgresLog(self._server, to_bytes(name))

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
        return list(map(as_text, keys, rows)), lengths

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        return self._names(_LOGS, prefix)

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines and their index."""
        self._server.all("DELETE FROM holdfast_logs WHERE hash = sha256(%s)", (to_bytes(name),))

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
        return [
            f"the server runs with {name} = off: a crash of it may lose what was acknowledged"
            for name in names
            if self._server.one(f"SHOW {name}", ())[0] == "off"
        ]

    leftovers = "bytes of rows until VACUUM FULL, and back-ups and archives of the write-ahead log"

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._server.close()

    def _write(self, values: Mapping[str, bytes], ends: float | None = None) -> None:
        if ends is not None:
            self._server.all("DELETE FROM holdfast_entries WHERE ends <= %s", (self._clock(),))
        if values:
            self._server.all(_SET, (ends, list(map(to_bytes, values)), list(values.values())))

    def _names(self, question: str, prefix: str) -> list[str]:
        start = to_bytes(prefix)
        facts = {"start": start, "end": start + b"\xff", "now": self._clock()}
        return [to_text("", name) for (name,) in self._server.all(question, facts)]
