"""What is kept of a conversation, by one order of value."""

from .strategy import HEADING, Select

__all__ = ["HEADING", "Select"]
