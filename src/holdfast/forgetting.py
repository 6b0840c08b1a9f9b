"""Forgetting a thread: every summary that was kept of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from holdfast.compressors.kept import as_list
from holdfast.compressors.summarize.envelope import Envelope, ranges_of
from holdfast.compressors.summary_keys import message_key, messages_key, ranges_key, thread_prefix
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.answers import answered, opened
from holdfast.stores.protocols import ListsKeys


def forget(thread: str, *, store: str | KeyValueStore) -> int:
    """Delete the summaries of the thread from the store; how many keys are gone.

    What was kept without a thread is found by its content alone, and stays. Raises StoreError for a store that
    does not answer.
    """
    if not isinstance(cast("object", thread), str) or not thread:
        raise ConfigError(f"{thread!r} is no id", place="thread", advice="give the id of the thread as text")
    done = opened(store).ask(lambda kept: _forgotten(kept, thread))
    if isinstance(done, HoldfastError):
        raise done
    return cast("int", done)


async def _forgotten(store: KeyValueStore, thread: str) -> int:
    keys = [key async for key in _keys(store, thread)]
    for key in keys:
        await answered(store.delete(key))
    return len(keys)


async def _keys(store: KeyValueStore, thread: str) -> AsyncIterator[str]:
    """The thread's keys; where a store cannot list them, what the thread's own lists name, and these last."""
    if isinstance(store, ListsKeys):
        for key in list(await answered(store.keys(thread_prefix(thread)))):
            yield key
        return
    for found in ranges_of(await answered(store.get(ranges_key(thread)))):
        envelope = Envelope.of_json(await answered(store.get(found.key)))
        if envelope is not None:
            for key in (*envelope.waiting, found.key):
                yield key
    for index in as_list(await answered(store.get(messages_key(thread)))):
        if isinstance(index, int):
            yield message_key(thread, index)
    for key in (ranges_key(thread), messages_key(thread)):
        if await answered(store.get(key)) is not None:
            yield key
