"""The secret of a store: made when it is first asked for, and the same from then on."""

from __future__ import annotations

from secrets import token_hex

from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import answered
from holdfast.stores.protocols import PutsIfAbsent

KEY = "secret"
_BYTES = 32


async def secret_of(store: KeyValueStore, *, makes: bool = True) -> str:
    """The secret; empty where there is none and none is made."""
    known = await answered(store.get(KEY))
    if known or not makes:
        return known or ""
    if isinstance(store, PutsIfAbsent):
        await answered(store.put_if_absent(KEY, token_hex(_BYTES)))
    else:
        await answered(store.set(KEY, token_hex(_BYTES)))
    return await answered(store.get(KEY)) or ""
