"""Calls and their results go together, whichever of them is named."""

from __future__ import annotations

from collections.abc import Sequence

from .lines import Kept
from .thread import Thread

_NEAR = 64  # messages on each side among which the others of an exchange are looked for


def exchanges(thread: Thread, positions: Sequence[int]) -> list[int]:
    """The positions, with those of the calls and the results that belong to them."""
    found = set(positions)
    for position in positions:
        near = list(thread.read(range(position - _NEAR, position + _NEAR)).values())
        for unit in thread.wire.read([kept.original for kept in near]).units:
            span = [near[i].position for i in unit]
            found.update(span if position in span else ())
    return sorted(found)


def with_calls(thread: Thread, position: int) -> dict[int, Kept]:
    """The message, by its position; where it hands over results, with their calls."""
    said = thread.read([position])
    gives = any(kept.message.results for kept in said.values())
    return thread.read(exchanges(thread, [position])) if gives else said
