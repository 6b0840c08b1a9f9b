"""The optional abilities of stores beside ``get``, ``set`` and ``delete``, each as a protocol."""

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
    """A store that can read bytes."""

    def get_bytes(self, key: str) -> Answer[bytes | None]:
        """The bytes, or None."""
        ...


@runtime_checkable
class SetsBytes(Protocol):
    """A store that can keep bytes."""

    def set_bytes(self, key: str, value: bytes) -> Answer[object]:
        """Keep the bytes; replaces earlier ones."""
        ...


@runtime_checkable
class ListsKeys(Protocol):
    """A store that can list its keys."""

    def keys(self, prefix: str = "") -> Answer[Iterable[str]]:
        """The keys that start with the prefix, in order."""
        ...


@runtime_checkable
class GetsMany(Protocol):
    """A store that can read many keys in one round trip."""

    def get_many(self, keys: Sequence[str]) -> Answer[Sequence[str | None]]:
        """The values in the order of the keys, None where there is none."""
        ...


@runtime_checkable
class SetsMany(Protocol):
    """A store that can keep many values in one round trip, all or none."""

    def set_many(self, values: Mapping[str, str]) -> Answer[object]:
        """Keep all of them."""
        ...


@runtime_checkable
class Expires(Protocol):
    """A store whose values can expire."""

    def set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        """Keep the value for so many seconds."""
        ...


@runtime_checkable
class PutsIfAbsent(Protocol):
    """A store that can decide which of several writers was first."""

    def put_if_absent(self, key: str, value: str) -> Answer[bool]:
        """Keep the value if the key is free; whether it was."""
        ...


@runtime_checkable
class PutsBytesIfAbsent(Protocol):
    """A store that can decide which of several writers of bytes was first."""

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
        """Close it."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    ``id``: unique in the log, or empty. ``time``: in seconds since 1970 UTC; lines need not be in
    its order. ``words``: the text by which ``search`` finds the line, empty if it is not to be
    found; it is indexed and never returned.
    """

    body: str
    id: str = ""
    time: float = 0.0
    words: str = ""


class MessageLog(Protocol):
    """Lines in the order in which they were kept, at positions from 0; none ever changes."""

    def length(self) -> Answer[int]:
        """How many lines there are."""
        ...

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> Answer[Sequence[int]]:
        """Keep all of the lines, on the disk when this returns, or none; the position of each.

        A line whose id is known is not kept again: its position is that of the first. With ``at``,
        the lines are kept only if the log has that length; else the answer is empty. Without
        ``flush`` they survive the end of the process, but may reach the disk only with the next
        append that has it.
        """
        ...

    def read(self, positions: Sequence[int]) -> Answer[Mapping[int, Line]]:
        """The lines that there are at these positions, in order; a ``range`` is one query."""
        ...

    def find(self, ids: Sequence[str]) -> Answer[Mapping[str, int]]:
        """The positions of those of the ids that there are."""
        ...

    def between(self, first: float, last: float, most: int) -> Answer[Sequence[int]]:
        """Positions of at most so many lines of this span of time, ends included, by time."""
        ...

    def search(self, terms: Sequence[str], most: int) -> Answer[Mapping[int, float]]:
        """BM25 scores by position of at most so many lines with one of the terms, best first.

        Of a term of several words a line must hold all, side by side if the log can tell.
        """
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """A store that keeps logs beside its keys, each under a name that may be any text."""

    def log(self, name: str) -> MessageLog:
        """The log of this name; empty until something is appended."""
        ...

    def logs(self, prefix: str = "") -> Answer[Sequence[str]]:
        """The names of the logs that hold a line and start with the prefix, in order."""
        ...


@runtime_checkable
class ErasesLogs(Protocol):
    """A store that can erase a log."""

    def erase_log(self, name: str) -> Answer[object]:
        """Remove the log with all its lines and their index; a missing log is no error."""
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
        """Free the space of deleted and replaced entries, and merge the index."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A store that can check itself."""

    def check(self) -> Answer[Sequence[str]]:
        """What is damaged, or set so that the store's promises do not hold; a line each."""
        ...


@runtime_checkable
class Leaves(Protocol):
    """A store in which something remains after an erasure."""

    @property
    def leftovers(self) -> str:
        """What remains, and where."""
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
