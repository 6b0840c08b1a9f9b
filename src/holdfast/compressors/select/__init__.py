"""The strategy that keeps the most useful pieces of a conversation."""

from .strategy import HEADING, Select
from .view import LEFT_OUT

__all__ = ["HEADING", "LEFT_OUT", "Select"]
