"""What was worked out once for a text is not worked out again: a memo with a bound on memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from sys import getsizeof
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from holdfast.kernel.forks import brief_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_BYTES = 64_000_000
"""What all memos of a process hold together, at most."""

# bytes of an entry beside its characters: measured, a text and a number in a dictionary
_ENTRY = 200


class Memo(dict[K, V]):
    """Values by what they were made of.

    Two generations, so that what is in use stays and the rest leaves.

    ``characters`` bounds what this one holds, ``size`` says how much of it a key and its value
    take. It is the dict of the young: what is in it is found without a lock and without a line of
    Python.
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
        """The value of the key."""
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
        """Whether the value was worked out, and is held by one of the generations."""
        return key in self or key in self._old

    def age(self) -> None:
        """Let go of the old; what is young is old from now on."""
        self._old, self._held = dict(self), 0
        self.clear()

    @property
    def characters(self) -> int:
        """What the memo holds now, both generations."""
        both = (self, self._old)
        return sum(self._size(key, value) for held in both for key, value in list(held.items()))


class _Room:
    """The room that all memos share."""

    def __init__(self) -> None:
        self.lock = brief_lock()
        self._memos: WeakValueDictionary[int, Memo[Any, Any]] = WeakValueDictionary()
        self._young = 0

    def share(self, memo: Memo[Any, Any]) -> None:
        """Let the memo have of it too."""
        with self.lock:
            self._memos[id(memo)] = memo

    def has(self, taken: int) -> bool:
        """Whether so many bytes may be kept.

        Where half of the room is young, all memos age first.
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
    """Bytes that Python holds for a character of the key, with its UTF-8 where that was made."""
    if isinstance(key, str):
        return getsizeof(key) / len(key) if len(key) > _ENTRY else 1 if key.isascii() else 4
    if isinstance(key, tuple):
        texts = [part for part in cast("tuple[object, ...]", key) if isinstance(part, str)]
        return _width(max(texts, key=len, default=""))
    return 2


_ROOM = _Room()
