"""How much each text may take: the oldest shrink first and furthest, the newest last.

Rooms come in few sizes for each text, so that a text meets the same room again when the conversation has grown a
little, and its reading need not be made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.compressors.shrink.candidates import Candidate, Place

_FINE = 1_000  # tokens; a shorter text takes just what a round leaves it
_STEP = 61, 64  # the rooms of a longer one lie so far apart: half a step, 2.4 %, of a room is lost on average


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rounds in which texts are cut: to each of ``shares`` of what they were, the last round to ``floor``."""

    shares: Sequence[float]
    least: int
    """Tokens below which no text is cut."""

    enough: int
    """Tokens that the last share need not exceed, however long a text is."""

    def floor(self, tokens: int) -> int:
        """The least that a text of so many tokens has while older messages can go instead."""
        share = int(tokens * self.shares[-1])
        least = max(self.least, min(share, self.enough))
        return min(tokens, least)

    def given(
        self, candidates: Sequence[Candidate], sizes: Mapping[Place, int], excess: int, recent: int
    ) -> dict[Place, int]:
        """Tokens for each text that has to shrink, so that ``excess`` tokens go, or as many as can.

        Messages from position ``recent`` on come after all others, and below the floor nothing goes before
        everything else has come to it.
        """
        given: dict[Place, int] = {}
        left = excess
        older = [c for c in candidates if c.position < recent]
        newer = [c for c in candidates if c.position >= recent]
        rounds = [(among, share) for among in (older, newer) for share in (*self.shares[:-1], None)]
        for among, share in (*rounds, (older, 0.0), (newer, 0.0)):
            for candidate in among:
                if left <= 0:
                    return given
                place, tokens = candidate.place, candidate.tokens
                now = given.get(place, sizes[place])
                floor = self.floor(tokens) if share is None else max(self.least, int(tokens * share))
                room = _stepped(tokens, max(floor, now - left), floor)
                if room < now:
                    given[place] = room
                    left -= now - room
        return given


def _stepped(tokens: int, room: int, floor: int) -> int:
    """The largest of a text's rooms that is no larger than what it may take."""
    if tokens < _FINE:
        return floor
    stepped, (numerator, denominator) = tokens, _STEP
    while stepped > room:
        stepped = stepped * numerator // denominator
    return max(stepped, floor)
