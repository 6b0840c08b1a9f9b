"""A cache of values by text, with a bound on memory."""

from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from sys import getsizeof
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from holdfast.kernel.forks import brief_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_BYTES = 64_000_000
"""The bound on all caches of a process together, in bytes: those of a few long conversations."""

_ENTRY = 100  # bytes of an entry beside its key and its value, measured for texts and numbers
_ALONE, _COLLECTIONS = (str, bytes, int), frozenset({tuple, list, set, frozenset})
_ITEM = 64  # bytes of an item in a list or a tuple, such as CPython's object of a short text
_READ = 2  # items that are measured; further ones count as these do


class Memo(dict[K, V]):
    """A cache of values by key, in two generations, so that recently used entries stay.

    All caches share one bound. The object is the dictionary of the young generation: an entry in
    it is found without a lock and without a Python call.
    """

    __slots__ = ("__weakref__", "_make", "_old")

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make
        self._old: dict[K, V] = {}
        with _ROOM.lock:
            _ROOM.memos[id(self)] = self

    def __call__(self, key: K) -> V:
        """The value for the key."""
        return self[key]

    def __missing__(self, key: K) -> V:
        old = self._old
        value = old[key] if key in old else self._make(key)
        size = _ENTRY + _bytes(key) + _bytes(value)
        with _ROOM.lock:
            if _ROOM.has(size):
                self[key] = value
        return value

    def knows(self, key: K) -> bool:
        """Whether the value is cached."""
        return key in self or key in self._old

    def age(self) -> None:
        """Drop the old generation; the young one becomes the old one."""
        self._old = dict(self)
        self.clear()


class _Room:
    """The memory that all caches share."""

    def __init__(self) -> None:
        self.lock = brief_lock()
        self.memos: WeakValueDictionary[int, Memo[Any, Any]] = WeakValueDictionary()
        self._young = 0

    def has(self, taken: int) -> bool:
        """Whether this many bytes may be added.

        If half of the memory is used by young entries, all caches age first.
        """
        if taken > MOST_BYTES // 2:
            return False
        self._young += taken
        if self._young > MOST_BYTES // 2:
            self._young = taken
            for memo in list(self.memos.values()):
                memo.age()
        return True


def _bytes(value: object) -> int:
    """About the bytes that a key or a value takes."""
    if isinstance(value, _ALONE):
        return getsizeof(value)
    if type(value) in _COLLECTIONS:
        some = cast("tuple[object, ...]", value)
        read = min(len(some), _READ)
        return len(some) * (_ITEM + sum(map(_bytes, islice(some, read))) // max(1, read))
    # one with names, whose fields differ
    fields = value if isinstance(value, tuple) else getattr(value, "__dict__", {}).values()
    return _ITEM + sum(map(_bytes, cast("Iterable[object]", fields)))


_ROOM = _Room()
