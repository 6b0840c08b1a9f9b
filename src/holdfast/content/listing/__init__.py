"""Listings of files: folders with their counts, and the entries that matter."""

from .kind import Listing

__all__ = ["Listing"]
