"""How well texts answer a query by the words that they share: BM25, built up text by text."""

from __future__ import annotations

import heapq
import math
from collections import Counter

from .words import terms

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): k1 between 1.2 and 2,
# b between 0.5 and 0.8 work for most collections.
_K1 = 1.2
_B = 0.75


class Lexical:
    """An index over a growing list of texts, each known by its place in it."""

    __slots__ = ("_lengths", "_places", "_total")

    def __init__(self) -> None:
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, text: str) -> int:
        """Take one more text; its place is what the scores call it."""
        place = len(self._lengths)
        found = terms(text)
        for term, times in Counter(found).items():
            self._places.setdefault(term, []).append((place, times))
        self._lengths.append(len(found))
        self._total += len(found)
        return place

    def scores(self, query: str) -> dict[int, float]:
        """The score of every text that shares a term with the query, by place."""
        mean = max(1.0, self._total / max(1, len(self._lengths)))
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms(query)):
            holders = self._places.get(term, ())
            rarity = math.log1p((len(self) - len(holders) + 0.5) / (len(holders) + 0.5))
            for place, times in holders:
                share = times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * self._lengths[place] / mean))
                scores[place] = scores.get(place, 0.0) + rarity * share
        return scores

    def best(self, query: str, most: int) -> list[tuple[int, float]]:
        """The places with the highest scores, best first; of equals the earlier one."""
        return heapq.nsmallest(most, self.scores(query).items(), key=lambda entry: (-entry[1], entry[0]))
