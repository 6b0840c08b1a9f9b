"""A conversation that is stored whole, and views of it that fit a budget."""

from .session import Session
from .view import View

__all__ = ["Session", "View"]
