"""Notes on messages for who has no transcript to fit: what a digest would say of them."""

from __future__ import annotations

from collections.abc import Callable

from .composing import Order, body
from .sayings import History
from .strategy import HEADING


def notes(history: History, tokens: int, count: Callable[[str], int], heading: str = HEADING) -> str:
    """Notes of at most so many tokens, as ``count`` counts them; empty where nothing fits.

    Notes under the same heading that are part of the history are carried on.
    """
    return body(Order(history, heading, tokens, count))
