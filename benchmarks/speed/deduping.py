"""Semantic deduplication of a long conversation, with each embedder without a network."""

from collections.abc import Iterator
from random import Random
from time import process_time

import holdfast
from benchmarks.speed.timing import Row
from holdfast.compressors.dedupe import Semantic

MESSAGES = 1_000
BOUNDS = {"local": "at most 0.5 s", "lexical": ""}


def talk(rng: Random) -> list[dict[str, str]]:
    """Messages of 20 to 80 words, nearly a third of which differ from an earlier one in a word."""
    words = [
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9)))
        for _ in range(3_000)
    ]
    texts: list[list[str]] = []
    for _ in range(MESSAGES):
        if texts and rng.random() < 0.3:
            text = list(rng.choice(texts))
            text[rng.randrange(len(text))] = rng.choice(words)
        else:
            text = rng.choices(words, k=rng.randint(20, 80))
        texts.append(text)
    return [
        {"role": ("user", "assistant")[i % 2], "content": " ".join(text)}
        for i, text in enumerate(texts)
    ]


def deduping() -> Iterator[Row]:
    """CPU seconds of one deduplicating call, counting and embedding included."""
    for embedder, bound in BOUNDS.items():
        holdfast.compress(
            talk(Random(0))[:50], 100, strategy=Semantic(), embedder=embedder
        )  # loads what it needs
        messages = talk(Random(1))
        budget = holdfast.count(messages).total - 1
        start = process_time()
        holdfast.compress(messages, budget, strategy=Semantic(), embedder=embedder)
        what = f"semantic dedupe of {MESSAGES:,} messages, {embedder} embeddings"
        yield what, f"{process_time() - start:.2f} s", bound
