"""Vectors of a text's words and parts of words: no model, no installation, no network.

Texts are similar if they share words and parts of words; meaning is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log, sqrt

from holdfast.text.words import STOP_WORDS, words

_DIMENSIONS = 512  # of a vector; enough that few words of a text meet in one. Chosen by hand.
# Hashing with signs keeps angles: two features that meet in one place cancel as often as they add
# up (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009).
_SIGN = 1 << 63
# Chosen by hand:
_GRAMS = (3, 4)  # letters of the parts of a word
_LONGEST = 48  # letters of a word that are used
_LETTERS = 0.6  # weight of all parts of a word relative to the word
_COMMON = 0.2  # weight of a stop word relative to other words


class LexicalEmbedder:
    """Hashed and weighted words and parts of words, in 512 dimensions."""

    name = "lexical-512"

    def __init__(self, name: str = "") -> None:
        del name  # there is only one

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; zeros for a text without words."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    vector = [0.0] * _DIMENSIONS
    for word, times in Counter(words(text)).items():
        weight = (1 + log(times)) * (_COMMON if word in STOP_WORDS else 1.0)
        for place, value in _features(word):
            vector[place] += weight * value
    return vector


@lru_cache(maxsize=1 << 15)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """The dimensions of the word and of its parts, each with the value to add."""
    runs = sorted(set(_runs(word)))
    each = _LETTERS / sqrt(len(runs)) if runs else 0.0
    return (_placed(word, 1.0), *(_placed(f"<{run}", each) for run in runs))


def _runs(word: str) -> Iterator[str]:
    framed = f"^{word[:_LONGEST]}$"
    for size in _GRAMS:
        yield from (framed[at : at + size] for at in range(len(framed) - size + 1))


def _placed(feature: str, weight: float) -> tuple[int, float]:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return number % _DIMENSIONS, -weight if number & _SIGN else weight
