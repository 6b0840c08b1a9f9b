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


# of so many old entries one is dropped at a time. Of texts that take 1.1 times the room, .35 are
# made again so, with half .41, and with a quarter .61
_THINNED = 8


class Memo(dict[K, V]):
    """A cache of values by key, in two generations, so that recently used entries stay.

    All caches share one bound. The object is the dictionary of the young generation: an entry in
    it is found without a lock and without a Python call.
    """

    __slots__ = ("__weakref__", "_made", "_make", "_old", "_sizes", "_usual")

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make
        self._old: dict[K, V] = {}
        self._sizes: dict[K, int] = {}
        """The bytes of each entry of both generations."""
        self._made = 0
        self._usual = 0.0
        """The bytes that the value last measured has for each of its key."""
        with _ROOM.lock:
            _ROOM.memos[id(self)] = self

    def __call__(self, key: K) -> V:
        """The value for the key."""
        return self[key]

    def __missing__(self, key: K) -> V:
        found = self._old.get(key, self)
        value = self._make(key) if found is self else cast("V", found)
        with _ROOM.lock:
            if key in self:  # another thread was first
                return value
            self._old.pop(key, None)
            known = self._sizes.pop(key, 0)
            size = known or self._size(key, value)
            if _ROOM.has(size, size - known):
                self[key], self._sizes[key] = value, size
        return value

    def _size(self, key: K, value: V) -> int:
        """About the bytes of a new entry."""
        size = _bytes(key)
        if self._made % _EACH == 0 or size > _LONG:
            self._usual = _bytes(value) / size
        self._made += 1
        return _ENTRY + int(size * (1 + self._usual))

    def knows(self, key: K) -> bool:
        """Whether the value is cached."""
        return key in self or key in self._old

    @property
    def held(self) -> int:
        """The bytes of all entries."""
        return sum(self._sizes.values())

    def age(self) -> None:
        """Make all entries old."""
        self._old.update(self)
        self.clear()

    def thin(self) -> None:
        """Drop some of the old entries, evenly.

        A conversation that is larger than the room is read from its beginning to its end at each
        call. If the oldest entries were dropped, each would be missing when its turn comes.
        """
        for key in list(self._old)[::_THINNED]:
            del self._old[key], self._sizes[key]


class _Room:
    """The memory that all caches share."""

    def __init__(self) -> None:
        self.lock = brief_lock()
        self.memos: WeakValueDictionary[int, Memo[Any, Any]] = WeakValueDictionary()
        self._young = self._held = 0

    def has(self, taken: int, more: int) -> bool:
        """Whether an entry of this many bytes may be young, of which so many are ``more``.

        If young entries have half of the memory, all become old. If all have more than it, old ones
        are dropped.
        """
        if taken > MOST_BYTES // 2:
            return False
        self._young += taken
        self._held += more
        if self._young > MOST_BYTES // 2:
            self._young = taken
            for memo in list(self.memos.values()):
                memo.age()
        if self._held > MOST_BYTES:
            memos = list(self.memos.values())  # without those that nobody has any more
            while taken + (held := sum([memo.held for memo in memos])) > MOST_BYTES:
                for memo in memos:
                    memo.thin()
            self._held = taken + held
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
