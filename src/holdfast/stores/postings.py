"""A full-text index for stores whose server has none with BM25.

A posting is ten bytes: the position of a line, the count of the term in it, and its number of
terms. Stores keep postings in blocks, each for one term and many lines.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Protocol

from msgspec import msgpack

from holdfast.text.similarity import (
    MOST_TIMES,
    POSTING,
    Scores,
    affordable,
    best_of,
    bm25,
    tally,
    together,
)
from holdfast.text.words import terms

from .protocols import to_bytes, to_text

# words of a question that are searched, of a pasted page the first: among 8,000 lines so many take
# 3 ms, half 2 and double 5, and half and double find fewer of the ten lines that all words find
_MOST_TERMS = 200
# rarest terms that a search uses: of the ten lines that all terms of a message of recorded runs
# find first, .85 are among its ten; with half .71, and with double .94 in a tenth more time
_MOST_WEIGHED = 24
_LONGEST = 64  # bytes of a term; a longer one is replaced by its hash, since index keys are limited


def term_key(term: str) -> bytes:
    """The term as a key of the store."""
    key = to_bytes(term)
    return key if len(key) <= _LONGEST else b"\xff" + blake2b(key, digest_size=16).digest()


def counted(words: str) -> tuple[dict[bytes, int], int]:
    """The count of each term of a line, by its key, and the number of its terms."""
    found, length = tally(words)
    return {term_key(term): min(times, MOST_TIMES) for term, times in found.items()}, length


_COUNTED = msgpack.Decoder(tuple[dict[bytes, int], int])
_MARK = b"\x92"  # the first byte of such a pair, with which no text in UTF-8 begins

Tallied = tuple[int, Mapping[bytes, int], int]
"""The position of a line, the count of each of its terms by key, and the number of its terms."""


def waiting_words(words: str) -> bytes:
    """The words of a line as they wait to be indexed: counted, in MessagePack."""
    return msgpack.encode(counted(words))


def tallied(rows: Iterable[tuple[int, bytes]]) -> list[Tallied]:
    """The waiting lines, from positions and words, which earlier versions stored as text."""
    return [
        (place, *(_COUNTED.decode(held) if held[:1] == _MARK else counted(to_text("", held))))
        for place, held in rows
    ]


def blocks(lines: Iterable[Tallied]) -> tuple[dict[bytes, bytes], int]:
    """A block of postings for each term of the lines, and the number of terms in all lines."""
    made: dict[bytes, bytes] = {}
    total = 0
    for position, counts, length in lines:
        total += length
        for key, times in counts.items():
            made[key] = made.get(key, b"") + POSTING.pack(position, times, length)
    return made, total


class Postings(Protocol):
    """The index of one log in a database, with the numbers of its ``lines`` and their ``terms``.

    These may be known only when ``holders`` has answered.
    """

    lines: int
    terms: int

    def holders(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, int]]:
        """Keys of terms with numbers of lines that have them; those of one key are added."""
        ...

    def blocks(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, bytes]]:
        """Keys of terms with blocks of their postings, for each key in the order of positions."""
        ...


def scores(
    phrases: Sequence[str], index: Postings, most: int, waiting: Sequence[Tallied] = ()
) -> Scores:
    """BM25 scores by position, best first, from an index and the lines that wait for it.

    Of many words, or of words in many lines, the rarest are used.
    """
    asked = list(dict.fromkeys(phrases))[:_MOST_TERMS]
    joined = (phrase for phrase in asked if " " in phrase)
    singles = chain.from_iterable(map(terms, asked))
    keys = {term: term_key(term) for term in (*singles, *joined)}
    sought = set(keys.values())
    # what waits is one more part of the index
    late, late_terms = blocks(
        (place, {key: counts[key] for key in sought & counts.keys()}, length)
        for place, counts, length in waiting
    )
    holders = Counter({key: len(block) // POSTING.size for key, block in late.items()})
    for key, number in index.holders(list(sought)):
        holders[key] += number
    known = {term: holders[key] for term, key in keys.items() if holders[key]}
    groups = list(dict.fromkeys(together(phrase, known) for phrase in asked))
    rarest = affordable(groups, known)[:_MOST_WEIGHED]
    held = {keys[term]: bytearray() for group in rarest for term in group}
    for key, block in index.blocks(list(held)):
        held[key] += block
    postings = {
        term: held[keys[term]] + late.get(keys[term], b"") for group in rarest for term in group
    }
    lines, total = index.lines + len(waiting), index.terms + late_terms
    wanted = [group for group in groups if group in rarest]
    return dict(best_of(bm25(wanted, postings, lines, total), most))
