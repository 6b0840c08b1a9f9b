"""What a store may do beside ``get``, ``set`` and ``delete``; how text is bytes in all."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from holdfast.kernel.errors import StoreError

T = TypeVar("T")
Answer: TypeAlias = T | Awaitable[T]
"""What a store answers: a value at once, or an awaitable of it."""


@runtime_checkable
class GetsBytes(Protocol):
    """A store that gives bytes without a detour over text."""

    def get_bytes(self, key: str) -> Answer[bytes | None]:
        """The bytes, or None."""
        ...


@runtime_checkable
class SetsBytes(Protocol):
    """A store that takes bytes without a detour over text."""

    def set_bytes(self, key: str, value: bytes) -> Answer[object]:
        """Keep the bytes; replaces earlier ones."""
        ...


@runtime_checkable
class ListsKeys(Protocol):
    """A store that can say what it holds."""

    def keys(self, prefix: str = "") -> Answer[Iterable[str]]:
        """The keys that start with the prefix, in order."""
        ...


@runtime_checkable
class GetsMany(Protocol):
    """A store that answers many keys in one round trip."""

    def get_many(self, keys: Sequence[str]) -> Answer[Sequence[str | None]]:
        """The values in the order of the keys, None where there is none."""
        ...


@runtime_checkable
class SetsMany(Protocol):
    """A store that takes many values in one round trip, all or none."""

    def set_many(self, values: Mapping[str, str]) -> Answer[object]:
        """Keep all of them."""
        ...


@runtime_checkable
class Expires(Protocol):
    """A store that forgets by itself."""

    def set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        """Keep the value for so many seconds."""
        ...


@runtime_checkable
class PutsIfAbsent(Protocol):
    """A store that can decide a race."""

    def put_if_absent(self, key: str, value: str) -> Answer[bool]:
        """Keep the value if the key is free; whether it was."""
        ...


@runtime_checkable
class PutsBytesIfAbsent(Protocol):
    """A store that can decide a race between bytes."""

    def put_bytes_if_absent(self, key: str, value: bytes) -> Answer[bool]:
        """Keep the bytes if the key is free; whether it was."""
        ...


@runtime_checkable
class KeepsBytes(GetsBytes, SetsBytes, PutsBytesIfAbsent, Protocol):
    """A store that can keep an artifact as bytes."""


@runtime_checkable
class Closes(Protocol):
    """A store that holds something open, such as a file."""

    def close(self) -> Answer[object]:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    ``id``: what no other line of the log is called, empty where it has no name. ``time``: when it
    was, in seconds since 1970 UTC, in whatever order. ``words``: the text by which ``search`` finds
    it, empty where it is not to be found, and never given back.
    """

    body: str
    id: str = ""
    time: float = 0.0
    words: str = ""


class MessageLog(Protocol):
    """Lines in the order in which they were kept.

    Their positions run from 0, and none ever changes or leaves.
    """

    def length(self) -> Answer[int]:
        """How many lines there are."""
        ...

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> Answer[Sequence[int]]:
        """Keep all of them, on the disk when this returns, or none; the position of each.

        A line whose id is known is not kept again: its position is that of the first. With ``at``,
        they are kept only if the log ends there; else nothing is, and the answer is empty. Without
        ``flush`` they outlive the process, but may reach the disk as late as what is appended next
        with it.
        """
        ...

    def read(self, positions: Sequence[int]) -> Answer[Mapping[int, Line]]:
        """Those of the positions that there are, in order; a ``range`` is read in one go."""
        ...

    def find(self, ids: Sequence[str]) -> Answer[Mapping[str, int]]:
        """The positions of those of the ids that there are."""
        ...

    def between(self, first: float, last: float, most: int) -> Answer[Sequence[int]]:
        """Positions of at most so many lines of this span of time, ends included, in order."""
        ...

    def search(self, terms: Sequence[str], most: int) -> Answer[Mapping[int, float]]:
        """At most so many lines that hold one of the terms, best first: BM25 scores by position.

        Of a term of several words all must stand in the line, side by side if the log can tell.
        """
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """A store that holds logs beside its keys, each under a name that may be any text."""

    def log(self, name: str) -> MessageLog:
        """The log of this name; empty until something is appended."""
        ...

    def logs(self, prefix: str = "") -> Answer[Sequence[str]]:
        """The names of the logs that hold a line and start with the prefix, in order."""
        ...


@runtime_checkable
class ErasesLogs(Protocol):
    """A store that can let go of a log, as no thread does by itself."""

    def erase_log(self, name: str) -> Answer[object]:
        """Remove the log with all its lines and their index; one that is not there is no error."""
        ...


@runtime_checkable
class Migrates(Protocol):
    """A store whose schema changes from version to version."""

    def migrate(self) -> Answer[int]:
        """Take the steps that the schema lacks, all or none; how many there were."""
        ...


@runtime_checkable
class Compacts(Protocol):
    """A store that can be made smaller."""

    def compact(self) -> Answer[object]:
        """Give back what deleted and replaced entries took, and shorten the index."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A store that can look at itself."""

    def check(self) -> Answer[Sequence[str]]:
        """What is damaged, or takes from what the store promises, a line each."""
        ...


@runtime_checkable
class Leaves(Protocol):
    """A store of which something stays where it was after an erasure."""

    @property
    def leftovers(self) -> str:
        """What stays, and where."""
        ...


def to_bytes(text: str) -> bytes:
    """The text in UTF-8, a lone surrogate in the three bytes that it would take."""
    return text.encode("utf-8", "surrogatepass")


def to_text(key: str, value: bytes) -> str:
    """The inverse of ``to_bytes``.

    Raises StoreError, naming the key, if the bytes never were text.
    """
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as fault:
        raise StoreError(
            f"what is kept under {key!r} is bytes and not text: read it with get_bytes"
        ) from fault


def shown(url: str) -> str:
    """The URL without its user, its password and its options."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    host, mark, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{mark}{path}"
