"""Diffs: every file with its numbers, then the changes that matter."""

from .kind import Diff

__all__ = ["Diff"]
