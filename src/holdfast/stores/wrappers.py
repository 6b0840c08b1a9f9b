"""Stores that change the keys and values of another one.

What a store beneath can do, its wrapper can.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial

from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import after
from holdfast.stores.protocols import (
    Closes,
    Expires,
    GetsBytes,
    GetsMany,
    ListsKeys,
    PutsBytesIfAbsent,
    PutsIfAbsent,
    SetsBytes,
    SetsMany,
)


class MappedStore:
    """A wrapper is what it wraps.

    It answers at once or with an awaitable, as the store beneath does, and it has those optional
    methods (bytes, listing, batches, expiry, put-if-absent, close) that the store beneath has.

    A kind of wrapper says how a key is written beneath (``_name``), what is read from it (``_key``)
    and with what all names of a listing begin (``_stem``), and how values are sealed and opened, if
    they are.
    """

    def __init__(self, inner: KeyValueStore) -> None:
        self._inner = inner
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
        if isinstance(inner, Closes):
            self.close = inner.close

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
        raise NotImplementedError

    def _key(self, name: str, /) -> str | None:
        """The key that is written so beneath, or None if the name is not of this wrapper."""
        raise NotImplementedError

    def _stem(self, prefix: str, /) -> str:
        """With what every name of a key with this prefix begins."""
        raise NotImplementedError

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
        def read(names: Iterable[str]) -> list[str]:
            keys = (self._key(name) for name in names)
            return sorted(key for key in keys if key is not None and key.startswith(prefix))

        return after(inner.keys(self._stem(prefix)), read)

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

    A key is kept as ``namespace:key``. In the namespace, and only there, ``:`` and ``%`` are
    written ``%3A`` and ``%25``, so that the first colon ends it and no namespace begins like
    another. Values stay as they are.
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
