"""A call, timed."""

from collections.abc import Callable
from time import perf_counter

Row = tuple[str, str, str]
"""What was measured, the figure, and its bound or empty."""


def timed(call: Callable[[], object]) -> float:
    """Seconds that the call takes."""
    started = perf_counter()
    call()
    return perf_counter() - started
