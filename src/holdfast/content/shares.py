"""The lines of a text or of samples of it, and those that a kind matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_WINDOWS, _WIDE = 16, 4_000  # samples of a long text, and the characters of each


def rows(text: str) -> list[str]:
    """The lines, without a byte-order mark and carriage returns at their ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


def sampled(text: str, windows: int = _WINDOWS, wide: int = _WIDE) -> str:
    """The text, or whole lines from evenly spaced places in it, each of ``wide`` characters."""
    if len(text) <= windows * wide:
        return text
    starts = [number * (len(text) - wide) // (windows - 1) for number in range(windows)]
    found = [text[start : start + wide].partition("\n")[2 * bool(start)] for start in starts]
    return "\n".join(window.rpartition("\n")[0] or window for window in found)


def enough(lines: Sequence[T], is_one: Callable[[T], object], least: float) -> list[T]:
    """The lines that match; none as soon as they cannot reach the least share."""
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
