"""History as one message of notes, made by rule."""

from .entries import Entry
from .strategy import Digest, llm4s_history

__all__ = ["Digest", "Entry", "llm4s_history"]
