"""Embeddings and summaries that were paid for once: two caches in one object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import KeyValueStore
from holdfast.opened import opened
from holdfast.usage import CacheStatistics

from .flights import Flights
from .lru import Lru

Vector = Sequence[float]


class CompressionCache:
    """What models and embedders have answered, by the SHA-256 of the content and the model's name.

    ``embeddings`` and ``summaries`` are the most that is kept of each; 0 keeps nothing. With a ``store`` (a URL
    or an object) it outlives the process. One object serves any number of threads and compressions, and equal
    requests at the same time are one call.
    """

    def __init__(
        self, embeddings: int = 1000, summaries: int = 500, store: str | KeyValueStore | None = None
    ) -> None:
        for name, capacity in (("embeddings", embeddings), ("summaries", summaries)):
            if not isinstance(cast("object", capacity), int) or capacity < 0:
                raise ConfigError(f"{capacity!r} is not a number of entries", place=f"CompressionCache.{name}")
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
        """Forget everything, in the store too, and begin the figures anew."""
        self.embeddings.clear()
        self.summaries.clear()

    def statistics(self) -> CacheStatistics:
        """Size, capacity, hits and misses of each."""
        self.embeddings.load()
        self.summaries.load()
        return self.figures()

    def figures(self) -> CacheStatistics:
        """As ``statistics``, without a look into a store that nobody has needed yet."""
        return CacheStatistics(self.embeddings.figures(), self.summaries.figures())


def content_key(text: str) -> str:
    """The SHA-256 of the text, in hexadecimal digits: equal contents share an entry."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(model: str, *content: str) -> str:
    """Where an answer of this model to this content is kept; several texts do not run together."""
    whole = content[0] if len(content) == 1 else "".join(f"{len(text)}:{text}" for text in content)
    return f"{content_key(model)[:16]}:{content_key(whole)}"


def _vector(text: str) -> Vector:
    numbers: object = json.loads(text)
    if not isinstance(numbers, list):
        raise ValueError("no vector")  # noqa: TRY004 - as of a text that is no JSON
    return [float(number) for number in cast("list[str | float]", numbers)]
