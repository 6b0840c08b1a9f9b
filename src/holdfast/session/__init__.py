"""A conversation that is kept whole in a store, and seen through a view that fits."""

from .session import Session
from .threads import ThreadStore, open  # noqa: A004 - as one opens a file
from .view import View

__all__ = ["Session", "ThreadStore", "View", "open"]
