"""Memory: finding and choosing what to bring back of the past. Functions and values only.

``remembered`` reads the speaker and time of a message. ``Retrieval`` finds messages for a question
through two protocols: the log of a store with its full-text index is the ``MessageSource``, its
vectors the ``VectorSource``. ``pack`` chooses the smallest text of each that
answers, within a budget of tokens, and ``written`` joins them to one text for the conversation.
``vectors.WordVectors`` adds search by meaning; it alone needs numpy.

Older messages are also cut into segments, which ``relevance`` scores and ``tiers`` moves from tier
to tier; a ``Condenser`` of ``forms`` makes their warm and cold forms, and ``facts`` are extracted
from them.
"""

from .excerpts import Excerpt, pack, written
from .index import FactorWeights, Hit, Retrieval
from .messages import MessageSource, Remembered, VectorSource, remembered

__all__ = [
    "Excerpt",
    "FactorWeights",
    "Hit",
    "MessageSource",
    "Remembered",
    "Retrieval",
    "VectorSource",
    "pack",
    "remembered",
    "written",
]
