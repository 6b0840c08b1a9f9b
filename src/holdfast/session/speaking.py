"""The message in which the past speaks: what is to be kept in mind, and what was recalled."""

from __future__ import annotations

from holdfast.text.concealed import concealing

from .carrying import summary_of
from .options import Options
from .parts import Desk, Telling
from .thread import Thread

_IN_MIND = "To be kept in mind:"


def spoken(thread: Thread, desk: Desk, options: Options, recalled: str) -> Telling:
    """The message on the thread's wire; made anew where it says something else than the last one."""
    tells = concealing(redacts=options.redacts)
    notes = [f"- {tells(note)}" for note in thread.state.notes.values()]
    kept = "\n".join([_IN_MIND, *notes, ""]) if notes else ""
    text = f"{kept}{recalled}".rstrip("\n")
    known = desk.telling
    if known is None or (known.wire, known.text) != (thread.wire.name, text):
        message = summary_of(thread.wire, text)
        known = desk.telling = Telling(thread.wire.name, text, message.original, options.meter.message(message))
    return known
