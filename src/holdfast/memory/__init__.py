"""Memory: what left the window, and what of it should come back. Pure functions and values.

``remembered`` reads from a message who says it and when. ``Index.add`` takes it in, and
``Index.search`` finds messages for a question. ``pack`` chooses the smallest text of each that
answers, within a budget of tokens, and ``written`` makes one text of them for the conversation.
``vectors.WordVectors`` adds meaning to words; it alone needs numpy.

Where messages live in a store, ``Retrieval`` searches it through three protocols: its full-text
index is the ``LexicalSource``, its log the ``MessageSource``, its vectors the ``VectorSource``.

What leaves the window is also cut into segments, which ``relevance`` scores and ``tiers`` moves
from tier to tier; a ``Condenser`` of ``forms`` makes their warm and cold forms, and ``facts`` are
lifted from them.
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
