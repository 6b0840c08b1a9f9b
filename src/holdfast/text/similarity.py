"""How alike texts are: by words that they share (BM25, text by text), or by their vectors."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
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


Posting = tuple[int, int, int]
"""The place of a text, how often it holds a term, and how many terms it has."""


def tally(text: str) -> tuple[Counter[str], int]:
    """How often each term, joined names included, stands in the text, and how many there are."""
    found = terms(text)
    joined = (" ".join(words(name)) for name in _JOINED.findall(text))
    return Counter([*found, *joined]), len(found)


def bm25(
    wanted: Iterable[tuple[str, ...]],
    postings: Mapping[str, Sequence[Posting]],
    texts: int,
    total: int,
) -> dict[int, float]:
    """The score of every text that holds all terms of one of the groups that are wanted, by place.

    ``texts`` is how many there are, ``total`` how many terms they have together.
    """
    mean = max(1.0, total / max(1, texts))
    scores: dict[int, float] = {}
    for together in wanted:
        holders = _holders(together, postings)
        rarity = math.log1p((texts - len(holders) + 0.5) / (len(holders) + 0.5))
        for place, times, length in holders:
            share = times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length / mean))
            scores[place] = scores.get(place, 0.0) + rarity * share
    return scores


def together(phrase: str, known: Container[str]) -> tuple[str, ...]:
    """The terms that a text must hold for the phrase: the joined name that it is, or its words."""
    if " " in phrase and phrase in known:
        return (phrase,)
    return tuple(dict.fromkeys(terms(phrase)))


def _holders(
    together: tuple[str, ...], postings: Mapping[str, Sequence[Posting]]
) -> Sequence[Posting]:
    """The texts that hold all of these terms."""
    if len(together) == 1:
        return postings.get(together[0], ())
    held = [
        {place: (times, length) for place, times, length in postings.get(term, ())}
        for term in together
    ]
    common = set(held[0]).intersection(*held[1:]) if held else set[int]()
    return [
        (place, min(times[place][0] for times in held), held[0][place][1])
        for place in sorted(common)
    ]


class Lexical:
    """An index over a growing list of texts, each known by its place in it."""

    __slots__ = ("_places", "_texts", "_total")

    def __init__(self) -> None:
        self._places: dict[str, list[Posting]] = {}
        self._texts = self._total = 0

    def __len__(self) -> int:
        return self._texts

    def add(self, text: str) -> int:
        """Take one more text; its place is what the scores call it."""
        place = self._texts
        found, length = tally(text)
        for term, times in found.items():
            self._places.setdefault(term, []).append((place, times, length))
        self._texts += 1
        self._total += length
        return place

    def scores(self, query: str) -> dict[int, float]:
        """The score of every text that shares a term with the query, by place."""
        return self._scored((term,) for term in dict.fromkeys(terms(query)))

    def any_of(self, phrases: Iterable[str]) -> dict[int, float]:
        """The same for every text that holds one of the phrases.

        Of ``pool size`` those that hold ``pool_size``; where none does, those that hold all words
        of it somewhere.
        """
        return self._scored(together(phrase, self._places) for phrase in dict.fromkeys(phrases))

    def _scored(self, wanted: Iterable[tuple[str, ...]]) -> dict[int, float]:
        return bm25(wanted, self._places, self._texts, self._total)

    def best(self, query: str, most: int) -> list[tuple[int, float]]:
        """The places with the highest scores, best first; of equals the earlier one."""
        return best_of(self.scores(query), most)

    def best_of(self, phrases: Iterable[str], most: int) -> list[tuple[int, float]]:
        """The same for any of the phrases."""
        return best_of(self.any_of(phrases), most)


def best_of(scores: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    """So many places with the highest scores, best first; of equals the earlier one."""
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
