"""What stores can do besides ``get``, ``set`` and ``delete``, each as a protocol; their answers."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import isawaitable
from types import SimpleNamespace
from typing import Protocol, Self, TypeAlias, TypeVar, cast, runtime_checkable

from holdfast.kernel.errors import (
    ConfigError,
    HoldfastError,
    LockedError,
    StoreError,
    problem_of,
)
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported

T = TypeVar("T")
Answer: TypeAlias = T | Awaitable[T]
"""An answer of a store: a value, or an awaitable of it."""


@runtime_checkable
class GetsBytes(Protocol):
    """A store that returns values as bytes."""

    def get_bytes(self, key: str) -> Answer[bytes | None]:
        """The value as bytes, or None."""
        ...


@runtime_checkable
class SetsBytes(Protocol):
    """A store that stores bytes."""

    def set_bytes(self, key: str, value: bytes) -> Answer[object]:
        """Store the bytes, replacing an earlier value."""
        ...


@runtime_checkable
class ListsKeys(Protocol):
    """A store that can list its keys."""

    def keys(self, prefix: str = "") -> Answer[Iterable[str]]:
        """The keys that start with the prefix, in order."""
        ...


@runtime_checkable
class Glances(Protocol):
    """A store that can read many keys and the lengths of logs in one round trip."""

    def glance(
        self, keys: Sequence[str], logs: Sequence[str]
    ) -> tuple[Sequence[str | None], Sequence[int]]:
        """The values in the order of the keys, and the lengths in the order of the logs."""
        ...


@runtime_checkable
class SetsMany(Protocol):
    """A store that stores many values in one round trip, all or none."""

    def set_many(self, values: Mapping[str, str]) -> Answer[object]:
        """Store all of the values, or none."""
        ...


@runtime_checkable
class Expires(Protocol):
    """A store whose values can expire."""

    def set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        """Store the value, which expires after this many seconds."""
        ...


@runtime_checkable
class PutsIfAbsent(Protocol):
    """A store that can decide which of several writers was first."""

    def put_if_absent(self, key: str, value: str) -> Answer[bool]:
        """Store the value if the key is free; whether it was."""
        ...


@runtime_checkable
class KeepsBytes(GetsBytes, SetsBytes, Protocol):
    """A store that can store an artifact as bytes."""

    def put_bytes_if_absent(self, key: str, value: bytes) -> Answer[bool]:
        """Store the bytes if the key is free; whether it was."""
        ...


@runtime_checkable
class Closes(Protocol):
    """A store with an open resource, such as a file."""

    def close(self) -> Answer[object]:
        """Close it."""
        ...


class ClosedAfterUse:
    """What is closed at the end of a ``with`` block."""

    def close(self) -> object:
        """Close it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    ``id``: unique in the log, or empty. ``time``: in seconds since 1970 UTC, in any order.
    ``words``: the text by which ``search`` finds the line, empty if it is not to be found; it is
    indexed and never returned.
    """

    body: str
    id: str = ""
    time: float = 0.0
    words: str = ""


class MessageLog(Protocol):
    """Lines in the order in which they were appended, at positions from 0; none ever changes.

    A log answers at once: nothing of it is awaited.
    """

    def length(self) -> int:
        """The number of lines."""
        ...

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> Sequence[int]:
        """Append all of the lines or none, and return their positions.

        When this returns, they are on the disk. A line with a known id is not appended again: its
        position is that of the first. With ``at``, the lines are appended only if the log has that
        length; otherwise the answer is empty. Without ``flush`` they survive the end of the
        process, but may reach the disk only with a later append that has it.
        """
        ...

    def read(self, positions: Sequence[int]) -> Mapping[int, Line]:
        """The existing lines at these positions, in order."""
        ...

    def find(self, ids: Sequence[str]) -> Mapping[str, int]:
        """The positions of the known ones among the ids."""
        ...

    def between(self, first: float, last: float, most: int) -> Sequence[int]:
        """Positions of at most ``most`` lines in this period, ends included, by time."""
        ...

    def search(self, terms: Sequence[str], most: int) -> Mapping[int, float]:
        """BM25 scores by position of at most ``most`` lines with one of the terms, best first.

        Of a term of several words a line must have all, next to each other if the log can tell.
        """
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """A store with logs besides its keys, each under a name that may be any text."""

    def log(self, name: str) -> MessageLog:
        """The log of this name, which may be empty."""
        ...

    def logs(self, prefix: str = "") -> Sequence[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        ...


class LogStore(KeyValueStore, KeepsLogs, Protocol):
    """A store of keys and values with logs."""


@runtime_checkable
class ErasesLogs(Protocol):
    """A store that can erase a log."""

    def erase_log(self, name: str) -> object:
        """Remove the log with all its lines and their index; a missing log is not an error."""
        ...


@runtime_checkable
class Migrates(Protocol):
    """A store whose schema changes from version to version."""

    def migrate(self) -> Answer[int]:
        """Apply the missing steps of the schema, all or none; return their number."""
        ...


@runtime_checkable
class Compacts(Protocol):
    """A store that can be compacted."""

    def compact(self) -> Answer[object]:
        """Free the space of deleted and replaced entries, and merge the index."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A store that can check itself."""

    def check(self) -> Answer[Sequence[str]]:
        """Damage, and settings that weaken the store's guarantees, one text for each."""
        ...


@runtime_checkable
class Leaves(Protocol):
    """A store in which something remains after an erasure."""

    @property
    def leftovers(self) -> str:
        """What remains, and where."""
        ...


def unusable(problem: str, advice: str) -> ConfigError:
    """The error for a store, or its URL, that does not do."""
    return ConfigError(problem, place="store", advice=advice)


def to_bytes(text: str) -> bytes:
    """The text in UTF-8; a lone surrogate becomes three bytes."""
    return text.encode("utf-8", "surrogatepass")


def to_text(key: str, value: bytes) -> str:
    """The inverse of ``to_bytes``.

    Raises StoreError, naming the key, if the bytes are not such text.
    """
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as fault:
        raise StoreError(
            f"what is kept under {key!r} is bytes and not text: read it with get_bytes"
        ) from fault


def as_text(key: str, value: bytes | None) -> str | None:
    """The text of a value that may be absent."""
    return None if value is None else to_text(key, value)


def text_or_bytes(store: KeyValueStore, key: str) -> str | bytes | None:
    """The value as text, or as the bytes that are no text; None if there is none."""
    try:
        return settled(store.get(key))
    except StoreError:
        if not isinstance(store, GetsBytes):
            raise
        return settled(store.get_bytes(key))


def from_base64(text: str) -> bytes:
    """The bytes that the text stands for; none for other text, which every reader refuses."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return b""


def shown(url: str) -> str:
    """The URL without its user, its password and its options."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    host, mark, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{mark}{path}"


R = TypeVar("R")


def after(answer: T | Awaitable[T], use: Callable[[T], R]) -> R | Awaitable[R]:
    """Apply ``use`` to the answer; the result is awaitable if the answer is."""
    if isawaitable(answer):
        return _later(answer, use)
    return use(answer)


async def _later(answer: Awaitable[T], use: Callable[[T], R]) -> R:
    return use(await answer)


def settled(answer: T | Awaitable[T]) -> T:
    """The answer, waited for if it is an awaitable."""
    if not isawaitable(answer):
        return answer
    # imported only if something must be awaited, since it doubles the import time
    found: T = imported("holdfast.calls.event_loop:wait_for")(_later(answer, lambda found: found))
    return found


LOCK = "holdfast_encryption"
"""The only readable entry of an encrypted store: its salt and its encrypted keys."""


def check_unlocked(store: KeyValueStore) -> None:
    """Raise LockedError for an encrypted store without its key, which would keep plain text."""
    if settled(store.get(LOCK)) is not None:
        raise LockedError


def put_new(store: KeyValueStore, key: str, value: str) -> bool:
    """Store the value if the key is free, as far as the store can tell; whether it was."""
    if isinstance(store, PutsIfAbsent):
        return settled(store.put_if_absent(key, value))
    settled(store.set(key, value))
    return True


def set_all(store: KeyValueStore, values: Mapping[str, str]) -> None:
    """Store all of the values, in one round trip if the store can do that."""
    if isinstance(store, SetsMany):
        settled(store.set_many(values))
    else:
        for key, value in values.items():
            settled(store.set(key, value))


LOG_METHODS: Sequence[str] = "length append read find between search".split()


def shielded(log: MessageLog) -> MessageLog:
    """The log of a caller's store, with its exceptions as StoreErrors."""
    known = (name for name in LOG_METHODS if hasattr(log, name))
    methods = {name: as_store_errors()(getattr(log, name)) for name in known}
    return cast("MessageLog", SimpleNamespace(**methods))


@contextmanager
def as_store_errors() -> Generator[None]:
    """Turn the exceptions of a caller's store into StoreError."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as fault:
        raise StoreError(f"the store failed: {problem_of(fault)}") from fault
