"""A conversation that is kept whole in a store, and seen through a view that fits."""

from .session import Session
from .view import View

__all__ = ["Session", "View"]
