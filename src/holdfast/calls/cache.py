"""The cache of embeddings and summaries, in memory or over any store."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio import shield
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from hashlib import sha256
from typing import Any, Generic, TypeVar, cast

from holdfast.calls.event_loop import asked
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import check_type, kept_as, typed
from holdfast.model_usage import CacheFigures, CacheStatistics
from holdfast.stores.answers import Opened, answered, at_once, opened
from holdfast.stores.protocols import SetsMany


class Flights:
    """Equal calls at the same time are made once, across threads and event loops."""

    def __init__(self) -> None:
        self._lock = brief_lock()
        self._open: dict[tuple[int, str], Future[object]] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[object]]) -> tuple[object, bool]:
        """Return the answer, and whether this caller made the call.

        Errors are returned as values, so that every waiting caller gets them. If the caller that
        makes the call is cancelled, the next one makes it.
        """
        own = os.getpid(), key  # a child process must not wait for a call of its parent
        while True:
            with self._lock:
                flight = self._open.get(own)
                if flight is None:
                    flight = self._open[own] = Future()
                    break
            landed = await asyncio.shield(asyncio.wrap_future(flight))
            if landed is not _ABANDONED:
                return landed, False
        answer: object = _ABANDONED
        try:
            answer = await make()
        finally:
            with self._lock:
                del self._open[own]
            flight.set_result(answer)
        return answer, True


_ABANDONED = object()


V = TypeVar("V")
Work = Callable[[KeyValueStore | None], Coroutine[Any, Any, object]]


class Lru(Generic[V]):
    """Values by key, the least recently used first; safe with threads.

    In a store each value has the key ``holdfast:cache:<kind>:<key>``, and the order of the keys is
    under ``holdfast:cache:<kind>``, written with every value. A failing store is a miss, not an
    error. Methods that begin with ``a`` are awaited, the others block.
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
        """None stands for a value that is in the store and was not needed yet."""
        self._known = opened is None
        """Whether the order of the store has been read."""
        self._hits = self._misses = 0

    def find(self, keys: Sequence[str]) -> list[V | None]:
        """The values in the order of the keys, None if missing; found ones become the newest."""
        return self._found(keys, self._now(lambda store: self._find(store, keys)))

    async def afind(self, keys: Sequence[str]) -> list[V | None]:
        """Like ``find``, awaited."""
        return self._found(keys, await self._later(lambda store: self._find(store, keys)))

    def keep(self, values: Mapping[str, V]) -> None:
        """Keep the values, and drop the oldest beyond the capacity."""
        self._now(lambda store: self._keep(store, values))

    async def akeep(self, values: Mapping[str, V]) -> None:
        """Like ``keep``, awaited; the work is completed even if waiting is cancelled."""
        await shield(self._later(lambda store: self._keep(store, values)))

    def clear(self) -> None:
        """Remove all entries, and reset the figures."""
        self._now(self._clear)

    def figures(self) -> CacheFigures:
        """Entries, capacity, hits and misses; does not read the store."""
        with self._lock:
            return CacheFigures(len(self._entries), self.capacity, self._hits, self._misses)

    def load(self) -> None:
        """Read the order of the keys from the store, on first use."""
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
        """The value of a stored text; None if it cannot be decoded."""
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
            gone = {
                key: self._entries.popitem(last=False)[1] for key in list(self._entries)[:beyond]
            }
            order = json.dumps(list(self._entries))
        if store is None:
            return
        kept = {
            f"{self._place}:{key}": self._encode(value)
            for key, value in values.items()
            if key not in gone
        }
        await _set_all(store, {**kept, self._place: order})
        for key in gone:
            await answered(store.delete(f"{self._place}:{key}"))

    async def _load(self, store: KeyValueStore | None) -> None:
        if store is None or self._known:
            return
        order: list[str] = []
        if self.capacity:
            listed = await answered(store.get(self._place))
            order = (kept_as(listed, list[str]) or [])[-self.capacity :]
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
    """Set all values, in one round trip if the store can."""
    if isinstance(store, SetsMany):
        await answered(store.set_many(values))
    else:
        for key, value in values.items():
            await answered(store.set(key, value))


Vector = Sequence[float]


class CompressionCache:
    """Answers of models and embedders, by the SHA-256 of the content and of the model's name.

    ``embeddings`` and ``summaries`` are the numbers of entries that are kept; 0 keeps none. With a
    ``store`` (a URL or an object) they outlive the process. One cache serves any number of threads
    and compressions, and equal requests at the same time are one call.
    """

    def __init__(
        self, embeddings: int = 1000, summaries: int = 500, store: str | KeyValueStore | None = None
    ) -> None:
        for name, capacity in (("embeddings", embeddings), ("summaries", summaries)):
            check_type(capacity, int, f"CompressionCache.{name}")
        place = None if store is None else opened(store)
        self.embeddings: Lru[Vector] = Lru("embeddings", embeddings, place, json.dumps, _vector)
        self.summaries: Lru[str] = Lru("summaries", summaries, place, str, str)
        self.flights = Flights()

    def get_embedding(self, text: str, model: str) -> Vector | None:
        """The vector of the text, or None."""
        return self.embeddings.find([key_of(model, text)])[0]

    def store_embedding(self, text: str, model: str, vector: Vector) -> None:
        """Keep the vector of the text."""
        self.embeddings.keep({key_of(model, text): vector})

    def get_summary(self, content: str, model: str) -> str | None:
        """The summary of the content, or None."""
        return self.summaries.find([key_of(model, content)])[0]

    def store_summary(self, content: str, model: str, summary: str) -> None:
        """Keep the summary of the content."""
        self.summaries.keep({key_of(model, content): summary})

    def clear(self) -> None:
        """Remove all entries, also in the store, and reset the figures."""
        self.embeddings.clear()
        self.summaries.clear()

    def statistics(self) -> CacheStatistics:
        """Size, capacity, hits and misses of each."""
        self.embeddings.load()
        self.summaries.load()
        return self.figures()

    def figures(self) -> CacheStatistics:
        """Like ``statistics``, but does not read a store that was not used yet."""
        return CacheStatistics(self.embeddings.figures(), self.summaries.figures())


def content_key(text: str) -> str:
    """The SHA-256 of the text, in hexadecimal digits: equal contents share an entry."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(model: str, *content: str) -> str:
    """The key of this model's answer to these texts."""
    whole = content[0] if len(content) == 1 else "".join(f"{len(text)}:{text}" for text in content)
    return f"{content_key(model)[:16]}:{content_key(whole)}"


def _vector(text: str) -> Vector:
    vector: Vector = typed(json.loads(text), list[float])
    return vector
