"""Leaders without numpy: signs are compared first, all of a vector in one step, and few pairs are left."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, pi
from operator import mul

_MANY = 128  # numbers of a vector from which on signs tell anything
_SLACK = 0.15
"""Of the numbers, how many more may differ in sign than at the angle itself.

As many differ as the angle is parts of a half turn (Charikar, "Similarity estimation techniques from rounding
algorithms", 2002): at a cosine of 0.85 it is 0.18 of them with a spread of 0.02 over 512 numbers, between
strangers 0.5.
"""


def leaders(units: Sequence[Sequence[float]], cosine: float) -> list[int]:
    """The place of the first leader that is near enough, for each vector."""
    signs = [_signs(vector) for vector in units]
    positive = [each.bit_count() for each in signs]
    share = acos(max(-1.0, min(1.0, cosine))) / pi + _SLACK if units and len(units[0]) >= _MANY else 1.0
    found: list[int] = []
    heads: list[int] = []
    for place, vector in enumerate(units):
        own, count = signs[place], positive[place]
        near = (head for head in heads if (signs[head] ^ own).bit_count() <= share * (positive[head] + count))
        leader = next((head for head in near if sum(map(mul, units[head], vector)) >= cosine), place)
        if leader == place:
            heads.append(place)
        found.append(leader)
    return found


def _signs(vector: Sequence[float]) -> int:
    """A bit for each number, set where it is positive."""
    return int("".join(["1" if number > 0 else "0" for number in vector]), 2)
