"""Which lines of a log hold a term: the index of stores whose server has none that scores by BM25.

A posting is ten bytes: the position of the line, how often it holds the term, and how many terms it
has. Stores keep them in blocks, each of one term and many lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from struct import Struct

from holdfast.stores.protocols import to_bytes
from holdfast.text.similarity import Posting, best_of, bm25, tally, together
from holdfast.text.words import terms

POSTING = Struct(">IHI")
_MOST_TIMES = 0xFFFF
_LONGEST = 64  # bytes of a term as it is; a longer one stands as its hash, for indexes bound keys
_MOST_TERMS = 200  # words of a question; one of 50,000 tokens asks for its first
_MOST_WEIGHED = 24  # terms that a search weighs, the rarest: the others change nearly nothing
_MOST_HOLDERS = 10_000  # postings that one search reads, whatever the length of the log


def term_key(term: str) -> bytes:
    """The term as a store names it."""
    key = to_bytes(term)
    return key if len(key) <= _LONGEST else b"\xff" + blake2b(key, digest_size=16).digest()


def counted(words: str) -> tuple[dict[bytes, int], int]:
    """How often each term stands in the words of a line, by its key; how many terms it has."""
    found, length = tally(words)
    return {term_key(term): min(times, _MOST_TIMES) for term, times in found.items()}, length


def blocks(lines: Mapping[int, str]) -> tuple[dict[bytes, list[Posting]], int]:
    """The postings of lines by position, by the key of their term; the terms of all lines."""
    made: dict[bytes, list[Posting]] = {}
    total = 0
    for position, words in sorted(lines.items()):
        found, length = counted(words)
        total += length
        for key, times in found.items():
            made.setdefault(key, []).append((position, times, length))
    return made, total


def packed(postings: Iterable[Posting]) -> bytes:
    """The postings as bytes."""
    return b"".join(POSTING.pack(*posting) for posting in postings)


def unpacked(block: bytes) -> list[Posting]:
    """The inverse of ``packed``."""
    return list(POSTING.iter_unpack(block))


class Question:
    """What a search asks for: the keys of all terms that may count, and then those that do."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self._phrases = list(dict.fromkeys(phrases))[:_MOST_TERMS]
        single = chain.from_iterable(map(terms, self._phrases))
        joined = (phrase for phrase in self._phrases if " " in phrase)
        self._keys = {term: term_key(term) for term in dict.fromkeys([*single, *joined])}

    @property
    def keys(self) -> list[bytes]:
        """The keys of the terms whose numbers of holders are to be told."""
        return list(self._keys.values())

    def times(self, lines: Iterable[Container[str]]) -> Counter[bytes]:
        """How many of these lines, each told by the terms that it holds, hold each term, by key."""
        found = Counter[bytes]()
        for line in lines:
            found.update(key for term, key in self._keys.items() if term in line)
        return found

    def weighed(self, holders: Mapping[bytes, int]) -> dict[str, bytes]:
        """The terms that are weighed, and their keys: the rarest, at least those of one phrase.

        A word that everybody says says nothing, and is what a search over a long log would take
        its time for.
        """
        known = {term: holders[key] for term, key in self._keys.items() if holders.get(key)}
        groups = {together(phrase, known) for phrase in self._phrases}
        present = [group for group in groups if group and all(term in known for term in group)]
        present.sort(key=lambda group: (min(known[term] for term in group), group))
        chosen: dict[str, bytes] = {}
        left = _MOST_HOLDERS
        for group in present[:_MOST_WEIGHED]:
            left -= sum(known[term] for term in group if term not in chosen)
            if left < 0 and chosen:
                break
            chosen |= {term: self._keys[term] for term in group}
        return chosen

    def best(
        self, postings: Mapping[str, Sequence[Posting]], lines: int, total: int, most: int
    ) -> dict[int, float]:
        """BM25 scores by position, best first, of the postings by their term."""
        groups = (together(phrase, postings) for phrase in self._phrases)
        wanted = [
            group for group in dict.fromkeys(groups) if all(term in postings for term in group)
        ]
        return dict(best_of(bm25(wanted, postings, lines, total), most))
