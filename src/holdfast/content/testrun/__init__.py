"""Test runs and builds: what failed and why, and the outcome."""

from .kind import TestRun

__all__ = ["TestRun"]
