"""What breaks first as threads become more: measured with rows of a real store, then simulated.

``python -m benchmarks.scale --store sqlite --threads 1000000``, or ``--store postgres``, whose
server is started for it. A session writes one thread; the others are copies of its rows, which is
how a store of a million threads is made in minutes. Then threads are opened, fitted, searched and
appended to as by machines that have not seen them. Times are of processors, those of the server
included. The simulation lets a million threads send a request each, through proxies that share the
store, faster and faster until requests wait; its service times are those that were measured.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from heapq import heapify, heapreplace
from pathlib import Path
from time import perf_counter, process_time

import psycopg

from holdfast.session import Session
from holdfast.stores import open_store
from tests.servers.programs import Postgres, facts_of

SHORT, LONG = 8, 100  # messages of a thread
MANY = (1_000_000, 100_000_000)  # threads, and messages of all together
SEEN = 60  # threads that are used at each size
BUDGET = 2_000
QUESTION = "Which port has srv-0-3?"
TERMS = ["port", "srv 0 3"]

# the logs of copy k have the numbers of the first thread's plus 10 k
SQLITE = (
    """INSERT INTO logs (id, name, length, parts, indexed, terms) SELECT id + 10 * k,
    CAST(replace(CAST(name AS TEXT), 't0', 't' || k) AS BLOB), length, parts, indexed, terms
    FROM n, logs WHERE id < 10""",
    """INSERT INTO lines SELECT number + (k * 10 << 32), log + 10 * k, id, time, substr(body, 9)
    FROM n, lines WHERE number < 10 << 32""",
    """INSERT INTO postings SELECT log + 10 * k, part, term, at, block
    FROM n, postings WHERE log < 10""",
    """INSERT INTO entries SELECT CAST('session:t' || k AS BLOB), substr(value, 9), ends
    FROM n, entries WHERE key = CAST('session:t0' AS BLOB)""",
)
_SERIES = "WITH RECURSIVE n (k) AS (VALUES (?) UNION ALL SELECT k + 1 FROM n WHERE k < ?) "
POSTGRES = (
    """INSERT INTO holdfast_logs (id, hash, name, indexed, terms) OVERRIDING SYSTEM VALUE
    SELECT id + 10 * k, sha256(new), new, indexed, terms FROM generate_series(%s::int, %s) AS k,
    LATERAL (SELECT id, indexed, terms, convert_to(replace(convert_from(name, 'UTF8'),
    't0', 't' || k), 'UTF8') AS new FROM holdfast_logs WHERE id < 10) AS first""",
    """INSERT INTO holdfast_lines SELECT log + 10 * k, position, id, time, body, NULL
    FROM generate_series(%s::int, %s) AS k, holdfast_lines WHERE log < 10""",
    """INSERT INTO holdfast_postings SELECT log + 10 * k, term, first, holders, block
    FROM generate_series(%s::int, %s) AS k, holdfast_postings WHERE log < 10""",
    """INSERT INTO holdfast_entries SELECT sha256(new), new, value, ends
    FROM generate_series(%s::int, %s) AS k, LATERAL (SELECT value, ends, convert_to(
    'session:t' || k, 'UTF8') AS new FROM holdfast_entries WHERE key = 'session:t0') AS first""",
)


class Sqlite:
    """A file in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "many.db"
        self.url = f"sqlite:///{self._file}"

    def copy(self, first: int, last: int) -> None:
        """Copy the first thread to these numbers."""
        with closing(sqlite3.connect(self._file)) as connection, connection:
            for statement in SQLITE:
                connection.execute(_SERIES + statement, (first, last))
        self.size()

    def compact(self) -> None:
        """Index what waits."""
        open_store(self.url).compact()

    def size(self) -> int:
        """Bytes on the disk, with all of the write-ahead log in the file."""
        with closing(sqlite3.connect(self._file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self._file.stat().st_size

    def processor(self) -> float:
        """Seconds of processor time of a server: there is none."""
        return 0.0


class Server:
    """A PostgreSQL server."""

    def __init__(self, server: Postgres) -> None:
        self._server, self.url = server, server.url

    def copy(self, first: int, last: int) -> None:
        """Copy the first thread to these numbers."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in POSTGRES:
                connection.execute(statement.encode(), (first, last))
            connection.execute("SELECT setval('holdfast_logs_id_seq', max(id)) FROM holdfast_logs")
            connection.execute("ANALYZE")
            connection.execute("CHECKPOINT")

    def compact(self) -> None:
        """Index what waits."""
        open_store(self.url).compact()

    def size(self) -> int:
        """Bytes on the disk, without the write-ahead log."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    def processor(self) -> float:
        """Seconds of processor time of all processes of the server that run."""
        ticks = 0
        for place in Path("/proc").glob("[0-9]*/stat"):
            facts = facts_of(place)
            if facts[1:2] == [str(self._server.pid)]:
                ticks += sum(map(int, facts[11:13]))
            elif place.parent.name == str(self._server.pid):
                ticks += sum(map(int, facts[11:15]))  # with those that have ended
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def opened(kind: str) -> Iterator[Sqlite | Server]:
    """The store of this kind, which is gone afterwards."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield Sqlite(Path(folder))
        return
    server = Postgres().start()
    try:
        yield Server(server)
    finally:
        server.end()


def write(url: str, name: str, messages: int) -> None:
    """Write a thread: questions, and answers with names that are told once."""
    store = open_store(url)
    with Session(name, store=store, budget=BUDGET) as session:
        for n in range(0, messages, 2):
            names = " ".join(f"srv-{n}-{k} has port {8_000 + n * 131 + k}," for k in range(5))
            session.append(
                {"role": "user", "content": f"What is in list {n} of this job?"},
                {"role": "assistant", "content": f"It holds {names} and no more."},
            )
        session.fit()
    store.close()


class Clock:
    """Seconds of processor time of this process and of the server, one for each of ``SEEN``."""

    def __init__(self, server: Callable[[], float]) -> None:
        self._server = server

    def each(self, work: Callable[[], object]) -> tuple[float, float]:
        """Of this process, and of the server."""
        here, there = process_time(), self._server()
        work()
        return (process_time() - here) / SEEN, (self._server() - there) / SEEN


Times = dict[str, tuple[float, float]]


def used(kept: Sqlite | Server, names: list[str]) -> Times:
    """The times of each operation on these threads."""
    store = open_store(kept.url)
    store.get("opened")
    sessions: list[Session] = []
    clock = Clock(kept.processor)
    times = {
        "open": clock.each(
            lambda: sessions.extend(Session(name, store=store, budget=BUDGET) for name in names)
        )
    }
    logs = {name: store.log(f"messages:{name}") for name in names}
    for name, work in (
        ("search", lambda session: logs[session.thread].search(TERMS, 9)),
        ("append", lambda session: session.append({"role": "user", "content": QUESTION})),
        ("fit", lambda session: session.fit()),
        ("close", lambda session: session.close()),
    ):
        times[name] = clock.each(lambda work=work: [work(session) for session in sessions])
    store.close()
    return times


def told(times: Times) -> str:
    """The times in milliseconds."""
    both = (f"{name} {1e3 * here:.2f}+{1e3 * there:.2f}" for name, (here, there) in times.items())
    return ", ".join(both)


def flush_time(folder: Path) -> float:
    """Median seconds in which the disk flushes 4 KB."""
    times: list[float] = []
    with (folder / "flushed").open("wb") as file:
        for _ in range(200):
            file.write(bytes(4_096))
            file.flush()
            begun = perf_counter()
            os.fsync(file.fileno())
            times.append(perf_counter() - begun)
    return sorted(times)[100]


def served(arrivals: list[float], servers: int, seconds: float) -> list[float]:
    """When requests leave servers with one queue, each after a random time with this mean."""
    free = [0.0] * servers
    heapify(free)
    ends: list[float] = []
    for moment in arrivals:
        ends.append(max(moment, free[0]) + random.expovariate(1 / seconds))
        heapreplace(free, ends[-1])
    return sorted(ends)


def flushed(arrivals: list[float], seconds: float) -> list[float]:
    """When a disk has flushed each write: all that wait are flushed at once."""
    ends: list[float] = []
    end = 0.0
    for moment in arrivals:
        if moment > end - seconds:  # the flush before began without it
            end = max(moment, end) + seconds
        ends.append(end)
    return ends


def waits(
    rate: float, requests: int, proxies: int, here: float, there: float, disk: float
) -> float:
    """The time in seconds that 99 of 100 requests keep to, at so many requests a second."""
    arrivals = sorted(random.random() * requests / rate for _ in range(requests))
    ends = served(arrivals, 2 * proxies, here)
    if there:
        ends = served(ends, 2, there)
    ends = flushed(flushed(ends, disk), disk)  # the question is appended, and the answer
    late = sorted(end - moment for end, moment in zip(ends, arrivals, strict=True))
    return late[requests * 99 // 100]


def simulate(times: Times, disk: float, threads: int, *, server: bool) -> None:
    """Print for numbers of proxies at which rate requests begin to wait, and for what."""
    steps = ("open", "append", "fit", "append", "close")
    here = sum(times[step][0] for step in steps)
    there = sum(times[step][1] for step in steps) if server else 0.0
    print(f"simulated, {threads:,} threads with a request each; 99 of 100 are done within 1 s:")
    for proxies in (1, 4, 16, 64) if server else (1,):
        rate, p99 = 0.85 / max(here / (2 * proxies), there / 2), 0.0
        while (late := waits(rate, threads, proxies, here, there, disk)) < 1:
            rate, p99 = rate * 1.02, late
        rate /= 1.02
        busy = {
            "processors of the proxies": rate * here / (2 * proxies),
            "processors of the database": rate * there / 2,
        }
        worst = max(busy, key=lambda name: busy[name])
        print(
            f"  {proxies:>3} machines: {rate:>7,.0f} requests/s, 99 of 100 in {p99:.2f} s; "
            f"{worst} {busy[worst]:.0%} busy",
            flush=True,
        )


def main() -> None:
    """Fill, measure at three sizes, simulate, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--threads", type=int, default=10_000)
    given = parser.parse_args()
    with opened(given.store) as kept, tempfile.TemporaryDirectory() as folder:
        print("milliseconds of processor time, here + of the server; measured:")
        write(kept.url, "t0", SHORT)
        kept.compact()
        done = 1
        for threads in (given.threads // 100, given.threads // 10, given.threads):
            kept.copy(done, threads - 1)
            done = threads
            chosen = random.Random(threads).sample(range(threads), SEEN)
            times = used(kept, [f"t{number}" for number in chosen])
            print(
                f"  {threads:>9,} threads of {SHORT}: {told(times)}; "
                f"{kept.size() / threads / SHORT:,.0f} bytes a message",
                flush=True,
            )
        listing = open_store(kept.url)
        begun = process_time()
        assert len(listing.logs("messages:")) == given.threads
        print(f"  all of them listed in {process_time() - begun:.1f} s")
        before = kept.size()
        for number in range(SEEN):
            write(kept.url, f"long{number}", LONG)
        size = (kept.size() - before) / SEEN / LONG
        times = used(kept, [f"long{number}" for number in range(SEEN)])
        print(f"  among them {SEEN} threads of {LONG}: {told(times)}; {size:,.0f} bytes a message")
        disk = flush_time(Path(folder))
        print(f"  the disk flushes in {1e3 * disk:.1f} ms")
        threads, messages = MANY
        print(f"calculated for {messages:,} messages: {size * messages / 1e9:,.0f} GB")
        simulate(times, disk, threads, server=given.store == "postgres")


if __name__ == "__main__":
    main()
