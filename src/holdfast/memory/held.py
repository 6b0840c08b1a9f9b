"""Messages and their words in memory: what a store provides for long threads, for those that are short."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.text.similarity import Lexical

from .remembered import Remembered


class WordIndex:
    """A LexicalSource in memory: BM25 whose statistics grow with each message."""

    def __init__(self) -> None:
        self._lexical = Lexical()
        self._positions: list[int] = []

    def add(self, message: Remembered) -> None:
        """Take in one more message."""
        self._lexical.add(message.told)
        self._positions.append(message.position)

    def candidates(self, terms: Sequence[str], limit: int) -> Mapping[int, float]:
        """BM25 scores of the best messages that hold any of the words."""
        return {self._positions[place]: score for place, score in self._lexical.best_of(terms, limit) if score > 0}


class MessageList:
    """A MessageSource in memory."""

    def __init__(self) -> None:
        self._messages: dict[int, Remembered] = {}
        self._moments: list[tuple[float, int]] = []
        self._speakers: Counter[str] = Counter()

    def add(self, message: Remembered) -> None:
        """Take in one more message."""
        self._messages[message.position] = message
        if message.said is not None:
            insort(self._moments, (message.said, message.position))
        if message.speaker:
            self._speakers[message.speaker] += 1

    def read(self, positions: Sequence[int]) -> Mapping[int, Remembered]:
        """Those of the positions that there are."""
        return {position: self._messages[position] for position in positions if position in self._messages}

    def between(self, first: float, last: float, limit: int) -> Sequence[int]:
        """The positions of the messages that were said from ``first`` to ``last``, the earliest first."""
        start = bisect_left(self._moments, first, key=lambda entry: entry[0])
        end = bisect_right(self._moments, last, key=lambda entry: entry[0])
        return [position for _, position in self._moments[start : min(end, start + limit)]]

    def newest(self, limit: int) -> Sequence[int]:
        """The positions of the newest messages, the newest first."""
        return heapq.nlargest(limit, self._messages)

    def speakers(self) -> Sequence[str]:
        """The names of those who speak."""
        return list(self._speakers)
