"""Messages that say what another one says leave."""

from holdfast.compressors.dedupe.strategy import Semantic

__all__ = ["Semantic"]
