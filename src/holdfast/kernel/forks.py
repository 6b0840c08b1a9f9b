"""Locks and resources that are safe when the process forks."""

import functools
import os
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from threading import RLock
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from .imports import LATE, ImportsAtFork

T = TypeVar("T")


class Held(Protocol):
    """A resource that one thread uses between ``acquire`` and ``release``."""

    def acquire(self) -> object:
        """Wait until no other thread uses it."""
        ...

    def release(self) -> object:
        """Let other threads use it."""
        ...


class Forks:
    """Acquires what it watches while the process forks, and releases it in parent and child.

    Of two instances, the later one acquires first, since its resources may use those of the
    earlier.
    """

    def __init__(self) -> None:
        self._forking = RLock()
        self._watched: WeakSet[Held] = WeakSet()
        self._held: list[Held] = []
        self._is_forking = False  # an import that a fork awaits may make an instance
        self._ends: list[Callable[[], object]] = []
        self._parents: list[Callable[[], object]] = []
        """Ends that are the parent's to make: the child keeps what they would let go."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before, after_in_parent=self._after, after_in_child=self._in_child
            )
            LATE.append(self._before)

    def watch(self, part: Held) -> None:
        """Watch this resource too, until it is garbage collected."""
        with self._forking:
            self._watched.add(part)

    def end(self, let_go: Callable[[], object]) -> None:
        """Let something go, but not while the process forks: then soon after it, in the parent.

        This does not wait for a fork: the garbage collector may call it in a thread that holds a
        lock for which that fork waits.
        """
        self._ends.append(let_go)
        self._end()

    def _end(self) -> None:
        if self._forking.acquire(blocking=False):
            try:
                while self._ends:
                    self._ends.pop()()
            finally:
                self._forking.release()

    def _in_child(self) -> None:
        self._parents += self._ends
        self._ends.clear()
        self._after()

    def _before(self) -> bool:
        """Acquire all for this fork, and return whether that was still to be done."""
        self._forking.acquire()
        if self._is_forking:  # this thread does
            self._forking.release()
            return False
        self._is_forking = True
        for part in list(self._watched):
            part.acquire()
            self._held.append(part)
        return True

    def _after(self) -> None:
        if not self._is_forking:
            return
        while self._held:
            self._held.pop().release()
        self._is_forking = False
        self._forking.release()
        self._end()


_LOCKS = Forks()
import_module("logging")  # has a lock of its own that forks take
ImportsAtFork()  # again: awaits imports before those locks are taken, since an import may need them

FILES = Forks()
"""For open files."""


def brief_lock() -> RLock:
    """A lock for a few lines that take no other lock; a fork waits for it."""
    made = RLock()
    _LOCKS.watch(made)
    return made


class cached_property(functools.cached_property[T]):  # noqa: N801, TID251 - in the place of it
    """Like that of ``functools`` from Python 3.12 on: computes without holding a lock.

    Before 3.12 one lock is shared by all instances, and a forked child may find it held forever.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
