"""Messages that say what another one says leave."""

from .strategy import Semantic

__all__ = ["Semantic"]
