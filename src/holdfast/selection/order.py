"""Orders pieces by the value of what is new in them, divided by their cost.

A greedy choice by such a diminishing gain for the cost is known to cover well (Lin and Bilmes
2011). The order depends on the pieces alone, and a budget takes its beginning, so a larger budget
keeps what a smaller one keeps.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import chain
from math import fsum

from .pieces import Piece

_LEAST = 1e-16
"""A thing of less value has none, since rounding loses it in a sum with a larger value. Otherwise
many pieces with the same few things would be weighed again after each choice.
"""


def ordered(
    pieces: Sequence[Piece],
    tells: Sequence[Sequence[str]],
    costs: Sequence[float],
    worth: Mapping[str, float],
    *,
    again: float,
    told: Mapping[str, int] | None = None,
    bonus: Sequence[float] = (),
    enough: float = float("inf"),
) -> list[int]:
    """The indices of the pieces, the best first, until they cost ``enough`` together.

    ``tells`` are the things in each piece, ``worth`` is the value of a thing at its first
    appearance; each repetition has the share ``again`` of the last value. ``told`` counts what
    already appears elsewhere. ``bonus`` is the value of each piece besides its things.
    """
    extra = bonus or [0.0] * len(pieces)
    left = dict.fromkeys(chain.from_iterable(tells), 0.0) | dict(worth)
    for thing, times in (told or {}).items():
        if thing in left:
            left[thing] *= again**times
    value = left.__getitem__

    def gain(number: int) -> float:
        fresh = fsum(map(value, tells[number]))
        return (fresh + extra[number]) / (costs[number] or 1.0)  # a counter may return 0 for a word

    queue = [(-gain(number), number) for number in range(len(pieces))]
    heapq.heapify(queue)
    chosen: dict[int, None] = {}
    spent = 0.0
    while queue and spent < enough:
        _, number = queue[0]
        if number in chosen:
            heapq.heappop(queue)
            continue
        now = (-gain(number), number)
        if len(queue) > 1 and now > min(queue[1:3]):
            heapq.heapreplace(queue, now)
            continue
        heapq.heappop(queue)
        for each in with_what_it_is_under(pieces, number):
            if each not in chosen:
                chosen[each] = None
                spent += costs[each]
                for thing in tells[each]:
                    less = left[thing] * again
                    left[thing] = less if less > _LEAST else 0.0
    return list(chosen)


def with_what_it_is_under(pieces: Sequence[Piece], number: int) -> list[int]:
    """The piece after the pieces that it is under."""
    way = [number]
    while (number := pieces[number].under) >= 0:
        way.append(number)
    return way[::-1]
