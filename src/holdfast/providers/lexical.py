"""Vectors and summaries made from a text's own words: no model, no installation, no network.

Texts are similar if they share words and parts of words; meaning is not compared. A summary is the
most important sentences, word for word.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log, sqrt

from holdfast.excerpts import ordered_texts
from holdfast.text.sentences import sentences
from holdfast.text.visible import GLANCE
from holdfast.text.words import STOP_WORDS, words

# of a vector; with half .416 of the messages that answer in dialogues were among the ten nearest
# instead of .429, and with double .452
_DIMENSIONS = 512
# Hashing with signs keeps angles: two features that meet in one place cancel as often as they add
# up (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009).
_GRAMS = (3, 4)  # letters of the parts of a word; fastText (Bojanowski et al., 2017) takes 3 to 6
_LONGEST = 48  # letters of a word that are used: a longer run is data, and each part takes time
# weight of all parts of a word relative to the word; half found .412 in dialogues instead of .429,
# and double .458
_LETTERS = 0.6
# weight of a stop word relative to other words; half found .408 in dialogues instead of .429, and
# double .444
_COMMON = 0.2


class LexicalEmbedder:
    """Hashed and weighted words and parts of words, in 512 dimensions."""

    name = "lexical-512"

    def __init__(self, name: str = "") -> None:
        del name  # there is only one

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; zeros for a text without words."""
        vectors = [[0.0] * _DIMENSIONS for _ in texts]
        for vector, text in zip(vectors, texts, strict=True):
            for word, times in Counter(words(text)).items():
                weight = (1 + log(times)) * (_COMMON if word in STOP_WORDS else 1.0)
                for place, value in _features(word):
                    vector[place] += weight * value
        return vectors


@lru_cache(maxsize=1 << 15)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """The dimensions of the word and of its parts, each with the value to add."""
    framed = f"^{word[:_LONGEST]}$"
    runs = sorted(
        {framed[at : at + size] for size in _GRAMS for at in range(len(framed) - size + 1)}
    )
    each = _LETTERS / sqrt(len(runs)) if runs else 0.0
    return (_placed(word, 1.0), *(_placed(f"<{run}", each) for run in runs))


def _placed(feature: str, weight: float) -> tuple[int, float]:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big", signed=True)
    return number % _DIMENSIONS, -weight if number < 0 else weight


# the prefix of quoted lines; the other lines of a prompt are the request
_QUOTED = "| "
# so that a reply keeps to its token limit: dialogues have 3.7 to 3.9, and half of the real texts of
# all kinds 3 or more
_CHARACTERS_A_TOKEN = 3


class Extractive:
    """A model that runs here, and returns the same sentences for the same material."""

    def __init__(self, name: str = "") -> None:
        self.name = name or "extractive"

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> str:
        """The most important sentences in order, one on each line.

        Sentences of an earlier summary count like the others. They are those of the quoted lines,
        or of the whole prompt if it quotes nothing; each is told once, a long one cut.
        """
        lines = prompt.splitlines()
        quoted = [line.removeprefix(_QUOTED) for line in lines if line.startswith(_QUOTED)]
        said = map(str.strip, sentences("\n".join(quoted or lines)))
        pieces = list(dict.fromkeys(_cut(sentence) for sentence in said if sentence))
        room = max_tokens * _CHARACTERS_A_TOKEN
        chosen: list[int] = []
        for place in ordered_texts(pieces):
            size = len(pieces[place]) + 1
            if size <= room:
                chosen.append(place)
                room -= size
        return "\n".join(pieces[place] for place in sorted(chosen))


def _cut(piece: str) -> str:
    if len(piece) <= GLANCE:
        return piece
    start = piece[:GLANCE]
    return f"{start[: start.rfind(' ') + 1 or GLANCE].rstrip()} …"
