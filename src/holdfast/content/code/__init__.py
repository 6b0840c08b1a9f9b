"""Source code: what it declares, and the bodies that the question is about."""

from .kind import Code

__all__ = ["Code"]
