"""Summaries of history by a model: the strategy, what a summary says, and what is kept of it."""

from holdfast.compressors.summarize.strategy import Summarize, tunacode_history

__all__ = ["Summarize", "tunacode_history"]
