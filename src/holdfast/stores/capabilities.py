"""What a store may be able to do beside ``get``, ``set`` and ``delete``: a protocol of one method for each."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class GetsBytes(Protocol):
    """A store that gives bytes without a detour over text."""

    def get_bytes(self, key: str) -> bytes | Awaitable[bytes | None] | None:
        """The bytes, or None."""
        ...


@runtime_checkable
class SetsBytes(Protocol):
    """A store that takes bytes without a detour over text."""

    def set_bytes(self, key: str, value: bytes) -> object | Awaitable[object]:
        """Keep the bytes; replaces earlier ones."""
        ...


@runtime_checkable
class ListsKeys(Protocol):
    """A store that can say what it holds."""

    def keys(self, prefix: str = "") -> Iterable[str] | Awaitable[Iterable[str]]:
        """The keys that start with the prefix, in order."""
        ...


@runtime_checkable
class GetsMany(Protocol):
    """A store that answers many keys in one round trip."""

    def get_many(self, keys: Sequence[str]) -> Sequence[str | None] | Awaitable[Sequence[str | None]]:
        """The values in the order of the keys, None where there is none."""
        ...


@runtime_checkable
class SetsMany(Protocol):
    """A store that takes many values in one round trip, all or none."""

    def set_many(self, values: Mapping[str, str]) -> object | Awaitable[object]:
        """Keep all of them."""
        ...


@runtime_checkable
class Expires(Protocol):
    """A store that forgets by itself."""

    def set_for(self, key: str, value: str, seconds: float) -> object | Awaitable[object]:
        """Keep the value for so many seconds."""
        ...


@runtime_checkable
class PutsIfAbsent(Protocol):
    """A store that can decide a race."""

    def put_if_absent(self, key: str, value: str) -> bool | Awaitable[bool]:
        """Keep the value if the key is free; whether it was."""
        ...


@runtime_checkable
class PutsBytesIfAbsent(Protocol):
    """A store that can decide a race between bytes."""

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool | Awaitable[bool]:
        """Keep the bytes if the key is free; whether it was."""
        ...


@runtime_checkable
class Closes(Protocol):
    """A store that holds something open, such as a file."""

    def close(self) -> object | Awaitable[object]:
        """Let go of it."""
        ...
