"""Vectors of the words of a text and of the letters in them.

No model, nothing to install, no network.

Texts are alike here when they share words and parts of words; what they mean is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log, sqrt

from holdfast.text.words import STOP_WORDS, words

_DIMENSIONS = 512
# Hashing with signs keeps angles: two features that meet in one place cancel as often as they add
# up (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009).
_SIGN = 1 << 63
_GRAMS = (3, 4)  # letters
_LONGEST = 48  # letters of a word that are looked at
_LETTERS = 0.6  # what all parts of a word weigh against the word itself
_COMMON = 0.2  # what a word without a meaning of its own weighs against another


class LexicalEmbedder:
    """Hashed and weighted words and runs of their letters, in 512 places."""

    name = "lexical-512"

    def __init__(self, name: str = "") -> None:
        del name  # there is one kind

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; zeros for a text without words."""
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
    """Where the word and its runs of letters go, and with what weight."""
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
