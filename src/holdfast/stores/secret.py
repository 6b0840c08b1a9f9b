"""The secret of a store, created at its first use."""

from __future__ import annotations

from os import urandom

from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import answered
from holdfast.stores.protocols import PutsIfAbsent

KEY = "secret"
_BYTES = 32  # as many as the SHA-256 of its keyed hashes has


async def secret_of(store: KeyValueStore, *, makes: bool = True) -> str:
    """The secret; empty if there is none and ``makes`` is False."""
    known = await answered(store.get(KEY))
    if known or not makes:
        return known or ""
    if isinstance(store, PutsIfAbsent):
        await answered(store.put_if_absent(KEY, urandom(_BYTES).hex()))
    else:
        await answered(store.set(KEY, urandom(_BYTES).hex()))
    return await answered(store.get(KEY)) or ""
