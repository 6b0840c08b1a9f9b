"""The message in which the past speaks: what is to be kept in mind, and what was recalled."""

from __future__ import annotations

from holdfast.kernel.budget import Meter
from holdfast.text.concealed import concealing
from holdfast.text.fit import head_tail, water_level

from .carrying import summary_of
from .options import Options
from .parts import Desk, Telling
from .thread import Thread

_IN_MIND = "To be kept in mind:"
_SHARE = 0.4  # of the budget, at most: what somebody wants kept in mind leaves room for what is going on


def in_mind(thread: Thread, options: Options, limit: int) -> str:
    """What is to be kept in mind; the longest lose their middle where it is too much. Secrets may be masked."""
    tells, count = concealing(redacts=options.redacts), options.meter.text
    notes = [tells(note) for note in thread.state.notes.values()]
    if not notes:
        return ""
    level = max(1, water_level(map(count, notes), int(limit * _SHARE)))
    told = (note if count(note) <= level else head_tail(note, level, count) for note in notes)
    return "\n".join([_IN_MIND, *(f"- {note}" for note in told), ""])


def spoken(thread: Thread, desk: Desk, meter: Meter, kept: str, recalled: str) -> Telling:
    """The message on the thread's wire; made anew where it says something else than the last one."""
    text = f"{kept}{recalled}".rstrip("\n")
    known = desk.telling
    if known is None or (known.wire, known.text) != (thread.wire.name, text):
        message = summary_of(thread, text)
        known = desk.telling = Telling(thread.wire.name, text, message.original, meter.message(message))
    return known
