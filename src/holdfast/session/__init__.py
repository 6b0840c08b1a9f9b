"""A conversation that outlives its window: kept whole in a store, and seen through a view that fits."""

from .parts import View
from .session import Session

__all__ = ["Session", "View"]
