"""Sets of positions as spans, each from its first to its last: small, however many positions there are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def joined(spans: Iterable[Span], added: Iterable[Span]) -> list[Span]:
    """The positions of both, in order, as few spans as possible."""
    found: list[Span] = []
    for first, last in sorted((first, last) for first, last in (*spans, *added)):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def without(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """The positions of the first that are not in the second."""
    left = list(spans)
    for first, last in taken:
        left = [part for span in left for part in _cut(span, first, last)]
    return left


def holds(spans: Sequence[Span], position: int) -> bool:
    """Whether the position is in one of the spans, which are in order."""
    return span_of(spans, position) is not None


def span_of(spans: Sequence[Span], position: int) -> Span | None:
    """The span that holds the position."""
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return spans[at] if at >= 0 and position <= spans[at][1] else None


def _cut(span: Span, first: int, last: int) -> list[Span]:
    parts = ((span[0], min(span[1], first - 1)), (max(span[0], last + 1), span[1]))
    return list(dict.fromkeys(part for part in parts if part[0] <= part[1]))


def as_range(positions: Sequence[int]) -> Sequence[int]:
    """The same positions, as a range where they are nearly one."""
    first, last = min(positions), max(positions)
    return range(first, last + 1) if last - first < 2 * len(positions) else positions
