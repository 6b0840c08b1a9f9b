"""What a fork waits for, so that the child finds nothing locked for ever and nothing half done."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import nullcontext
from threading import RLock
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class Held(Protocol):
    """What nobody else uses between ``acquire`` and ``release``, both called by one thread."""

    def acquire(self) -> object:
        """Wait until nobody else uses it."""
        ...

    def release(self) -> object:
        """Let others use it again."""
        ...


class Forks:
    """Holds all that it watches while the process forks, and lets go of it in parent and child.

    Of two of these, the one that was made later holds first: what it watches may use what the
    earlier one watches.
    """

    def __init__(self) -> None:
        self._forking = RLock()
        self._watched: WeakSet[Held] = WeakSet()
        self._held: list[Held] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before, after_in_parent=self._after, after_in_child=self._after
            )

    def watch(self, part: Held) -> None:
        """Hold this part too, as long as somebody has it."""
        with self._forking:
            self._watched.add(part)

    def _before(self) -> None:
        self._forking.acquire()
        for part in list(self._watched):
            part.acquire()
            self._held.append(part)

    def _after(self) -> None:
        while self._held:
            self._held.pop().release()
        self._forking.release()


_LOCKS = Forks()


def brief_lock() -> RLock:
    """A lock for a few lines that take no other lock; a fork waits until they are done."""
    made = RLock()
    _LOCKS.watch(made)
    return made


class cached_property(functools.cached_property[T]):  # noqa: N801 - in the place of functools'
    """As that of ``functools`` from Python 3.12 on: no lock is held while the value is made.

    Before, one was, for all instances together; a child of a fork found it held for ever.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
