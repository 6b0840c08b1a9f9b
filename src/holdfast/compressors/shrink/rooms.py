"""How much each text may take: the oldest shrink first and furthest, the newest exchange last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .candidates import Candidate

Place = tuple[int, int]


def rooms(
    candidates: Sequence[Candidate],
    sizes: Mapping[Place, int],
    newest: Collection[int],
    excess: int,
    shares: Sequence[float],
    least: int,
) -> dict[Place, int]:
    """Tokens for each text that has to shrink, so that ``excess`` tokens go, or as many as can.

    In rounds: with each of ``shares``, every text may be cut to that share of what it was, the oldest first and
    those of the newest exchange last, none of them below ``least``.
    """
    given: dict[Place, int] = {}
    order = sorted(candidates, key=lambda c: (c.index in newest, c.index, c.part))
    left = excess
    for share in shares:
        for candidate in order:
            if left <= 0:
                return given
            place = candidate.index, candidate.part
            now = given.get(place, sizes[place])
            floor = max(least, int(candidate.tokens * share))
            room = max(floor, now - left)
            if room < now:
                given[place] = room
                left -= now - room
    return given
