"""What the messages of a thread mean: vectors in blocks, each kept in the store once it is full.

They grow when somebody searches, a bounded number a time, so that neither an append nor a search waits for long.
Only the newest blocks are searched, which bounds the memory; words find what is older.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Protocol, cast

from holdfast.kernel.errors import MissingExtraError, StoreError
from holdfast.kernel.registry import Registry
from holdfast.memory.remembered import GrowingVectors, Remembered
from holdfast.providers import open_embedder
from holdfast.stores.protocols import GetsBytes, SetsBytes

from .lines import Kept
from .settling import settled
from .thread import Thread

_PARTS = Registry("part of a search by meaning", "meaning", {"vectors": "holdfast.memory.vectors:WordVectors"})
"""What needs numpy is loaded where it is installed and asked for."""

_BLOCK = 4_096  # messages
_BLOCKS = 2  # that are searched: some 8 MB of vectors
_AT_ONCE = 2_000  # messages that one search adds: some 0.3 s, once
_READ = 500
_LONGEST = 4_000  # characters of one message that say what it means
_OUTPUT = 400  # the same of what a tool gave: by its words it is found whole
_NEAREST = 40  # messages that are near; each costs the reading of it and its neighbours


class _Vectors(GrowingVectors, Protocol):
    def to_bytes(self) -> bytes: ...


class _Kind(Protocol):
    def __call__(self, embedder: object) -> _Vectors: ...

    def from_bytes(self, embedder: object, kept: bytes) -> _Vectors: ...


class Meaning:
    """The vectors of one thread."""

    def __init__(self, thread: Thread, kind: _Kind, embedder: object) -> None:
        self._thread, self._kind, self._embedder = thread, kind, embedder
        self._blocks: dict[int, _Vectors] = {}
        self._next = 0

    @classmethod
    def of(cls, thread: Thread, *, wanted: bool | None) -> Meaning | None:
        """The vectors of the thread; without the extra ``local`` None, or MissingExtraError if they are wanted."""
        if wanted is False:
            return None
        try:
            kind = cast("_Kind", _PARTS.load("vectors"))
            return cls(thread, kind, open_embedder("local"))
        except MissingExtraError:
            if wanted:
                raise
            return None

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosine similarities of the messages that are nearest to the text, by position."""
        self.grow(_AT_ONCE)
        most = min(limit, _NEAREST)
        found: dict[int, float] = {}
        for block in self._blocks.values():
            found.update(block.nearest(text, most))
        best = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
        return dict(best[:most])

    def grow(self, most: int | None = None) -> None:
        """Take in the messages that are not in yet, at most so many."""
        end = self._thread.state.messages
        first = max(0, (end - 1) // _BLOCK - _BLOCKS + 1)
        if self._next < first * _BLOCK or not self._blocks:
            self._open(first)
        stop = end if most is None else min(end, self._next + most)
        for start in range(self._next, stop, _READ):
            found = self._thread.read(range(start, min(start + _READ, stop))).items()
            said = [(place, _brief(kept)) for place, kept in found if kept.message.role != "system"]
            for number, part in groupby(said, lambda entry: entry[0] // _BLOCK):
                self._block(number).add(*(message for _, message in part))
        if self._next // _BLOCK < stop // _BLOCK:
            self.save(self._next // _BLOCK, stop // _BLOCK)
        self._next = max(self._next, stop)
        self._blocks = {number: block for number, block in self._blocks.items() if number >= first}

    def save(self, first: int, stop: int) -> None:
        """Keep these blocks, which are full. Where they cannot be kept, they are made again next time."""
        store = self._thread.store
        if isinstance(store, SetsBytes):
            for number in range(first, stop):
                self._kept(store.set_bytes, number)

    def _kept(self, keep: Callable[[str, bytes], object], number: int) -> None:
        try:
            if number in self._blocks:
                settled(keep(self._key(number), self._blocks[number].to_bytes()))
        except StoreError:
            return

    def _open(self, first: int) -> None:
        """The blocks that are kept, from this one on until one is missing."""
        self._next = first * _BLOCK
        store = self._thread.store
        while isinstance(store, GetsBytes) and self._next + _BLOCK <= self._thread.state.messages:
            kept = settled(store.get_bytes(self._key(self._next // _BLOCK)))
            try:
                self._blocks[self._next // _BLOCK] = self._kind.from_bytes(self._embedder, kept or b"")
            except (ValueError, KeyError, TypeError):
                return  # not kept, or damaged: it is made again
            self._next += _BLOCK

    def _block(self, number: int) -> _Vectors:
        if number not in self._blocks:
            self._blocks[number] = self._kind(self._embedder)
        return self._blocks[number]

    def _key(self, number: int) -> str:
        return f"vectors:{number}:{self._thread.name}"


def _brief(kept: Kept) -> Remembered:
    message, most = kept.remembered, _OUTPUT if kept.message.results else _LONGEST
    return replace(message, text=message.text[:most]) if len(message.text) > most else message
