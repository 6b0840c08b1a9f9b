"""Search hits: by file, those that the question names first."""

from .kind import Search

__all__ = ["Search"]
