"""Logs: kinds of line mined in one pass, with counts, times and examples."""

from .kind import Log
from .llm4s import llm4s_log

__all__ = ["Log", "llm4s_log"]
