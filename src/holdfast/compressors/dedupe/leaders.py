"""Greedy clustering in order: each vector joins the first leader that is near enough, or leads.

With numpy whole blocks are compared at once. Without it, pairs whose numbers differ in sign too often for their
angle are passed over, which leaves few to be reckoned exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.registry import Registry
from holdfast.text.similarity import Vector, unit

Clustering = Callable[[Sequence[Sequence[float]], float], list[int]]
"""From vectors of length 1, all of one size, and a cosine, to the place of each one's leader."""

CLUSTERINGS = Registry(
    noun="clustering",
    group="clusterings",
    table={
        "matrix": "holdfast.compressors.dedupe.by_matrix:leaders",
        "signs": "holdfast.compressors.dedupe.by_signs:leaders",
    },
)

_ROUNDING = 1e-9  # equal vectors have a cosine of almost 1


def leaders(vectors: Sequence[Vector], threshold: float, clustering: Clustering | None = None) -> list[int]:
    """For each vector the place of its leader, its own where it leads or has no direction."""
    found = list(range(len(vectors)))
    sizes: dict[int, tuple[list[int], list[list[float]]]] = {}
    for place, vector in enumerate(vectors):
        direction = unit(vector)
        if direction is not None:
            places, units = sizes.setdefault(len(vector), ([], []))
            places.append(place)
            units.append(direction)
    for places, units in sizes.values():
        for place, leader in zip(places, (clustering or _best())(units, threshold - _ROUNDING), strict=True):
            found[place] = places[leader]
    return found


@cache
def _best() -> Clustering:
    try:
        return cast("Clustering", CLUSTERINGS.load("matrix"))
    except MissingExtraError:
        return cast("Clustering", CLUSTERINGS.load("signs"))
