"""Stores over other stores: with a namespace, expiry, cached artifacts, routes or measures.

A wrapper has the capabilities of the store that it wraps.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from time import perf_counter
from types import SimpleNamespace
from typing import Any, AnyStr, Protocol, cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import check_type, what_is

from .artifacts import CONTENT, KEY
from .protocols import (
    LOCK,
    LOG_METHODS,
    Answer,
    ErasesLogs,
    Expires,
    Glances,
    KeepsBytes,
    KeepsLogs,
    ListsKeys,
    MessageLog,
    PutsIfAbsent,
    SetsMany,
    after,
    as_store_errors,
    settled,
    unusable,
)

_MAPPED = (
    "get_bytes set_bytes keys set_many set_for put_if_absent put_bytes_if_absent "
    "log logs erase_log glance"
).split()
"""Optional methods that a wrapper has, with keys and values converted, if the store has them."""

_PASSED_ON = "close migrate compact check leftovers".split()

OURS = "give a store of holdfast.stores, or its URL"
"""Advice for a store that lacks what those of this package can do."""


class _Complete(
    KeyValueStore,
    KeepsBytes,
    ListsKeys,
    Glances,
    SetsMany,
    Expires,
    PutsIfAbsent,
    KeepsLogs,
    ErasesLogs,
    Protocol,
):
    """The type of a wrapped store for type checkers; its capabilities show at run time."""


class MappedStore:
    """A store that writes its keys and values in another form into the wrapped store.

    It returns awaitables if the wrapped store does. It has the optional methods of the wrapped
    store: they are set on the object, because ``isinstance`` with a protocol of ``protocols`` looks
    for them there.

    A subclass defines how a key is written (``_name``) and read (``_key``), how all written keys
    with a prefix begin (``_stem``), and how values are written and read.
    """

    def __init__(self, inner: KeyValueStore) -> None:
        self._inner = cast("_Complete", inner)
        for name in (*_MAPPED, *_PASSED_ON):
            if hasattr(inner, name) and not hasattr(self, name):
                setattr(self, name, getattr(self, f"_{name}", getattr(inner, name)))

    def get(self, key: str) -> Answer[str | None]:
        """The value, or None."""
        return after(self._store_of(key).get(self._name(key)), partial(self._unsealed, key))

    def set(self, key: str, value: str) -> Answer[object]:
        """Store the value, replacing an earlier one."""
        return self._store_of(key).set(self._name(key), self._seal(key, value))

    def delete(self, key: str) -> Answer[object]:
        """Delete the key; an unknown key is not an error."""
        return self._store_of(key).delete(self._name(key))

    def _store_of(self, _key: str, /) -> _Complete:
        """The store in which this key is."""
        return self._inner

    def _name(self, key: str, /) -> str:
        """The written form of a key, or of the name of a log."""
        return key

    def _key(self, name: str, /) -> str | None:
        """The key with this written form; None if another wrapper wrote it."""
        return name

    def _stem(self, prefix: str, /) -> str:
        """The beginning of all written keys with this prefix."""
        return self._name(prefix)

    def _seal(self, _key: str, value: AnyStr, /) -> AnyStr:
        """The written form of a value."""
        return value

    def _open(self, _key: str, sealed: AnyStr, /) -> AnyStr:
        """The value with this written form."""
        return sealed

    def _unsealed(self, key: str, sealed: AnyStr | None) -> AnyStr | None:
        return None if sealed is None else self._open(key, sealed)

    def _get_bytes(self, key: str) -> Answer[bytes | None]:
        """The value as bytes, or None; text is encoded as UTF-8."""
        return after(self._store_of(key).get_bytes(self._name(key)), partial(self._unsealed, key))

    def _set_bytes(self, key: str, value: bytes) -> Answer[object]:
        """Store the bytes, replacing an earlier value."""
        return self._store_of(key).set_bytes(self._name(key), self._seal(key, value))

    def _keys(self, prefix: str = "") -> Answer[list[str]]:
        return after(self._inner.keys(self._stem(prefix)), partial(self._read_names, prefix))

    def _logs(self, prefix: str = "") -> list[str]:
        return self._read_names(prefix, self._inner.logs(self._stem(prefix)))

    def _read_names(self, prefix: str, names: Iterable[str]) -> list[str]:
        keys = (self._key(name) for name in names)
        return sorted(key for key in keys if key is not None and key.startswith(prefix))

    def _log(self, name: str) -> MessageLog:
        return self._inner.log(self._name(name))

    def _erase_log(self, name: str) -> object:
        return self._inner.erase_log(self._name(name))

    def _glance(
        self, keys: Sequence[str], logs: Sequence[str]
    ) -> tuple[list[str | None], Sequence[int]]:
        values, lengths = self._inner.glance(
            list(map(self._name, keys)), list(map(self._name, logs))
        )
        return list(map(self._unsealed, keys, values)), lengths

    def _set_many(self, values: Mapping[str, str]) -> Answer[object]:
        return self._inner.set_many(
            {self._name(key): self._seal(key, value) for key, value in values.items()}
        )

    def _set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        return self._inner.set_for(self._name(key), self._seal(key, value), seconds)

    def _put_if_absent(self, key: str, value: str) -> Answer[bool]:
        return self._store_of(key).put_if_absent(self._name(key), self._seal(key, value))

    def _put_bytes_if_absent(self, key: str, value: bytes) -> Answer[bool]:
        """Store the bytes if the key is free; whether it was."""
        return self._store_of(key).put_bytes_if_absent(self._name(key), self._seal(key, value))


class ShieldedStore:
    """A caller's store whose exceptions are StoreErrors, also those of its awaitables.

    It has the optional methods of the store, as a MappedStore has.
    """

    def __init__(self, store: KeyValueStore) -> None:
        methods = ("get", "set", "delete", *_MAPPED, *_PASSED_ON)
        _surround(self, store, methods, lambda _: as_store_errors())


def _surround(
    made: object,
    inner: object,
    methods: Iterable[str],
    context: Callable[[str], AbstractContextManager[None]],
) -> None:
    """Give an object those of these methods that the inner one has, each within its context.

    What is no method is passed on as it is.
    """
    for name in methods:
        if hasattr(inner, name):
            found = getattr(inner, name)
            surrounded = partial(_within, partial(context, name), found)
            setattr(made, name, surrounded if callable(found) else found)


def _within(
    context: Callable[[], AbstractContextManager[None]],
    method: Callable[..., object],
    *given: object,
    **named: object,
) -> object:
    """Call the method inside the context, in which an awaitable answer is awaited too."""
    with ExitStack() as entered:
        entered.enter_context(context())
        answer = method(*given, **named)
        return _awaited(answer, entered.pop_all()) if isawaitable(answer) else answer


async def _awaited(answer: Awaitable[object], entered: ExitStack) -> object:
    with entered:
        return await answer


class OverBytes(MappedStore):
    """A wrapper of stores of bytes, which is one for ``keeps_bytes``: artifacts are bytes in it."""

    get_bytes = MappedStore._get_bytes  # noqa: SLF001 - it shows in this class
    set_bytes = MappedStore._set_bytes  # noqa: SLF001 - it shows in this class
    put_bytes_if_absent = MappedStore._put_bytes_if_absent  # noqa: SLF001 - it shows in this class


TAKEN = frozenset({"messages", "events", "session", "tier", "vectors", "log", "logs"})
"""How keys and logs of a store itself begin: a namespace of this name would share them."""


def keeps_plain(store: KeyValueStore) -> bool:
    """Whether it holds a session or an original without encryption, as far as it lists its keys."""
    return (
        bool(settled(store.get(KEY)))
        or (isinstance(store, ListsKeys) and bool(settled(store.keys("session:"))))
        or (isinstance(store, KeepsLogs) and bool(store.logs("messages:")))
    )


class PrefixStore(MappedStore):
    """The keys of one namespace, which may be any text: a thread, a tenant, a purpose.

    A key, or the name of a log, is stored as ``namespace:key``. In the namespace, and only there,
    ``:`` and ``%`` are written ``%3A`` and ``%25``, so that the first colon ends it and no
    namespace is a prefix of another. Values do not change.

    Raises ConfigError for a name in ``TAKEN``, unless sessions already use that namespace.
    """

    def __init__(self, inner: KeyValueStore, namespace: str) -> None:
        super().__init__(inner)
        check_type(namespace, str, "namespace")
        self._prefix = namespace.replace("%", "%25").replace(":", "%3A") + ":"
        if namespace in TAKEN and not (settled(self.get(LOCK)) or keeps_plain(self)):
            raise shared_name(namespace, "give the namespace another name")

    def _name(self, key: str, /) -> str:
        return self._prefix + key

    def _key(self, name: str, /) -> str | None:
        return name.removeprefix(self._prefix) if name.startswith(self._prefix) else None


def shared_name(namespace: str, advice: str) -> ConfigError:
    """The error for a namespace whose keys are not its own."""
    problem = f"{namespace!r} is how keys of the store itself begin"
    return ConfigError(problem, place="namespace", advice=advice)


class ExpiringStore(MappedStore):
    """A store whose values all expire, ``seconds`` after they were set.

    Logs do not expire. Raises ConfigError if the wrapped store has no expiry.
    """

    def __init__(self, inner: KeyValueStore, seconds: float) -> None:
        super().__init__(inner)
        check_type(seconds, float, "seconds")
        if not isinstance(inner, Expires):
            raise unusable(
                f"{what_is(inner)} forgets nothing by itself",
                "give one whose values can end, such as 'sqlite:///agent.db'",
            )
        self._seconds = seconds
        for name in ("set_bytes", "set_many", "put_if_absent", "put_bytes_if_absent"):
            self.__dict__.pop(name, None)  # they accept no time of expiry

    def set(self, key: str, value: str) -> Answer[object]:
        """Store the value until it expires."""
        return self._inner.set_for(key, value, self._seconds)

    def _set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        return self._inner.set_for(key, value, min(seconds, self._seconds))


class LayeredStore(MappedStore):
    """A store that caches in memory the artifacts that were read through it.

    Artifacts never change, so the cache is never out of date; other values are read each time.
    ``most``: characters in the cache, which drops the oldest artifacts first.
    """

    def __init__(self, inner: KeyValueStore, most: int = 64_000_000) -> None:
        super().__init__(inner)
        self._near: dict[str, str] = {}
        self._room = most
        self._lock = brief_lock()

    def get(self, key: str) -> Answer[str | None]:
        """The value, or None."""
        near = self._near.get(key)
        return super().get(key) if near is None else near

    def delete(self, key: str) -> Answer[object]:
        """Delete the key, also from the cache."""
        self._drop(key)
        return super().delete(key)

    def _seal(self, key: str, value: AnyStr, /) -> AnyStr:
        self._drop(key)  # a damaged artifact is replaced
        return value

    def _drop(self, key: str) -> None:
        with self._lock:
            self._room += len(self._near.pop(key, ""))

    def _open(self, key: str, sealed: AnyStr, /) -> AnyStr:
        if isinstance(sealed, str) and is_content(key):
            with self._lock:
                self._drop(key)
                self._room -= len(sealed)
                self._near[key] = sealed
                while self._room < 0:
                    self._drop(next(iter(self._near)))
        return sealed


def is_content(key: str) -> bool:
    """Whether the key is an artifact's, in any namespace."""
    return key.rpartition(":")[2].startswith(CONTENT)


class RoutedStore(OverBytes):
    """Artifacts in one store, keys and logs in another: a bucket beside a database."""

    def __init__(self, store: KeyValueStore, artifacts: KeyValueStore) -> None:
        for given in (store, artifacts):
            if not isinstance(given, KeepsBytes) or not isinstance(given, ListsKeys):
                raise unusable(f"{what_is(given)} keeps no bytes", OURS)
        self._artifacts = cast("_Complete", artifacts)
        super().__init__(store)
        if not isinstance(artifacts, Expires):
            self.__dict__.pop("set_for", None)  # not all of its values can expire

    def _store_of(self, key: str) -> _Complete:
        return self._artifacts if is_content(key) else self._inner

    def _keys(self, prefix: str = "") -> list[str]:
        return sorted(key for found in self._both("keys", prefix) for key in found)

    def _set_many(self, values: Mapping[str, str]) -> Answer[object]:
        """Artifacts are stored one by one before the others."""
        for key in filter(is_content, values):
            self._artifacts.set(key, values[key])
        return super()._set_many({k: text for k, text in values.items() if not is_content(k)})

    def _set_for(self, key: str, value: str, seconds: float) -> Answer[object]:
        return self._store_of(key).set_for(key, value, seconds)

    def migrate(self) -> int:
        """Apply the missing steps of both schemas; return their number."""
        return sum(self._both("migrate"))

    def compact(self) -> None:
        """Compact both, if they can."""
        self._both("compact")

    def check(self) -> list[str]:
        """The problems of both, one text for each."""
        return [line for found in self._both("check") for line in found]

    @property
    def leftovers(self) -> str:
        """What remains of both after an erasure."""
        either = (getattr(store, "leftovers", "") for store in (self._inner, self._artifacts))
        return "; ".join(filter(None, either))

    def close(self) -> None:
        """Close both."""
        self._both("close")

    def _both(self, method: str, *facts: object) -> list[Any]:
        """The answers of both stores that have the method."""
        able = [store for store in (self._inner, self._artifacts) if hasattr(store, method)]
        return [getattr(store, method)(*facts) for store in able]


@dataclass
class Measure:
    """How often a method was called, how often it failed, and its time in seconds."""

    calls: int = 0
    faults: int = 0
    seconds: float = 0.0
    longest: float = 0.0


class MeasuredStore(MappedStore):
    """A store with ``measures`` of its methods by name; those of logs begin with ``log.``."""

    def __init__(self, inner: KeyValueStore) -> None:
        super().__init__(inner)
        self.measures: dict[str, Measure] = {}
        self._lock = brief_lock()
        _surround(self, self, {"get", "set", "delete", *_MAPPED} - {"log"}, self._measured)

    def _log(self, name: str) -> MessageLog:
        log = SimpleNamespace()
        inner = self._inner.log(name)
        _surround(log, inner, LOG_METHODS, lambda method: self._measured(f"log.{method}"))
        return cast("MessageLog", log)

    @contextmanager
    def _measured(self, name: str) -> Generator[None]:
        begun, faults = perf_counter(), 1
        try:
            yield
            faults = 0
        finally:
            seconds = perf_counter() - begun
            with self._lock:
                measure = self.measures.setdefault(name, Measure())
                measure.calls += 1
                measure.faults += faults
                measure.seconds += seconds
                measure.longest = max(measure.longest, seconds)
