"""History as one message of notes, made by rule."""

from .composing import Order, body
from .entries import Entry
from .sayings import History
from .strategy import Digest, llm4s_history

__all__ = ["Digest", "Entry", "History", "Order", "body", "llm4s_history"]
