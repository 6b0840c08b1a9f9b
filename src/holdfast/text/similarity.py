"""Similarity of texts: by shared words (BM25) or by their vectors."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from math import hypot, isfinite
from operator import mul
from struct import Struct

from .words import terms, words

_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_./:@#][^\W_]++)+")
"""Joined names such as pool_size, each a term beside its words."""

# The defaults of Lucene. Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
# Beyond" (2009): k1 between 1.2 and 2, b between 0.5 and 0.8 work for most collections.
_K1, _B = 1.2, 0.75


Group = tuple[str, ...]
"""Terms that a text must have together."""

# how well texts answer, by their index or position
Scores = Mapping[int, float]

MOST_HOLDERS = 5_000
"""Postings that one search reads, which takes about 2 ms for a log of any length."""

POSTING = Struct(">IHI")
"""A posting in ten bytes: the index of a text, the count of a term in it, and the number of its
terms. Many of them in one block are read far faster than as many objects.
"""
MOST_TIMES = 0xFFFF
"""The largest count in the two bytes of a posting."""


def tally(text: str) -> tuple[Counter[str], int]:
    """The count of each term, joined names included, and the number of terms."""
    found = terms(text)
    joined = (" ".join(words(name)) for name in _JOINED.findall(text))
    return Counter([*found, *joined]), len(found)


def each_once(text: str) -> str:
    """The words and joined names of the text, each once; numbers and times come last.

    ``tally`` finds in it what it finds in the text, but how often.
    """
    found = dict.fromkeys([*words(text), *_JOINED.findall(text.lower())])
    return " ".join(sorted(found, key=lambda name: name[0].isdigit()))


def bm25(
    wanted: Iterable[Group],
    blocks: Mapping[str, bytes | bytearray],
    texts: int,
    total: int,
) -> Scores:
    """The BM25 score, by index, of every text with all terms of one of the wanted groups.

    ``blocks`` has the postings of each term, ``texts`` is the number of texts, ``total`` the number
    of their terms.
    """
    mean, highest, even = max(1.0, total / max(1, texts)), _K1 + 1, 1 - _B
    scores = defaultdict[int, float](float)
    for together in wanted:
        block = _holders(together, blocks)
        holders = len(block) // POSTING.size
        rarity = math.log1p((texts - holders + 0.5) / (holders + 0.5))
        for place, times, length in POSTING.iter_unpack(block):
            share = times * highest / (times + _K1 * (even + _B * length / mean))
            scores[place] += rarity * share
    return scores


def together(phrase: str, known: Container[str]) -> Group:
    """The terms that a text must have for the phrase: the joined name, or its words."""
    if " " in phrase and phrase in known:
        return (phrase,)
    return tuple(dict.fromkeys(terms(phrase)))


def affordable(groups: Iterable[Group], holders: Mapping[str, int]) -> list[Group]:
    """The groups of terms that a search uses: the rarest ones with not too many lines together.

    At least one group, if any line has all its terms. ``holders`` gives the number of lines with
    each term. A word that is everywhere distinguishes nothing, and would take most of the time.
    """
    present = [group for group in groups if group and all(map(holders.get, group))]
    present.sort(key=lambda group: (min(holders[term] for term in group), group))
    chosen: list[Group] = []
    left, seen = MOST_HOLDERS, set[str]()
    for group in present:
        left -= sum(holders[term] for term in group if term not in seen)
        if left < 0 and chosen:
            break
        chosen.append(group)
        seen.update(group)
    return chosen


def _holders(together: Group, blocks: Mapping[str, bytes | bytearray]) -> bytes | bytearray:
    """The postings of the texts that have all of these terms."""
    if len(together) == 1:
        return blocks.get(together[0], b"")
    held = [
        {
            place: (times, length)
            for place, times, length in POSTING.iter_unpack(blocks.get(term, b""))
        }
        for term in together
    ]
    common = set(held[0]).intersection(*held[1:])
    return b"".join(
        POSTING.pack(place, min(times[place][0] for times in held), held[0][place][1])
        for place in sorted(common)
    )


class Lexical:
    """A BM25 index of a growing list of texts, each known by its index."""

    __slots__ = ("_blocks", "_texts", "_total")

    def __init__(self) -> None:
        self._blocks: defaultdict[str, bytearray] = defaultdict(bytearray)
        self._texts = self._total = 0

    def add(self, text: str) -> int:
        """Add a text and return its index."""
        place = self._texts
        found, length = tally(text)
        for term, times in found.items():
            self._blocks[term] += POSTING.pack(place, min(times, MOST_TIMES), length)
        self._texts += 1
        self._total += length
        return place

    def scores(self, query: str) -> Scores:
        """The score, by index, of every text that shares a term with the query."""
        wanted = ((term,) for term in dict.fromkeys(terms(query)))
        return bm25(wanted, self._blocks, self._texts, self._total)

    def best_of(self, phrases: Iterable[str], most: int) -> list[tuple[int, float]]:
        """The best texts for any of the phrases, best first.

        For ``pool size``, these are the texts with ``pool_size``, or, if there are none, those with
        both words.
        """
        groups = [together(phrase, self._blocks) for phrase in dict.fromkeys(phrases)]
        asked = {term for group in groups for term in group}
        holders = {term: len(self._blocks.get(term, b"")) // POSTING.size for term in asked}
        used = frozenset(affordable(groups, holders))
        wanted = (group for group in groups if group in used)
        return best_of(bm25(wanted, self._blocks, self._texts, self._total), most)


def best_of(scores: Scores, most: int) -> list[tuple[int, float]]:
    """The highest scores, best first; ties in order of index."""
    best = sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:most]
    return [(place, scores[place]) for place in best]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of both that are common; 0 if either has none."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


Vector = Sequence[float]


def unit(vector: Vector) -> list[float] | None:
    """The vector with length 1; None for an empty one, zero, or one with an invalid number."""
    length = hypot(*vector)
    return [number / length for number in vector] if length > 0 and isfinite(length) else None


def cosine(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors, from -1 to 1; 0.0 if there is none."""
    if len(one) != len(other):
        return 0.0
    a, b = unit(one), unit(other)
    return 0.0 if a is None or b is None else max(-1.0, min(1.0, sum(map(mul, a, b))))
