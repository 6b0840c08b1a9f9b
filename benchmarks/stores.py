"""Stores side by side in one run, with SQLite first: ``python -m benchmarks.stores``.

Servers are started for it, and every write is on the disk before it is answered (SQLite with its
default, Redis with ``appendfsync always``). Where the machine is busy, trust the order alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.protocols import Line
from tests.servers.programs import Postgres, Redis

COUNT = 400
WRITERS = 8
TEXT = "the worker of gateway {} has port {} and waits for the queue of the build " * 4


def lines(name: str, count: int = COUNT) -> list[Line]:
    """Lines of some 300 characters."""
    texts = (TEXT.format(*[number % 97] * 8) for number in range(count))
    return [Line(f"{name} {text}", words=text) for text in texts]


def operations(url: str) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """The name of each operation, how often it is done, and the work."""
    store: Any = open_store(url)
    log, given = store.log("talk"), lines("talk")
    yield "append", COUNT, lambda: [log.append([line]) for line in given]

    def writes(name: str) -> None:
        own = store.log(name)
        for line in lines(name, COUNT // WRITERS):
            own.append([line])

    with ThreadPoolExecutor(WRITERS) as pool:
        names = [f"talk {number}" for number in range(WRITERS)]
        yield f"append, {WRITERS} at once", COUNT, lambda: list(pool.map(writes, names))
    yield "read 20 lines", COUNT, lambda: [log.read(range(n, n + 20)) for n in range(COUNT)]
    yield "search", COUNT, lambda: [log.search(["gateway", str(n)], 9) for n in range(COUNT)]
    yield "set", COUNT, lambda: [store.set(f"k{n}", TEXT) for n in range(COUNT)]
    yield "get", COUNT, lambda: [store.get(f"k{n}") for n in range(COUNT)]
    with Session("thread", store=store, budget=4_000) as session:
        session.append(*({"role": "user", "content": line.body} for line in given[:100]))

    def opens() -> None:
        for _ in range(COUNT // 10):
            Session("thread", store=store, budget=4_000)

    yield "open a thread of 100", COUNT // 10, opens
    store.close()


def main() -> None:
    """Start the servers, and print what each store does in a second."""
    with ExitStack() as ended:
        folder = Path(ended.enter_context(tempfile.TemporaryDirectory()))
        postgres, redis = Postgres().start(), Redis().start()
        for server in (postgres, redis):
            ended.callback(server.end)
        urls = {
            "sqlite": f"sqlite:///{folder}/a.db",
            "postgres": postgres.url,
            "redis": redis.url,
            "file": f"file://{folder}/files",
        }
        done: dict[str, dict[str, float]] = {}
        for kind, url in urls.items():
            for name, count, work in operations(url):
                begun = perf_counter()
                work()
                done.setdefault(name, {})[kind] = count / (perf_counter() - begun)
        print(f"{'a second':<24}" + "".join(f"{kind:>12}" for kind in urls))
        for name, rates in done.items():
            print(f"{name:<24}" + "".join(f"{rates[kind]:>12,.0f}" for kind in urls))


if __name__ == "__main__":
    main()
