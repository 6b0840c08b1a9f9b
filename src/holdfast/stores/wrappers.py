"""Stores over other stores: they change keys and values, route them, measure, or keep some near.

What a store beneath can do, its wrapper can.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from time import perf_counter
from typing import Any, TypeVar, cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import after
from holdfast.stores.artifacts import CONTENT, KeepsBytes
from holdfast.stores.protocols import (
    Checks,
    Closes,
    Compacts,
    ErasesLogs,
    Expires,
    GetsBytes,
    GetsMany,
    KeepsLogs,
    Leaves,
    ListsKeys,
    MessageLog,
    Migrates,
    PutsBytesIfAbsent,
    PutsIfAbsent,
    SetsBytes,
    SetsMany,
)

T = TypeVar("T")


class MappedStore:
    """A wrapper is what it wraps.

    It answers at once or with an awaitable, as the store beneath does, and it has those optional
    methods (bytes, listing, batches, expiry, put-if-absent, logs, close and upkeep) that the store
    beneath has.

    A kind of wrapper says how a key is written beneath (``_name``), what is read from it (``_key``)
    and with what all names of a listing begin (``_stem``), and how values are sealed and opened, if
    they are.
    """

    def __init__(self, inner: KeyValueStore) -> None:
        self._inner = inner
        self._map_entries(inner)
        self._map_logs(inner)
        self._pass_on(inner)

    def _map_entries(self, inner: KeyValueStore) -> None:
        if isinstance(inner, GetsBytes):
            self.get_bytes = partial(self._get_bytes, inner)
        if isinstance(inner, SetsBytes):
            self.set_bytes = partial(self._set_bytes, inner)
        if isinstance(inner, ListsKeys):
            self.keys = partial(self._keys, inner)
        if isinstance(inner, GetsMany):
            self.get_many = partial(self._get_many, inner)
        if isinstance(inner, SetsMany):
            self.set_many = partial(self._set_many, inner)
        if isinstance(inner, Expires):
            self.set_for = partial(self._set_for, inner)
        if isinstance(inner, PutsIfAbsent):
            self.put_if_absent = partial(self._put_if_absent, inner)
        if isinstance(inner, PutsBytesIfAbsent):
            self.put_bytes_if_absent = partial(self._put_bytes_if_absent, inner)

    def _map_logs(self, inner: KeyValueStore) -> None:
        if isinstance(inner, KeepsLogs):
            self.log = partial(self._log, inner)
            self.logs = partial(self._logs, inner)
        if isinstance(inner, ErasesLogs):
            self.erase_log = partial(self._erase_log, inner)

    def _pass_on(self, inner: KeyValueStore) -> None:
        if isinstance(inner, Closes):
            self.close = inner.close
        if isinstance(inner, Migrates):
            self.migrate = inner.migrate
        if isinstance(inner, Compacts):
            self.compact = inner.compact
        if isinstance(inner, Checks):
            self.check = inner.check
        if isinstance(inner, Leaves):
            self.leftovers = inner.leftovers

    def get(self, key: str) -> str | Awaitable[str | None] | None:
        """The value, or None."""
        return after(self._inner.get(self._name(key)), partial(self._opened_text, key))

    def set(self, key: str, value: str) -> object | Awaitable[object]:
        """Keep the value; replaces an earlier one."""
        return self._inner.set(self._name(key), self._seal_text(key, value))

    def delete(self, key: str) -> object | Awaitable[object]:
        """Forget the key; a key that is not there is no error."""
        return self._inner.delete(self._name(key))

    def _name(self, key: str, /) -> str:
        """How the key, or the name of a log, is written beneath."""
        return key

    def _key(self, name: str, /) -> str | None:
        """The key that is written so beneath, or None if the name is not of this wrapper."""
        return name

    def _stem(self, prefix: str, /) -> str:
        """With what every name of a key with this prefix begins."""
        return prefix

    def _seal(self, _key: str, value: bytes, /) -> bytes:
        return value

    def _open(self, _key: str, sealed: bytes, /) -> bytes:
        return sealed

    def _seal_text(self, _key: str, value: str, /) -> str:
        return value

    def _open_text(self, _key: str, sealed: str, /) -> str:
        return sealed

    def _opened_text(self, key: str, sealed: str | None) -> str | None:
        return None if sealed is None else self._open_text(key, sealed)

    def _get_bytes(self, inner: GetsBytes, key: str) -> bytes | Awaitable[bytes | None] | None:
        return after(
            inner.get_bytes(self._name(key)),
            lambda sealed: None if sealed is None else self._open(key, sealed),
        )

    def _set_bytes(self, inner: SetsBytes, key: str, value: bytes) -> object | Awaitable[object]:
        return inner.set_bytes(self._name(key), self._seal(key, value))

    def _keys(self, inner: ListsKeys, prefix: str = "") -> Iterable[str] | Awaitable[Iterable[str]]:
        return after(inner.keys(self._stem(prefix)), partial(self._read_names, prefix))

    def _read_names(self, prefix: str, names: Iterable[str]) -> list[str]:
        keys = (self._key(name) for name in names)
        return sorted(key for key in keys if key is not None and key.startswith(prefix))

    def _log(self, inner: KeepsLogs, name: str) -> MessageLog:
        return inner.log(self._name(name))

    def _logs(self, inner: KeepsLogs, prefix: str = "") -> Sequence[str] | Awaitable[Sequence[str]]:
        return after(inner.logs(self._stem(prefix)), partial(self._read_names, prefix))

    def _erase_log(self, inner: ErasesLogs, name: str) -> object | Awaitable[object]:
        return inner.erase_log(self._name(name))

    def _get_many(
        self, inner: GetsMany, keys: Sequence[str]
    ) -> Sequence[str | None] | Awaitable[Sequence[str | None]]:
        def read(values: Sequence[str | None]) -> list[str | None]:
            return [self._opened_text(key, value) for key, value in zip(keys, values, strict=True)]

        return after(inner.get_many([self._name(key) for key in keys]), read)

    def _set_many(self, inner: SetsMany, values: Mapping[str, str]) -> object | Awaitable[object]:
        return inner.set_many(
            {self._name(key): self._seal_text(key, value) for key, value in values.items()}
        )

    def _set_for(
        self, inner: Expires, key: str, value: str, seconds: float
    ) -> object | Awaitable[object]:
        return inner.set_for(self._name(key), self._seal_text(key, value), seconds)

    def _put_if_absent(self, inner: PutsIfAbsent, key: str, value: str) -> bool | Awaitable[bool]:
        return inner.put_if_absent(self._name(key), self._seal_text(key, value))

    def _put_bytes_if_absent(
        self, inner: PutsBytesIfAbsent, key: str, value: bytes
    ) -> bool | Awaitable[bool]:
        return inner.put_bytes_if_absent(self._name(key), self._seal(key, value))


class PrefixStore(MappedStore):
    """The keys of one namespace, which may be any text: a thread, a tenant, a purpose.

    A key, or the name of a log, is kept as ``namespace:key``. In the namespace, and only there,
    ``:`` and ``%`` are written ``%3A`` and ``%25``, so that the first colon ends it and no
    namespace begins like another. Values stay as they are.
    """

    def __init__(self, inner: KeyValueStore, namespace: str) -> None:
        super().__init__(inner)
        self._prefix = namespace.replace("%", "%25").replace(":", "%3A") + ":"

    def _name(self, key: str, /) -> str:
        return self._prefix + key

    def _stem(self, prefix: str, /) -> str:
        return self._prefix + prefix

    def _key(self, name: str, /) -> str | None:
        return name.removeprefix(self._prefix) if name.startswith(self._prefix) else None


class ExpiringStore(MappedStore):
    """What it wraps, whose every value ends so many seconds after it was set.

    Logs do not end: they are erased. Raises ConfigError if the store beneath forgets nothing.
    """

    def __init__(self, inner: KeyValueStore, seconds: float) -> None:
        super().__init__(inner)
        if not isinstance(inner, Expires):
            raise ConfigError(
                f"a {type(inner).__name__} forgets nothing by itself",
                place="store",
                advice="give one whose values can end, such as 'sqlite:///agent.db'",
            )
        self._ends, self._seconds = inner, seconds
        for name in ("set_bytes", "set_many", "put_if_absent", "put_bytes_if_absent"):
            self.__dict__.pop(name, None)  # they know no end

    def set(self, key: str, value: str) -> object | Awaitable[object]:
        """Keep the value until its time is over."""
        return self._ends.set_for(key, value, self._seconds)

    def _set_for(
        self, inner: Expires, key: str, value: str, seconds: float
    ) -> object | Awaitable[object]:
        return inner.set_for(key, value, min(seconds, self._seconds))


class LayeredStore(MappedStore):
    """What it wraps, of which artifacts that were read or put stay in memory too.

    Artifacts never change, so that what is near is never old; whatever may change is asked for
    beneath each time. ``most``: characters that are held near, the oldest of which leave first.
    """

    def __init__(self, inner: KeyValueStore, most: int = 64_000_000) -> None:
        super().__init__(inner)
        self._near: dict[str, str] = {}
        self._room = most
        self._lock = brief_lock()

    def get(self, key: str) -> str | Awaitable[str | None] | None:
        """The value, or None."""
        with self._lock:
            near = self._near.get(key)
        return super().get(key) if near is None else near

    def delete(self, key: str) -> object | Awaitable[object]:
        """Forget the key, near and beneath."""
        with self._lock:
            self._room += len(self._near.pop(key, ""))
        return super().delete(key)

    def _opened_text(self, key: str, sealed: str | None) -> str | None:
        if sealed is not None and is_content(key):
            with self._lock:
                self._room += len(self._near.pop(key, "")) - len(sealed)
                self._near[key] = sealed
                while self._room < 0:
                    self._room += len(self._near.pop(next(iter(self._near))))
        return sealed


def is_content(key: str) -> bool:
    """Whether an artifact stands under the key, in whatever namespace."""
    return key.rpartition(":")[2].startswith(CONTENT)


class RoutedStore:
    """Artifacts in one store, keys and logs in another: objects of a bucket beside a database."""

    def __init__(self, store: KeyValueStore, artifacts: KeyValueStore) -> None:
        for given in (store, artifacts):
            if not isinstance(given, KeepsBytes) or not isinstance(given, ListsKeys):
                raise ConfigError(
                    f"a {type(given).__name__} keeps no bytes",
                    place="store",
                    advice="give a store of holdfast.stores, or its URL",
                )
        self._store, self._artifacts = cast("Any", store), cast("Any", artifacts)
        if not isinstance(store, KeepsLogs):
            return
        self.log, self.logs = store.log, store.logs
        if isinstance(store, ErasesLogs):
            self.erase_log = store.erase_log

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return cast("str | None", self._of(key).get(key))

    def get_bytes(self, key: str) -> bytes | None:
        """The bytes, or None."""
        return cast("bytes | None", self._of(key).get_bytes(key))

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of the keys; those of one store of the same moment."""
        plain = [key for key in keys if not is_content(key)]
        found = dict(zip(plain, self._store.get_many(plain), strict=True))
        return [found[key] if key in found else self._artifacts.get(key) for key in keys]

    def set(self, key: str, value: str) -> None:
        """Keep the value."""
        self._of(key).set(key, value)

    def set_bytes(self, key: str, value: bytes) -> None:
        """Keep the bytes."""
        self._of(key).set_bytes(key, value)

    def set_many(self, values: Mapping[str, str]) -> None:
        """Keep all of them; artifacts one by one before the others."""
        for key in filter(is_content, values):
            self._artifacts.set(key, values[key])
        self._store.set_many({key: value for key, value in values.items() if not is_content(key)})

    def set_for(self, key: str, value: str, seconds: float) -> None:
        """Keep the value for so many seconds, beside the keys: objects know no end."""
        self._store.set_for(key, value, seconds)

    def put_if_absent(self, key: str, value: str) -> bool:
        """Keep the value if the key is free; whether it was."""
        return bool(self._of(key).put_if_absent(key, value))

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Keep the bytes if the key is free; whether it was."""
        return bool(self._of(key).put_bytes_if_absent(key, value))

    def delete(self, key: str) -> None:
        """Forget the key."""
        self._of(key).delete(key)

    def keys(self, prefix: str = "") -> list[str]:
        """The keys of both that start with the prefix, in order."""
        return sorted([*self._store.keys(prefix), *self._artifacts.keys(prefix)])

    def migrate(self) -> int:
        """Take the steps that the schemas lack."""
        return sum(cast("int", each.migrate()) for each in self._both if isinstance(each, Migrates))

    def compact(self) -> None:
        """Make both smaller, where they can be."""
        for each in self._both:
            if isinstance(each, Compacts):
                each.compact()

    def check(self) -> list[str]:
        """What is wrong with either."""
        able = [each for each in self._both if isinstance(each, Checks)]
        return [line for each in able for line in cast("Sequence[str]", each.check())]

    @property
    def leftovers(self) -> str:
        """What stays of either."""
        return "; ".join(each.leftovers for each in self._both if isinstance(each, Leaves))

    def close(self) -> None:
        """Let go of both."""
        for each in self._both:
            if isinstance(each, Closes):
                each.close()

    @property
    def _both(self) -> list[Any]:
        return [self._store, self._artifacts]

    def _of(self, key: str) -> Any:
        return self._artifacts if is_content(key) else self._store


@dataclass(slots=True)
class Measure:
    """How often something was asked, how often that failed, and the seconds that it took."""

    calls: int = 0
    faults: int = 0
    seconds: float = 0.0
    longest: float = 0.0


class MeasuredStore(MappedStore):
    """What it wraps, with ``measures`` of each method by its name, logs' as ``log.append``."""

    def __init__(self, inner: KeyValueStore) -> None:
        super().__init__(inner)
        self.measures: dict[str, Measure] = {}
        self._lock = brief_lock()
        self._measure(self, _ASKED, "")

    def _log(self, inner: KeepsLogs, name: str) -> MessageLog:
        found = _Asked()
        log = inner.log(name)
        for method in _ASKED_OF_LOGS:
            setattr(found, method, getattr(log, method))
        self._measure(found, _ASKED_OF_LOGS, "log.")
        return cast("MessageLog", found)

    def _measure(self, asked: object, methods: Iterable[str], stem: str) -> None:
        for method in methods:
            if hasattr(asked, method):
                setattr(asked, method, partial(self._timed, stem + method, getattr(asked, method)))

    def _timed(
        self, name: str, ask: Callable[..., object], *args: object, **options: object
    ) -> object:
        begun = perf_counter()
        try:
            answer = ask(*args, **options)
        except BaseException:
            self._note(name, begun, failed=True)
            raise
        if isawaitable(answer):
            return self._awaited(name, begun, answer)
        self._note(name, begun)
        return answer

    async def _awaited(self, name: str, begun: float, answer: Awaitable[object]) -> object:
        try:
            found = await answer
        except BaseException:
            self._note(name, begun, failed=True)
            raise
        self._note(name, begun)
        return found

    def _note(self, name: str, begun: float, *, failed: bool = False) -> None:
        seconds = perf_counter() - begun
        with self._lock:
            measure = self.measures.setdefault(name, Measure())
            measure.calls += 1
            measure.faults += failed
            measure.seconds += seconds
            measure.longest = max(measure.longest, seconds)


class _Asked:
    """A log, whose methods are set one by one."""


_ASKED = (
    "get set delete get_bytes set_bytes keys get_many set_many set_for "
    "put_if_absent put_bytes_if_absent logs erase_log"
).split()
_ASKED_OF_LOGS = "length append read find between search".split()
