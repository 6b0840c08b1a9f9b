"""Which messages may go together: strategies say how much, this module where the cuts may fall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from holdfast.kernel.integrity import may_follow
from holdfast.kernel.transcript import Transcript


def oldest_first(transcript: Transcript, sizes: Sequence[int], excess: int, kept: AbstractSet[int]) -> set[int]:
    """Positions of the oldest units, none of them in ``kept``, that together free ``excess`` tokens or more.

    All there are if they free less. Where two messages would meet that may not, the gap grows or shrinks.
    """
    going: set[int] = set()
    for unit in transcript.units:
        if excess <= 0:
            break
        if kept_whole(unit, kept):
            continue
        going.update(unit)
        excess -= sum(sizes[unit.start : unit.stop])
    return legal(transcript, going, kept)


def kept_whole(unit: range, kept: AbstractSet[int]) -> bool:
    """Whether a unit stays because one of its messages does."""
    return not kept.isdisjoint(unit)


def legal(transcript: Transcript, going: set[int], kept: AbstractSet[int]) -> set[int]:
    """The nearest set of drops after which no two neighbours meet that may not.

    First the unit after the gap goes too, then the one before it; what is in ``kept`` or protected never does.
    Where neither may go, the newest of the gap that mends it comes back.
    """
    if not going:
        return going
    firm = transcript.protected.union(kept)
    unit_of = {i: unit for unit in transcript.units for i in unit}
    now = set(going)
    for _ in range(len(transcript) + 1):
        meeting = next(_illegal(transcript, now), None)
        if meeting is None:
            break
        before, after = meeting
        if not kept_whole(unit_of[after], firm):
            now.update(unit_of[after])
        elif before is not None and not kept_whole(unit_of[before], firm):
            now.update(unit_of[before])
        elif not _bring_back(transcript, now, before, after, unit_of):
            break
    return now


def _illegal(transcript: Transcript, going: set[int]) -> Iterator[tuple[int | None, int]]:
    """Neighbours at a gap that may not meet; the first is None at the start."""
    messages = transcript.messages
    staying = [i for i in range(len(messages)) if i not in going and messages[i].role != "system"]
    gaps: list[tuple[int | None, int]] = [(None, staying[0])] if staying else []
    gaps += pairwise(staying)
    for before, after in gaps:
        start = 0 if before is None else before + 1
        if after == start or not any(i in going for i in range(start, after)):
            continue
        if not may_follow(transcript.rules, None if before is None else messages[before], messages[after]):
            yield before, after


def _bring_back(
    transcript: Transcript, going: set[int], before: int | None, after: int, unit_of: dict[int, range]
) -> bool:
    """Let the newest unit of the gap stay that may stand on both sides; whether there was one."""
    messages, rules = transcript.messages, transcript.rules
    start = -1 if before is None else before
    left = None if before is None else messages[before]
    for i in range(after - 1, start, -1):
        unit = unit_of[i]
        if i not in going or unit.start <= start:
            continue
        if may_follow(rules, left, messages[unit.start]) and may_follow(
            rules, messages[unit[-1]], messages[after]
        ):
            going.difference_update(unit)
            return True
    return False
