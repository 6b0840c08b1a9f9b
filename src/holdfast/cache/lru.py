"""A cache that lets go of what was used longest ago; over a store it outlives the process."""

from __future__ import annotations

import json
from asyncio import shield
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import KeyValueStore
from holdfast.opened import Opened
from holdfast.stores.answers import answered, at_once
from holdfast.stores.capabilities import SetsMany
from holdfast.usage import CacheFigures
from holdfast.waiting import asked

V = TypeVar("V")
Work = Callable[[KeyValueStore | None], Coroutine[Any, Any, object]]


class Lru(Generic[V]):
    """Values by key, the most recently used last; safe with threads.

    Over a store each value stands under ``holdfast:cache:<kind>:<key>``, and the order of the keys under
    ``holdfast:cache:<kind>``, written with each value that is kept. A store that fails makes a miss, no fault.
    Each method has a form that blocks and one that is awaited, which begins with ``a``.
    """

    def __init__(
        self,
        kind: str,
        capacity: int,
        opened: Opened | None,
        encode: Callable[[V], str],
        decode: Callable[[str], V],
    ) -> None:
        self.capacity = capacity
        self._place = f"holdfast:cache:{kind}"
        self._opened, self._encode, self._decode = opened, encode, decode
        self._lock = brief_lock()
        self._entries: OrderedDict[str, V | None] = OrderedDict()
        """None stands for a value that is in the store and has not been needed yet."""
        self._known = opened is None
        """Whether the order that the store has is known here."""
        self._hits = self._misses = 0

    def find(self, keys: Sequence[str]) -> list[V | None]:
        """The values in the order of the keys, None where there is none; what is found is young again."""
        return self._found(keys, self._now(lambda store: self._find(store, keys)))

    async def afind(self, keys: Sequence[str]) -> list[V | None]:
        """As ``find``."""
        return self._found(keys, await self._later(lambda store: self._find(store, keys)))

    def keep(self, values: Mapping[str, V]) -> None:
        """Keep the values, and let go of the oldest beyond the capacity."""
        self._now(lambda store: self._keep(store, values))

    async def akeep(self, values: Mapping[str, V]) -> None:
        """As ``keep``; what was begun is done even if nobody waits for it any more."""
        await shield(self._later(lambda store: self._keep(store, values)))

    def clear(self) -> None:
        """Forget everything, the figures too."""
        self._now(self._clear)

    def figures(self) -> CacheFigures:
        """How much is kept, and how often it was asked and knew. Asks no store."""
        with self._lock:
            return CacheFigures(len(self._entries), self.capacity, self._hits, self._misses)

    def load(self) -> None:
        """Learn what the store has, if that is not known yet."""
        self._now(self._load)

    def _now(self, work: Work) -> object:
        if self._opened is None:
            return at_once(work(None))
        return self._opened.ask(work)

    async def _later(self, work: Work) -> object:
        if self._opened is None:
            return at_once(work(None))
        return await asked(self._opened, work)

    def _found(self, keys: Sequence[str], outcome: object) -> list[V | None]:
        nothing: list[V | None] = [None] * len(keys)
        values = nothing if isinstance(outcome, HoldfastError) else cast("list[V | None]", outcome)
        with self._lock:
            self._misses += values.count(None)
            self._hits += len(values) - values.count(None)
        return values

    async def _find(self, store: KeyValueStore | None, keys: Sequence[str]) -> list[V | None]:
        await self._load(store)
        return [await self._one(store, key) for key in keys]

    async def _one(self, store: KeyValueStore | None, key: str) -> V | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            value = self._entries[key]
        if value is None and store is not None:
            value = self._read(await answered(store.get(f"{self._place}:{key}")))
            with self._lock:
                if value is None:
                    self._entries.pop(key, None)
                elif key in self._entries:
                    self._entries[key] = value
        return value

    def _read(self, text: str | None) -> V | None:
        """What the text stands for; a text that stands for nothing is as good as none."""
        try:
            return None if text is None else self._decode(text)
        except (ValueError, TypeError):
            return None

    async def _keep(self, store: KeyValueStore | None, values: Mapping[str, V]) -> None:
        await self._load(store)
        with self._lock:
            for key, value in values.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            beyond = max(0, len(self._entries) - self.capacity)
            gone = {key: self._entries.popitem(last=False)[1] for key in list(self._entries)[:beyond]}
            order = json.dumps(list(self._entries))
        if store is None:
            return
        kept = {f"{self._place}:{key}": self._encode(value) for key, value in values.items() if key not in gone}
        await _set_all(store, {**kept, self._place: order})
        for key in gone:
            await answered(store.delete(f"{self._place}:{key}"))

    async def _load(self, store: KeyValueStore | None) -> None:
        if store is None or self._known:
            return
        order = _keys(await answered(store.get(self._place)))[-self.capacity :] if self.capacity else []
        with self._lock:
            if not self._known:
                self._entries.update(dict.fromkeys(order))
                self._known = True

    async def _clear(self, store: KeyValueStore | None) -> None:
        await self._load(store)
        with self._lock:
            keys = list(self._entries)
            self._entries.clear()
            self._hits = self._misses = 0
        if store is not None:
            for key in [self._place, *(f"{self._place}:{key}" for key in keys)]:
                await answered(store.delete(key))


async def _set_all(store: KeyValueStore, values: Mapping[str, str]) -> None:
    """Set all of them, in one round trip where the store can."""
    if isinstance(store, SetsMany):
        await answered(store.set_many(values))
    else:
        for key, value in values.items():
            await answered(store.set(key, value))


def _keys(text: str | None) -> list[str]:
    """The keys that the text lists; of what is no list, none."""
    try:
        listed: object = json.loads(text or "[]")
    except ValueError:
        return []
    return (
        [key for key in cast("list[object]", listed) if isinstance(key, str)] if isinstance(listed, list) else []
    )
