"""Shares of lines by which kinds are told: lines are asked no longer than the answer is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def enough(lines: Sequence[T], is_one: Callable[[T], object], least: float) -> list[T]:
    """The lines that are one of those looked for; none as soon as they cannot be so many."""
    spare = len(lines) - least
    found: list[T] = []
    for line in lines:
        if is_one(line):
            found.append(line)
            continue
        spare -= 1
        if spare < 0:
            return []
    return found if len(found) >= least else []
