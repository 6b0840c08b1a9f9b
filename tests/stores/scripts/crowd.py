"""Run as a module: one of many processes that use one sqlite store at the same time, each with
several threads.

    python -m tests.stores.scripts.crowd FILE NAME THREADS WRITES

Waits for a line on standard input, so that all begin together, and prints how many races it won as
a number.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from holdfast.stores.sqlite import SqliteStore

_SIDES = ("left", "right", "left")


def main(path: str, name: str, threads: int, writes: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    with SqliteStore(path) as store:

        def work(thread: int) -> int:
            won = 0
            for number in range(writes):
                store.set(f"{name}/{thread}/{number}", f"value of {name} {thread} {number}")
                won += store.put_if_absent(f"race/{number}", f"{name}/{thread}")
                store.set_many(
                    {f"pair/{side}": f"{name} {thread} {number}" for side in ("left", "right")}
                )
                left, right, again = (store.get(f"pair/{side}") for side in _SIDES)
                if left == again != right:  # no text is written twice
                    raise AssertionError("half of a batch was seen")
            return won

        with ThreadPoolExecutor(threads) as pool:
            print(sum(pool.map(work, range(threads))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
