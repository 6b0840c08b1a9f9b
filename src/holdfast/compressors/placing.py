"""Where a digest may stand: after what stays of the beginning, before the recent turns, as the rules allow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from holdfast.kernel.integrity import may_follow
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript


class Placed(NamedTuple):
    """The position before which the digest stands, and whose message it is."""

    at: int
    role: Role


def placed(transcript: Transcript, going: Sequence[int], role: Role) -> Placed | None:
    """A legal place for what stands for the messages that go; None where neighbours would meet that may not.

    ``going`` are their positions, ascending.
    """
    role = transcript.wire.role(transcript.wire.compose(role, "notes"))  # the system may have no voice here
    for at in (going[-1] + 1, going[0]):
        for placing in (Placed(at, role), *(Placed(at, other) for other in _SPEAKERS)):
            if _is_legal(transcript, going, placing):
                return placing
    return None


_SPEAKERS: tuple[Role, ...] = ("user", "assistant")


def _is_legal(transcript: Transcript, going: Sequence[int], place: Placed) -> bool:
    new = Message(place.role, transcript.wire.compose(place.role, "notes"), transcript.wire)
    met = _met(transcript.messages, going, place.at, new)
    return all(may_follow(transcript.rules, before, message) for before, message in met)


def _met(
    messages: Sequence[Message], going: Sequence[int], at: int, new: Message
) -> Iterator[tuple[Message | None, Message]]:
    """Neighbours that did not stand next to each other before, system messages aside."""
    staying = [i for i in _others(going, len(messages)) if messages[i].role != "system"]
    place = bisect_left(staying, at)
    for n, (one, other) in enumerate(pairwise((-1, *staying))):
        parted = n == place and new.role != "system"
        if not parted and bisect_left(going, one + 1) < bisect_left(going, other):
            yield (None if one < 0 else messages[one]), messages[other]
    if new.role != "system":
        yield (messages[staying[place - 1]] if place else None), new
        if place < len(staying):
            yield new, messages[staying[place]]


def _others(going: Sequence[int], length: int) -> Iterator[int]:
    """The positions that stay, found run by run: of a long history nearly all goes, in one run or a few."""
    first = at = 0
    while first < len(going):
        yield from range(at, going[first])
        before = going[first] - first  # how many stay before the run, and all along it
        first = bisect_right(range(len(going)), before, first, key=lambda n: going[n] - n)
        at = going[first - 1] + 1
    yield from range(at, length)
