"""What is kept of a conversation, by one order of value."""

from .strategy import HEADING, Select
from .view import LEFT_OUT

__all__ = ["HEADING", "LEFT_OUT", "Select"]
