"""Which part of a conversation is worth shrinking: what is older will leave, whatever is done to it."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from holdfast.compressors.cuts import preferred
from holdfast.kernel.budget import Allowance
from holdfast.kernel.transcript import Transcript

_NEWEST = 0.5  # of the room: a newest exchange up to that stays whole before any history stays


class View(NamedTuple):
    """From ``start`` on messages can stay, from ``recent`` on they stay whole while others can shrink.

    ``excess``: tokens by which what can stay is too long.
    """

    start: int
    recent: int
    excess: int


def view_of(
    transcript: Transcript,
    allowance: Allowance,
    floor: Callable[[int], int],
    roles: Container[str],
    recent_share: float,
) -> View:
    """As many of the newest messages as fit when outputs are cut to the floor and the most recent stay whole."""
    sizes, messages = allowance.meter.sizes(transcript), transcript.messages
    kept = transcript.protected | preferred(transcript)

    def least(i: int) -> int:
        message = messages[i]
        shrinks = message.role in roles if message.is_speech else message.role != "user" or message.results
        return floor(sizes[i]) if shrinks and i not in transcript.pinned else sizes[i]

    left = allowance.target - allowance.meter.overhead(transcript.envelope) - sum(map(least, kept))
    newest = sum(sizes[transcript.newest.start : transcript.newest.stop])
    whole = max(int(left * recent_share), newest if newest <= left * _NEWEST else 0)
    start, recent = len(transcript), transcript.newest.start
    for unit in reversed(transcript.units):
        size = cost = paid = 0
        for i in unit:
            size += sizes[i]
            if i in kept:
                paid += least(i)
            else:
                cost += least(i)
        whole -= size
        if whole >= 0:
            recent, cost = min(recent, unit.start), size - paid
        left -= cost
        if left < 0:
            break
        start = unit.start
    staying = sum(sizes[start:]) + sum(sizes[i] for i in kept if i < start)
    excess = staying + allowance.meter.overhead(transcript.envelope) - allowance.target
    return View(min(start, transcript.newest.start), recent, excess)
