"""Search by meaning, with vectors of words; needs numpy (extra ``local``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from mmap import mmap
from typing import Protocol

from holdfast.kernel.registry import needed_by
from holdfast.text.words import STOP_WORDS, stem, words

from .messages import Remembered

with needed_by("a search by meaning", "local"):
    import numpy as np

_ALIGNED = 8  # bytes; the rows begin at a multiple of it, so that their float32 are aligned


class WordEmbedder(Protocol):
    """Turns words into vectors of one length, in a matrix."""

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """One row for each word, in order."""
        ...


class WordVectors:
    """A VectorSource in memory: a message is the sum of its words' vectors, weighted by rarity.

    Only with such weights do static vectors distinguish messages (Arora, Liang and Ma, "A Simple
    but Tough-to-Beat Baseline for Sentence Embeddings", 2017). The rarity is that at the time of
    adding, so that adding costs only the new words.
    """

    def __init__(self, embedder: WordEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, np.ndarray] = {}
        self._holders = Counter[str]()
        self._rows = np.zeros((0, 0), np.float32)
        """A row for each position; further ones are free."""
        self._positions: list[int] = []
        self.changes = 0
        """How often messages had been changed when these were added; the caller's to set."""

    def add(self, *messages: Remembered) -> None:
        """Add messages; new words are embedded together."""
        told = [_telling(message.body) for message in messages]
        self._learn(word for spoken in told for word in spoken)
        held: list[int] = []
        among: list[int] = []
        for message, spoken in zip(messages, told, strict=True):
            roots = list(map(stem, spoken))
            self._holders.update(list(dict.fromkeys(roots)))
            self._positions.append(message.position)
            held += [self._holders[root] for root in roots]
            among += [len(self._positions)] * len(roots)
        vectors, rows = self._vectors(told, _rarity(held, among)), self._rows
        end, width = len(self._positions), vectors.shape[1]
        start = end - len(vectors)
        if end > len(rows) or width > rows.shape[1]:
            # rows that were made before a word was known are zeros
            self._rows = np.pad(rows[:start], ((0, 2 * end - start), (0, width - rows.shape[1])))
        self._rows[start:end] = vectors

    def nearest(self, text: str, limit: int) -> Mapping[int, float]:
        """Cosines of the messages that are nearest to the text."""
        spoken = _telling(text)
        self._learn(spoken)
        held = [self._holders[stem(word)] for word in spoken]
        asked = self._vectors([spoken], _rarity(held, len(self._positions)))[0]
        if not self._positions or len(asked) != self._rows.shape[1]:
            return {}
        # einsum instead of a matrix product, whose threads keep spinning afterwards
        near = np.einsum("ij,j->i", self._rows[: len(self._positions)], asked)
        count = min(limit, len(near))
        best = np.argpartition(-near, count - 1)[:count]
        return {
            self._positions[place]: float(near[place]) for place in best.tolist() if near[place] > 0
        }

    def to_bytes(self) -> bytes:
        """Everything that was added, without the words' vectors, which can be computed again."""
        width = self._rows.shape[1]
        told = {
            "positions": self._positions,
            "holders": self._holders,
            "width": width,
            "changes": self.changes,
        }
        head = json.dumps(told).encode()
        head = head.ljust(-(-len(head) // _ALIGNED) * _ALIGNED)
        rows = self._rows[: len(self._positions)]
        return len(head).to_bytes(_ALIGNED, "little") + head + rows.tobytes()

    @classmethod
    def from_bytes(cls, embedder: WordEmbedder, kept: bytes | mmap) -> WordVectors:
        """The vectors that ``to_bytes`` wrote; the rows are not copied."""
        found = cls(embedder)
        start = _ALIGNED + int.from_bytes(kept[:_ALIGNED], "little")
        told = json.loads(kept[_ALIGNED:start])
        found._positions, found._holders = told["positions"], Counter[str](told["holders"])
        found.changes = told.get("changes", 0)  # earlier versions knew of none
        rows = np.frombuffer(kept, dtype=np.float32, offset=start)
        found._rows = rows.reshape(len(found._positions), told["width"])
        return found

    def _learn(self, spoken: Iterable[str]) -> None:
        """Embed the unknown words."""
        fresh = list(dict.fromkeys(word for word in spoken if word not in self._known))
        if fresh:
            self._known.update(zip(fresh, self._embedder.rows(fresh), strict=True))

    def _vectors(self, told: Sequence[Sequence[str]], rarity: np.ndarray) -> np.ndarray:
        """One vector of length 1 for each text; zeros if no word is known."""
        known = self._known
        width = len(next(iter(known.values()), ()))
        vectors = np.zeros((len(told), width), np.float32)
        start = 0
        for vector, spoken in zip(vectors, told, strict=True):
            end = start + len(spoken)
            if spoken:
                rows = np.array([known[word] for word in spoken])
                np.einsum("i,ij->j", rarity[start:end], rows, out=vector)
            start = end
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.where(lengths > 0, lengths, 1)[:, np.newaxis]
        return vectors


def _rarity(held: Sequence[int], among: Sequence[int] | int) -> np.ndarray:
    """The weights of words that ``held`` of ``among`` messages have."""
    holders = np.array(held, np.float64)
    return np.log1p((np.array(among) - holders + 0.5) / (holders + 0.5)).astype(np.float32)


def _telling(text: str) -> list[str]:
    """The distinct meaningful words of the text."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]
