"""What messages mean, as vectors of their words: needs numpy (extra ``local``)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
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


class _Rows:
    """A matrix to which rows are added."""

    def __init__(self, held: np.ndarray | None = None) -> None:
        self._held = np.zeros((0, 0), dtype=np.float32) if held is None else held
        self._count = len(self._held)

    def __len__(self) -> int:
        return self._count

    @property
    def filled(self) -> np.ndarray:
        """The rows so far."""
        return self._held[: self._count]

    @property
    def width(self) -> int:
        """Numbers of a row; 0 until one is known."""
        return int(self._held.shape[1])

    def add(self, rows: np.ndarray) -> None:
        """Take in more rows; those that came before the width was known are zeros."""
        end = self._count + len(rows)
        if end > len(self._held) or rows.shape[1] > self.width:
            grown = np.zeros((max(_FIRST_ROWS, 2 * end), rows.shape[1]), dtype=np.float32)
            grown[: self._count, : self.width] = self.filled
            self._held = grown
        self._held[self._count : end] = rows
        self._count = end


class WordVectors:
    """A VectorSource in memory: a message is the sum of the vectors of its words, each weighed by its rarity.

    Weighing by rarity is what makes static vectors tell messages apart (Arora, Liang and Ma, "A Simple but
    Tough-to-Beat Baseline for Sentence Embeddings", 2017). The rarity is that of the moment at which the message
    is added, so that an addition costs the new words only.
    """

    def __init__(self, embedder: WordEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, int] = {}
        self._words = _Rows()
        self._holders: dict[str, int] = {}
        self._rows = _Rows()
        self._positions: list[int] = []

    def add(self, *messages: Remembered) -> None:
        """Take in more messages; the words that are new are embedded at once."""
        told = [_telling(message.body) for message in messages]
        self._learn([word for spoken in told for word in spoken])
        for message, spoken in zip(messages, told, strict=True):
            for root in {stem(word) for word in spoken}:
                self._holders[root] = self._holders.get(root, 0) + 1
            self._positions.append(message.position)
            self._rows.add(self._vector(spoken)[np.newaxis])

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosine similarities of the messages that are nearest to the text."""
        spoken = _telling(text)
        self._learn(spoken)
        asked = self._vector(spoken)
        if not self._positions or len(asked) != self._rows.width:
            return {}
        # Not a product of matrices: the threads that such a one wakes go on spinning long after it is done.
        near = np.einsum("ij,j->i", self._rows.filled, asked)
        count = min(limit, len(near))
        best = np.argpartition(-near, count - 1)[:count] if count < len(near) else np.arange(count)
        return {self._positions[place]: float(near[place]) for place in best.tolist() if near[place] > 0}

    def to_bytes(self) -> bytes:
        """All that was added, to be kept; the words themselves are embedded again when they are needed."""
        told = json.dumps({"positions": self._positions, "holders": self._holders, "width": self._rows.width})
        head = told.encode().ljust(-(-len(told.encode()) // _ALIGNED) * _ALIGNED)
        return len(head).to_bytes(_ALIGNED, "little") + head + self._rows.filled.tobytes()

    @classmethod
    def from_bytes(cls, embedder: WordEmbedder, kept: bytes | mmap) -> WordVectors:
        """What was kept; the rows are read from where they stand, such as a memory-mapped file."""
        found = cls(embedder)
        start = _ALIGNED + int.from_bytes(kept[:_ALIGNED], "little")
        told = json.loads(kept[_ALIGNED:start])
        found._positions, found._holders = told["positions"], told["holders"]
        rows = np.frombuffer(kept, dtype=np.float32, offset=start)
        found._rows = _Rows(rows.reshape(len(found._positions), told["width"]))
        return found

    def _learn(self, spoken: Iterable[str]) -> None:
        """Embed the words that are not known yet."""
        fresh = [word for word in dict.fromkeys(spoken) if word not in self._known]
        if fresh:
            start = len(self._words)
            self._words.add(np.asarray(self._embedder.embed(fresh), dtype=np.float32))
            self._known.update(zip(fresh, range(start, start + len(fresh)), strict=True))

    def _vector(self, spoken: Sequence[str]) -> np.ndarray:
        """The words as one vector of length 1; zeros where none means anything."""
        messages = len(self._positions)
        holders = [self._holders.get(stem(word), 0) for word in spoken]
        rarity = np.array([math.log1p((messages - held + 0.5) / (held + 0.5)) for held in holders], np.float32)
        rows = self._words.filled[[self._known[word] for word in spoken]]
        total: np.ndarray = np.einsum("i,ij->j", rarity, rows)
        length = float(np.linalg.norm(total))
        return total / length if length else total


def _telling(text: str) -> list[str]:
    """The distinct words of the text that mean something."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]
