"""The cache of embeddings and summaries, in memory or over any store."""

import asyncio
import json
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Generic, TypeVar

from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.typed import check_type, kept_as
from holdfast.model_usage import CacheFigures, CacheStatistics
from holdfast.stores import open_store
from holdfast.stores.protocols import as_store_errors, check_unlocked, set_all, settled
from holdfast.text.keyed import digest
from holdfast.text.similarity import Vector

from .event_loop import in_thread


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
T = TypeVar("T")


@contextmanager
def _a_miss() -> Generator[None]:
    """Ignore errors of the store."""
    with suppress(HoldfastError), as_store_errors():
        yield


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
        store: KeyValueStore | None,
        encode: Callable[[V], str],
        decode: Callable[[str | None], V | None],
    ) -> None:
        self.capacity = capacity
        self._place = f"holdfast:cache:{kind}"
        self._store, self._encode, self._decode = store, encode, decode
        self._lock = brief_lock()
        self._entries: OrderedDict[str, V | None] = OrderedDict()
        """None stands for a value that is in the store and was not needed yet."""
        self._known = store is None
        """Whether the order of the store has been read."""
        self._hits = self._misses = 0

    def find(self, keys: Sequence[str]) -> list[V | None]:
        """The values in the order of the keys, None if missing; found ones become the newest."""
        values: list[V | None] = [None] * len(keys)
        with _a_miss():
            self._load()
            values = [self._one(key) for key in keys]
        missed = values.count(None)
        with self._lock:
            self._misses += missed
            self._hits += len(values) - missed
        return values

    async def afind(self, keys: Sequence[str]) -> list[V | None]:
        """Like ``find``, awaited."""
        return await self._apart(partial(self.find, keys))

    async def akeep(self, values: Mapping[str, V]) -> None:
        """Like ``keep``, awaited; the work is completed even if waiting is cancelled."""
        await self._apart(partial(self.keep, values))

    def figures(self) -> CacheFigures:
        """Entries, capacity, hits and misses; does not read the store."""
        with self._lock:
            return CacheFigures(len(self._entries), self.capacity, self._hits, self._misses)

    async def _apart(self, work: Callable[[], T]) -> T:
        """The result of work that may wait for a store; a thread completes it in any case."""
        return work() if self._store is None else await in_thread(work)

    def _one(self, key: str) -> V | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            value = self._entries[key]
        if value is None and self._store is not None:
            value = self._decode(settled(self._store.get(f"{self._place}:{key}")))
            with self._lock:
                if value is None:
                    self._entries.pop(key, None)
                elif key in self._entries:
                    self._entries[key] = value
        return value

    @_a_miss()
    def keep(self, values: Mapping[str, V]) -> None:
        """Keep the values, and drop the oldest beyond the capacity."""
        self._load()
        with self._lock:
            self._entries.update(values)
            for key in values:
                self._entries.move_to_end(key)
            excess = len(self._entries) - self.capacity
            gone = {self._entries.popitem(last=False)[0] for _ in range(excess)}
            order = list(self._entries)
        if self._store is None:
            return
        kept = {
            f"{self._place}:{key}": self._encode(value)
            for key, value in values.items()
            if key not in gone
        }
        set_all(self._store, {**kept, self._place: json.dumps(order)})
        for key in gone:
            settled(self._store.delete(f"{self._place}:{key}"))

    def _load(self) -> None:
        if self._store is None or self._known:
            return
        order: list[str] = []
        if self.capacity:
            listed = kept_as(settled(self._store.get(self._place)), list[str])
            if listed is None:
                check_unlocked(self._store)
            order = (listed or [])[-self.capacity :]
        with self._lock:
            if not self._known:
                self._entries.update(dict.fromkeys(order))
                self._known = True

    @_a_miss()
    def clear(self) -> None:
        """Remove all entries, and reset the figures."""
        self._load()
        with self._lock:
            keys = list(self._entries)
            self._entries.clear()
            self._hits = self._misses = 0
        if self._store is not None:
            for key in [self._place, *(f"{self._place}:{key}" for key in keys)]:
                settled(self._store.delete(key))


class CompressionCache:
    """Answers of models and embedders, by the SHA-256 of the content and of the model's name.

    ``embeddings`` and ``summaries`` are the numbers of entries that are kept; 0 keeps none. With a
    ``store`` (a URL or an object) they outlive the process. One cache serves any number of threads
    and compressions, and equal requests at the same time are one call.
    """

    def __init__(
        self, embeddings: int = 1000, summaries: int = 500, store: str | KeyValueStore | None = None
    ) -> None:
        check_type(embeddings, int, "CompressionCache.embeddings")
        check_type(summaries, int, "CompressionCache.summaries")
        place = None if store is None else open_store(store)
        numbers = partial(kept_as, kind=list[float])
        self.embeddings: Lru[Vector] = Lru("embeddings", embeddings, place, json.dumps, numbers)
        self.summaries: Lru[str] = Lru("summaries", summaries, place, str, lambda text: text)
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
        for each in (self.embeddings, self.summaries):
            each.find(())  # reads the order of the keys from a store that was not used yet
        return self.figures()

    def figures(self) -> CacheStatistics:
        """Like ``statistics``, but does not read a store that was not used yet."""
        return CacheStatistics(self.embeddings.figures(), self.summaries.figures())


def content_key(text: str) -> str:
    """The SHA-256 of the text, in hexadecimal digits: equal contents share an entry."""
    return digest("", text)


def key_of(model: str, *content: str) -> str:
    """The key of this model's answer to these texts."""
    whole = content[0]
    if len(content) > 1:
        whole = "".join(f"{len(text)}:{text}" for text in content)
    return f"{content_key(model)[:16]}:{content_key(whole)}"
