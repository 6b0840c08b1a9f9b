"""Run as a module: forks while sessions and compressions are under way, and goes on with them
in the children.

    python -m tests.session.scripts.forks KIND FILE FORKS

``KIND`` is background (a session that tends its tiers in a thread of its own), shared (another
thread uses the session), memory (the same, over a store in memory), compress (another thread
compresses) or first (the same while nothing was used before, so that it loads the modules). Prints
how many children hung, and how many ended with a fault.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - Python itself complains of a fork while it loads
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from holdfast import Session, compress
from holdfast.memory.tiers import TierSizes

LONGEST = 120  # seconds until a child that does not end is said to hang, and not to be slow
BUDGET = 900
SIZES = TierSizes(400, 400, 400)


def said(number: int) -> dict[str, str]:
    role = "assistant" if number % 2 else "user"
    return {
        "role": role,
        "content": f"Message {number}: order {number * 7919} is late. " + "It waits. " * 30,
    }


def talk(number: int) -> list[dict[str, str]]:
    return [said(number * 40 + each) for each in range(40)]


class Use:
    """One way of using Holdfast, again and again; each time it says something that was not said
    before.
    """

    def __init__(self, kind: str, path: str) -> None:
        self.kind, self.number = kind, 0
        store = None if kind == "memory" else f"sqlite:///{path}"
        if kind not in ("compress", "first"):
            background = kind == "background"
            self.session = Session(
                "t", store=store, budget=BUDGET, tiers=SIZES, background=background
            )

    def __call__(self, salt: int = 0) -> None:
        self.number += 1
        number = salt * 1_000_000 + self.number * 2
        if self.kind in ("compress", "first"):
            compress(talk(number), budget=BUDGET)
            return
        appended = self.session.appended
        self.session.append(said(number), said(number + 1))
        assert self.session.appended >= appended + 2
        assert self.session.fit().budget_met


def ended(child: int) -> int | None:
    """The exit code of the child, None if it had to be killed."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def forked(work: Callable[[], None]) -> int:
    """The child that does this work."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def main(kind: str, path: str, forks: int) -> None:
    use, over = Use(kind, path), threading.Event()
    for _ in range(0 if kind == "first" else 10):
        use()

    def go_on() -> None:
        while not over.is_set():
            use()

    busy = threading.Thread(target=go_on, daemon=True)
    if kind != "background":
        busy.start()
    children: list[int] = []
    codes: list[int | None] = []
    for fork in range(forks):
        if kind == "background":
            use.session.append(
                *map(said, range(fork * 100, fork * 100 + 40))
            )  # wakes the thread that tends
        else:
            time.sleep(0.003 * (fork % 7))
        children.append(forked(lambda salt=fork + 1: use(salt)))
        if kind != "first":  # there the first use is soon over
            codes.append(ended(children.pop()))
    codes += map(ended, children)
    over.set()
    print(codes.count(None), len([code for code in codes if code]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
