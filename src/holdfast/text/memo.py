"""A cache of values by text, with a bound on memory."""

from collections.abc import Callable, Collection, Hashable
from itertools import islice
from sys import getsizeof
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from holdfast.kernel.forks import brief_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_BYTES = 64_000_000
"""The bound on all caches of a process together, in bytes: those of a few long conversations."""

# bytes of an entry beside its key and value, measured for a text and a number in a dictionary
_ENTRY = 150
_TEXTS, _COLLECTIONS = (str, bytes), (tuple, list, set, frozenset)
_READ = 2  # items of a collection that are measured; further ones count as these do
# of so many new values one is measured, and the others count as it does: measuring each took a
# tenth of the time of short forms
_EACH = 7
_LONG = 2_000  # bytes of a key whose value is always measured: that is little beside making it


class Memo(dict[K, V]):
    """A cache of values by key, in two generations, so that recently used entries stay.

    All caches share one bound. The object is the dictionary of the young generation: an entry in
    it is found without a lock and without a Python call.
    """

    __slots__ = ("__weakref__", "_made", "_make", "_old", "_usual")

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make
        self._old: dict[K, V] = {}
        self._made = 0
        self._usual = 0.0
        """The bytes that the value last measured has for each of its key."""
        with _ROOM.lock:
            _ROOM.memos[id(self)] = self

    def __call__(self, key: K) -> V:
        """The value for the key."""
        return self[key]

    def __missing__(self, key: K) -> V:
        old = self._old
        value = old[key] if key in old else self._make(key)
        size = _bytes(key)
        if self._made % _EACH == 0 or size > _LONG:
            self._usual = _bytes(value) / size
        self._made += 1
        size = _ENTRY + int(size * (1 + self._usual))
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
    """About the number of bytes that a key or a value takes, with what it holds."""
    own = getsizeof(value)
    if isinstance(value, _TEXTS):
        return own
    has_fields = hasattr(value, "_fields")  # which differ from each other
    if isinstance(value, _COLLECTIONS):
        held = cast("Collection[object]", value)
    else:
        held = cast("dict[str, object]", getattr(value, "__dict__", {})).values()
    sizes = list(map(_bytes, islice(held, len(held) if has_fields else _READ)))
    return own + len(held) * sum(sizes) // max(1, len(sizes))


_ROOM = _Room()
