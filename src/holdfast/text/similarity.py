"""How alike two vectors are."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, isfinite
from operator import mul

Vector = Sequence[float]


def unit(vector: Vector) -> list[float] | None:
    """The vector at length 1; None for one without a direction: empty, zero, or with a number that is none."""
    length = hypot(*vector)
    return [number / length for number in vector] if length > 0 and isfinite(length) else None


def cosine(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors, from -1 to 1.

    0.0 where there is no angle: vectors of different lengths, empty ones, and those without a direction.
    """
    if len(one) != len(other):
        return 0.0
    a, b = unit(one), unit(other)
    return 0.0 if a is None or b is None else max(-1.0, min(1.0, sum(map(mul, a, b))))
