"""What left the window, and what should come back, as pure functions and values.

The way of a message: ``remembered`` reads who says it and when; ``Index.add`` takes it in at the
cost of the message alone; ``Index.search`` finds what a question needs, as hits; ``pack`` chooses
of each hit the smallest text that answers, within a budget of tokens, in the order of the log;
``written`` makes of those excerpts the text that stands in the conversation.
``vectors.WordVectors`` adds meaning to words; it alone needs numpy.

Where messages live in a store, ``Retrieval`` searches it: the store's full-text index is its
``LexicalSource``, its log its ``MessageSource``, its vectors the ``VectorSource``. Nothing is read
that is not needed.

What leaves the window is cut into segments, weighed by ``relevance`` and moved from tier to tier by
``tiers``; a ``Condenser`` of ``forms`` makes the warm and the cold form of it, and ``facts`` are
lifted from it.
"""

from __future__ import annotations

from .excerpts import Excerpt, pack, written
from .index import Hit, Index, Retrieval, Weights
from .messages import (
    GrowingVectors,
    LexicalSource,
    MessageSource,
    Remembered,
    VectorSource,
    remembered,
)

__all__ = [
    "Excerpt",
    "GrowingVectors",
    "Hit",
    "Index",
    "LexicalSource",
    "MessageSource",
    "Remembered",
    "Retrieval",
    "VectorSource",
    "Weights",
    "pack",
    "remembered",
    "written",
]
