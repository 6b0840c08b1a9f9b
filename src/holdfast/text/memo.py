"""A cache of values by text, with a bound on memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from sys import getsizeof
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from holdfast.kernel.forks import brief_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_BYTES = 64_000_000
"""The bound on all caches of a process together, in bytes."""

# bytes of an entry beside its characters, measured for a text and a number in a dictionary
_ENTRY = 200


class Memo(dict[K, V]):
    """A cache of values by key, in two generations, so that recently used entries stay.

    ``characters`` is its bound, and ``size`` the size of a key with its value. The object is the
    dictionary of the young generation: an entry in it is found without a lock and without a Python
    call.
    """

    __slots__ = ("__weakref__", "_half", "_held", "_make", "_old", "_size")

    def __init__(
        self, make: Callable[[K], V], size: Callable[[K, V], int], characters: int = 64_000_000
    ) -> None:
        super().__init__()
        self._make, self._size = make, size
        self._half = characters // 2
        self._old: dict[K, V] = {}
        self._held = 0
        _ROOM.share(self)

    def __call__(self, key: K) -> V:
        """The value for the key."""
        return self[key]

    def __missing__(self, key: K) -> V:
        old = self._old
        value = old[key] if key in old else self._make(key)
        size = self._size(key, value)
        with _ROOM.lock:
            if self._held + size > self._half:
                self.age()
            if _ROOM.has(_ENTRY + int(size * _width(key))):
                self[key] = value
                self._held += size
        return value

    def knows(self, key: K) -> bool:
        """Whether the value is cached."""
        return key in self or key in self._old

    def age(self) -> None:
        """Drop the old generation; the young one becomes the old one."""
        self._old, self._held = dict(self), 0
        self.clear()


class _Room:
    """The memory that all caches share."""

    def __init__(self) -> None:
        self.lock = brief_lock()
        self._memos: WeakValueDictionary[int, Memo[Any, Any]] = WeakValueDictionary()
        self._young = 0

    def share(self, memo: Memo[Any, Any]) -> None:
        """Let the cache use the memory too."""
        with self.lock:
            self._memos[id(memo)] = memo

    def has(self, taken: int) -> bool:
        """Whether this many bytes may be added.

        If half of the memory is used by young entries, all caches age first.
        """
        if taken > MOST_BYTES // 2:
            return False
        self._young += taken
        if self._young > MOST_BYTES // 2:
            self._young = taken
            for memo in list(self._memos.values()):
                memo.age()
        return True


def _width(key: object) -> float:
    """Bytes that Python needs for a character of the key, with its UTF-8 if that exists."""
    if isinstance(key, str):
        return getsizeof(key) / len(key) if len(key) > _ENTRY else 1 if key.isascii() else 4
    if isinstance(key, tuple):
        texts = [part for part in cast("tuple[object, ...]", key) if isinstance(part, str)]
        return _width(max(texts, key=len, default=""))
    return 2


_ROOM = _Room()
