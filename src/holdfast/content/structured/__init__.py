"""JSON and JSON lines: records as tables, without loss if that is enough."""

from holdfast.kernel.registry import moved_names

from .kind import Json

__getattr__ = moved_names(__name__, {"cleaned": "holdfast.designs.llm4s"})

__all__ = ["Json"]
