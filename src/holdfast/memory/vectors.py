"""What messages mean, as vectors of their words: needs numpy (extra ``local``)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from mmap import mmap
from typing import Protocol

from holdfast.kernel.errors import MissingExtraError
from holdfast.text.words import STOP_WORDS, stem, words

from .remembered import Remembered

try:
    import numpy as np
except ImportError as missing:
    raise MissingExtraError("a search by meaning", "local") from missing

_FIRST_ROWS = 256
_ALIGNED = 8  # bytes


class WordEmbedder(Protocol):
    """Turns words into vectors of one length, at once."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""
        ...


class WordVectors:
    """A VectorSource in memory: a message is the sum of the vectors of its words, each weighed by its rarity.

    Weighing by rarity is what makes static vectors tell messages apart (Arora, Liang and Ma, "A Simple but
    Tough-to-Beat Baseline for Sentence Embeddings", 2017). The rarity is that of the moment at which the message
    is added, so that an addition costs the new words only.
    """

    def __init__(self, embedder: WordEmbedder) -> None:
        self._embedder = embedder
        self._words: dict[str, np.ndarray] = {}
        self._holders: dict[str, int] = {}
        self._rows = np.zeros((0, 0), dtype=np.float32)
        self._positions: list[int] = []

    def add(self, message: Remembered) -> None:
        """Take in one more message."""
        spoken = _telling(message.body)
        for root in {stem(word) for word in spoken}:
            self._holders[root] = self._holders.get(root, 0) + 1
        row = self._vector(spoken, len(self._positions) + 1)
        if len(self._positions) == len(self._rows) or len(row) > self._rows.shape[1]:
            grown = np.zeros((max(_FIRST_ROWS, 2 * len(self._positions)), len(row)), dtype=np.float32)
            grown[: len(self._rows), : self._rows.shape[1]] = self._rows
            self._rows = grown
        self._rows[len(self._positions)] = row
        self._positions.append(message.position)

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosine similarities of the messages that are nearest to the text."""
        asked = self._vector(_telling(text), len(self._positions))
        if not self._positions or len(asked) != self._rows.shape[1]:
            return {}
        near = self._rows[: len(self._positions)] @ asked
        count = min(limit, len(near))
        best = np.argpartition(-near, count - 1)[:count] if count < len(near) else np.arange(count)
        return {self._positions[place]: float(near[place]) for place in best.tolist() if near[place] > 0}

    def to_bytes(self) -> bytes:
        """All that was added, to be kept; the words themselves are embedded again when they are needed."""
        told = json.dumps({"positions": self._positions, "holders": self._holders, "width": self._rows.shape[1]})
        head = told.encode().ljust(-(-len(told.encode()) // _ALIGNED) * _ALIGNED)
        return len(head).to_bytes(_ALIGNED, "little") + head + self._rows[: len(self._positions)].tobytes()

    @classmethod
    def from_bytes(cls, embedder: WordEmbedder, kept: bytes | mmap) -> WordVectors:
        """What was kept; the rows are read from where they stand, such as a memory-mapped file."""
        found = cls(embedder)
        start = _ALIGNED + int.from_bytes(kept[:_ALIGNED], "little")
        told = json.loads(kept[_ALIGNED:start])
        found._positions, found._holders = told["positions"], told["holders"]
        rows = np.frombuffer(kept, dtype=np.float32, offset=start)
        found._rows = rows.reshape(len(found._positions), told["width"])
        return found

    def _vector(self, spoken: Sequence[str], messages: int) -> np.ndarray:
        fresh = [word for word in spoken if word not in self._words]
        if fresh:
            for word, vector in zip(fresh, self._embedder.embed(fresh), strict=True):
                self._words[word] = np.asarray(vector, dtype=np.float32)
        total = np.zeros(len(next(iter(self._words.values()), ())), dtype=np.float32)
        for word in spoken:
            holders = self._holders.get(stem(word), 0)
            total += self._words[word] * math.log1p((messages - holders + 0.5) / (holders + 0.5))
        length = float(np.linalg.norm(total))
        return total / length if length else total


def _telling(text: str) -> list[str]:
    """The distinct words of the text that mean something."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]
