"""How much history is folded, and how long what stands for it may be.

What is folded grows in steps, and the room depends on what is folded alone: between two steps the digest stays the
same to the letter, so that successive results share their beginning.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate

_CERTAIN = 4  # times the room for notes: what is said in so much fills it, without reading all that is far behind


@dataclass(frozen=True, slots=True)
class Fold:
    """How many units are folded, the oldest first, and the tokens that their digest may have."""

    units: int
    room: int


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to share out, in tokens."""

    whole: int
    """For the digest and all that is not folded."""
    recent: int
    """What of it a digest leaves to recent turns, while there are any."""
    step: int
    """By how much more is folded at a time."""
    spared: int = 0
    """What a later step may take from the newest exchange."""

    def fold(
        self, units: Sequence[range], before: Sequence[int], stays: AbstractSet[int], noted: Callable[[int], int]
    ) -> Fold:
        """As little as leaves room for the rest, rounded up to a step; the last unit is the newest and stays.

        ``before`` are the tokens before each message, and of all of them at the end. ``stays`` are the numbers of
        units that are not folded, wherever they stand; ``noted`` gives the tokens of the complete notes on a unit.
        """
        numbers = sorted(stays)
        kept = list(accumulate((before[units[n].stop] - before[units[n].start] for n in numbers), initial=0))

        def reached(unit: int) -> int:
            return before[units[unit].start] if unit < len(units) else before[-1]

        def rest(first: int) -> int:
            return before[-1] - reached(first) + kept[bisect_left(numbers, first)] - self.spared

        def notes_on(unit: int) -> int:
            return 0 if unit in stays else min(noted(unit), reached(unit + 1) - reached(unit))

        last = max(len(units) - 1, 0)
        most = max(self.whole - self.recent, 0)
        least = notes = 0
        if rest(0) - (self.whole - most) >= _CERTAIN * most:
            notes = most
        while least < last and notes < most and rest(least) + notes > self.whole:
            notes = min(most, notes + notes_on(least))
            least += 1
        if notes == most:  # from here on what is left decides alone, and it only falls
            least += bisect_left(range(least, last), 0, key=lambda first: self.whole - rest(first) - notes)
        stepped = -(-reached(least) // self.step) * self.step
        folded = max(least, bisect_right(range(len(units) + 1), stepped, key=reached) - 1)
        if folded >= last:
            return Fold(last, min(self.whole - rest(last), reached(last) - 1))
        if notes < most:
            notes += sum(map(notes_on, range(least, folded)))
        return Fold(folded, min(most, notes))
