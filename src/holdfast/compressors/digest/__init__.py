"""History as one message of notes, made by rule."""

from .calls import called
from .entries import Entry
from .notes import notes
from .sayings import History
from .strategy import HEADING, Digest, llm4s_history

__all__ = ["HEADING", "Digest", "Entry", "History", "called", "llm4s_history", "notes"]
