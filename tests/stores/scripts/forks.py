"""Run as a module: forks while a sqlite store is open and in use, and goes on in parent and
children.

    python -m tests.stores.scripts.forks FILE

Prints the keys that parent and children told to have written and that are not there in the end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from holdfast.stores.sqlite import SqliteStore

CHILDREN, WRITES = 4, 20


def write(store: SqliteStore, name: str) -> None:
    for number in range(WRITES):
        store.set(f"{name}/{number}", name)


def main(path: str) -> None:
    store = SqliteStore(path)
    store.set("before", "fork")
    busy = threading.Thread(target=write, args=(store, "thread"))
    busy.start()
    go_on, closed = os.pipe()
    children = []
    for child in range(CHILDREN):
        pid = os.fork()
        if pid == 0:
            os.close(closed)
            write(store, f"early {child}")
            os.read(
                go_on, 1
            )  # the parent lets go of the file: the last of its own connections, for all it knows
            write(store, f"late {child}")
            os.kill(os.getpid(), signal.SIGKILL)
        children.append(pid)
    busy.join()
    write(store, "parent")
    store.close()
    os.close(closed)
    for pid in children:
        os.waitpid(pid, 0)
    names = [
        "thread",
        "parent",
        *(f"{when} {child}" for when in ("early", "late") for child in range(CHILDREN)),
    ]
    with SqliteStore(path) as after:
        kept = set(after.keys())
    print(
        sorted(
            {"before", *(f"{name}/{number}" for name in names for number in range(WRITES))} - kept
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
