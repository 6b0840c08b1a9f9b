"""Summaries of history by a model: the strategy, what a summary says, and what is kept of it."""

from .strategy import Summarize

__all__ = ["Summarize"]
