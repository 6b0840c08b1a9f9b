"""A repair as edits: rules say how the messages should stand, this module which edits lead there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, cast

from holdfast.kernel.edits import Drop, Edit, Insert
from holdfast.kernel.messages import Message, Wire


def original(message: Message) -> Mapping[str, Any]:
    """The caller's object, which every wire of this shelf has as a dictionary."""
    return cast("Mapping[str, Any]", message.original)


def made(wire: Wire, value: Mapping[str, Any]) -> Message:
    """A message of this wire."""
    return Message(wire.role(value), value, wire)


def edits_between(before: Sequence[Message], after: Sequence[Message], reason: str) -> list[Edit]:
    """The edits that lead from one run of messages to the other.

    A message object that is in both stays, as far as the order allows; one that moves is dropped
    and inserted.
    """
    place = {id(message): i for i, message in enumerate(before)}
    kept = _longest_rising([place.get(id(message), -1) for message in after])
    staying = {place[id(after[k])] for k in kept}
    gone = tuple(i for i in range(len(before)) if i not in staying)
    edits: list[Edit] = [Drop(gone, reason)] if gone else []
    at = 0
    for k, message in enumerate(after):
        if k in kept:
            at = place[id(message)] + 1
        else:
            edits.append(
                Insert(
                    at, message.role, message.content_text or "", reason, original=message.original
                )
            )
    return edits


def _longest_rising(places: Sequence[int]) -> set[int]:
    """Indices of a longest run of rising places; -1 is no place. Patience sorting, n log n."""
    tops: list[int] = []
    ends: list[int] = []
    previous: dict[int, int | None] = {}
    for k, place in enumerate(places):
        if place < 0:
            continue
        pile = bisect_left(tops, place)
        previous[k] = ends[pile - 1] if pile else None
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [k]
    chosen: set[int] = set()
    step = ends[-1] if ends else None
    while step is not None:
        chosen.add(step)
        step = previous[step]
    return chosen
