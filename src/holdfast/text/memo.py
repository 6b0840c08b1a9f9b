"""What was worked out once for a text is not worked out again: a memo with a bound on memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from holdfast.kernel.forks import brief_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(dict[K, V]):
    """Values by what they were made of: two generations, so that what is in use stays and the rest leaves.

    ``characters`` bounds what is held, ``size`` says how much of it a key and its value take. It is the dict of
    the young: what is in it is found without a lock and without a line of Python.
    """

    __slots__ = ("_half", "_held", "_lock", "_make", "_old", "_size")

    def __init__(self, make: Callable[[K], V], size: Callable[[K, V], int], characters: int = 64_000_000) -> None:
        super().__init__()
        self._make, self._size = make, size
        self._half = characters // 2
        self._old: dict[K, V] = {}
        self._held = 0
        self._lock = brief_lock()

    def __call__(self, key: K) -> V:
        """The value of the key."""
        return self[key]

    def __missing__(self, key: K) -> V:
        old = self._old
        value = old[key] if key in old else self._make(key)
        size = self._size(key, value)
        with self._lock:
            if self._held + size > self._half:
                self._old, self._held = dict(self), 0
                self.clear()
            self[key] = value
            self._held += size
        return value

    @property
    def characters(self) -> int:
        """What the memo holds now, both generations."""
        return sum(self._size(key, value) for held in (self, self._old) for key, value in list(held.items()))
