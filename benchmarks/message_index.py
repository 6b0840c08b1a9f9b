"""Messages in memory, searched as a session searches its store; for benchmarks and tests."""

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Protocol

from holdfast.memory import FactorWeights, Hit, Remembered, Retrieval, VectorSource
from holdfast.text.similarity import Lexical


class GrowingVectors(VectorSource, Protocol):
    """Vectors in memory that can grow."""

    def add(self, *messages: Remembered) -> None:
        """Add messages."""
        ...


class MessageIndex:
    """A MessageSource in memory."""

    def __init__(self) -> None:
        self._lexical = Lexical()
        self._positions: list[int] = []
        self._messages: dict[int, Remembered] = {}
        self._moments: list[tuple[float, int]] = []
        self._speakers: dict[str, None] = {}

    def add(self, message: Remembered) -> None:
        """Add a message; the cost does not depend on the others."""
        self._lexical.add(message.told)
        self._positions.append(message.position)
        self._messages[message.position] = message
        if message.said is not None:
            insort(self._moments, (message.said, message.position))
        if message.speaker:
            self._speakers[message.speaker] = None

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores of the best messages with any of the words."""
        best = self._lexical.best_of(terms, limit)
        return {self._positions[place]: score for place, score in best if score > 0}

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """The existing messages at these positions."""
        held = self._messages
        return {position: held[position] for position in positions if position in held}

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of the messages in this period, the earliest first."""
        start = bisect_left(self._moments, (first,))
        end = bisect_right(self._moments, last, key=lambda entry: entry[0])
        return [position for _, position in self._moments[start : min(end, start + limit)]]

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of the newest messages, the newest first."""
        return heapq.nlargest(limit, self._messages)

    def speakers(self) -> Sequence[str]:
        """The names of the speakers."""
        return list(self._speakers)


class Index:
    """A search index in memory."""

    def __init__(
        self, vectors: GrowingVectors | None = None, weights: FactorWeights | None = None
    ) -> None:
        self.messages = MessageIndex()
        self._vectors = vectors
        self._retrieval = Retrieval(self.messages, vectors, weights)

    def add(self, message: Remembered) -> None:
        """Add a message; the cost does not depend on the others."""
        self.messages.add(message)
        if self._vectors is not None:
            self._vectors.add(message)

    def search(self, question: str, limit: int, now: float | None = None) -> list[Hit]:
        """Return the messages that answer best, best first; ``now`` as in ``Retrieval.search``."""
        return self._retrieval.search(question, limit, now)
