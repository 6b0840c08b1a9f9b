"""Who has a session to itself; and how it begins in a forked process."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import Self
from weakref import WeakSet


class Exclusive:
    """Held by one thread at a time, which may take it again; it may wait long.

    In a forked child it is free, and before it is first held there, ``anew`` makes what it guards once more:
    the thread that was at work on it may have left it half done, and is not there to end it.
    """

    def __init__(self, anew: Callable[[], None]) -> None:
        self._lock, self._anew, self._is_stale = RLock(), anew, False
        _ALL.add(self)

    def __enter__(self) -> Self:
        self._lock.acquire()
        if self._is_stale:
            self._is_stale = False
            try:
                self._anew()
            except BaseException:
                self._is_stale = True
                self._lock.release()
                raise
        return self

    def __exit__(self, *fault: object) -> None:
        self._lock.release()

    def forked(self) -> None:
        """Begin as a child."""
        if self._lock.acquire(blocking=False):  # free, or held by the very thread that forked
            self._lock.release()
        else:
            self._lock = RLock()
        self._is_stale = True


_ALL: WeakSet[Exclusive] = WeakSet()


def _forked() -> None:
    for each in list(_ALL):
        each.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
