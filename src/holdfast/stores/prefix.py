"""A namespace in a store: two of them never see each other's keys."""

from __future__ import annotations

from holdfast.kernel.ports import KeyValueStore

from .mapped import MappedStore


class PrefixStore(MappedStore):
    """The keys of one namespace, which may be any text: a thread, a tenant, a purpose.

    A key is kept as ``namespace:key``. In the namespace, and only there, ``:`` and ``%`` are written ``%3A`` and
    ``%25``, so that the first colon ends it and no namespace begins like another. Values stay as they are.
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
