"""How alike texts are: by words that they share (BM25, text by text), or by their vectors."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import hypot, isfinite
from operator import mul

from holdfast.text.words import terms, words

_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_./:@#][^\W_]++)+")
"""Names whose words are joined by a mark, such as pool_size: each is a term of its own beside its
words."""

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): k1
# between 1.2 and 2, b between 0.5 and 0.8 work for most collections.
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
        joined = (" ".join(words(name)) for name in _JOINED.findall(text))
        for term, times in Counter([*found, *joined]).items():
            self._places.setdefault(term, []).append((place, times))
        self._lengths.append(len(found))
        self._total += len(found)
        return place

    def scores(self, query: str) -> dict[int, float]:
        """The score of every text that shares a term with the query, by place."""
        return self._scored((term,) for term in dict.fromkeys(terms(query)))

    def any_of(self, phrases: Iterable[str]) -> dict[int, float]:
        """The same for every text that holds one of the phrases.

        Of ``pool size`` those that hold ``pool_size``; where none does, those that hold all words
        of it somewhere.
        """
        return self._scored(
            (phrase,)
            if " " in phrase and phrase in self._places
            else tuple(dict.fromkeys(terms(phrase)))
            for phrase in dict.fromkeys(phrases)
        )

    def _scored(self, wanted: Iterable[tuple[str, ...]]) -> dict[int, float]:
        mean = max(1.0, self._total / max(1, len(self._lengths)))
        scores: dict[int, float] = {}
        for together in wanted:
            holders = self._holders(together)
            rarity = math.log1p((len(self) - len(holders) + 0.5) / (len(holders) + 0.5))
            for place, times in holders:
                share = (
                    times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * self._lengths[place] / mean))
                )
                scores[place] = scores.get(place, 0.0) + rarity * share
        return scores

    def _holders(self, together: tuple[str, ...]) -> Sequence[tuple[int, int]]:
        """The places of the texts that hold all of these terms, each with how often they do."""
        if len(together) == 1:
            return self._places.get(together[0], ())
        held = [dict(self._places.get(term, ())) for term in together]
        common = set(held[0]).intersection(*held[1:]) if held else set[int]()
        return [(place, min(times[place] for times in held)) for place in sorted(common)]

    def best(self, query: str, most: int) -> list[tuple[int, float]]:
        """The places with the highest scores, best first; of equals the earlier one."""
        return _best(self.scores(query), most)

    def best_of(self, phrases: Iterable[str], most: int) -> list[tuple[int, float]]:
        """The same for any of the phrases."""
        return _best(self.any_of(phrases), most)


def _best(scores: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    return heapq.nsmallest(most, scores.items(), key=lambda entry: (-entry[1], entry[0]))


Vector = Sequence[float]


def unit(vector: Vector) -> list[float] | None:
    """The vector at length 1.

    None for one without a direction: empty, zero, or with a number that is none.
    """
    length = hypot(*vector)
    return [number / length for number in vector] if length > 0 and isfinite(length) else None


def cosine(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors, from -1 to 1.

    0.0 where there is no angle: vectors of different lengths, empty ones, and those without a
    direction.
    """
    if len(one) != len(other):
        return 0.0
    a, b = unit(one), unit(other)
    return 0.0 if a is None or b is None else max(-1.0, min(1.0, sum(map(mul, a, b))))
