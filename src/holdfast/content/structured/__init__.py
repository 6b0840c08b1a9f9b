"""JSON and JSON lines: records as tables, without loss as far as that is enough."""

from .cleaned import cleaned
from .kind import Json

__all__ = ["Json", "cleaned"]
