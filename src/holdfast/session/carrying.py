"""What an agent did before its recent turns: notes that are carried on, and grow by what leaves those turns."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.compressors.concealing import concealed
from holdfast.compressors.select import HEADING
from holdfast.compressors.select.notes import notes_of
from holdfast.compressors.summaries import body_of, mark
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import Format
from holdfast.stream.events import events_of

from .lines import Kept
from .parts import Frame

_SHARE = 0.3  # of the room, at most
_REACH = 3  # times the tokens of the notes: what was said further back hardly ever gets into them
_STEP = 64  # messages that are read at once


def carried(frame: Frame, start: int) -> str:
    """Notes on what was before this position; empty where nothing was, or nothing is worth it.

    They are kept with the state of the thread, and made anew, of what is near, when what they tell of was changed.
    """
    thread, tokens = frame.thread, int(frame.room * _SHARE)
    known = thread.state.carried
    stands = bool(known) and known["to"] <= start
    if stands and known["to"] == start and known["tokens"] <= tokens:
        return str(known["text"])
    messages = [kept.message for kept in _left(frame, known["to"] if stands else 0, start, _REACH * tokens)]
    if stands and known["text"]:
        messages = [summary_of(thread.wire, known["text"]), *messages]
    text = noted(frame, messages, tokens)
    thread.state.carry({"to": start, "tokens": tokens, "text": text})
    thread.save()
    return text


def noted(frame: Frame, messages: Sequence[Message], tokens: int, heading: str = HEADING) -> str:
    """Notes on the messages, without secrets where these are masked; earlier notes among them are carried on."""
    told = list(map(concealed, messages)) if frame.options.redacts else messages
    bodies = {at: body for at, message in enumerate(told) if (body := body_of(message)) is not None}
    return notes_of(events_of(told, range(len(told)), bodies), tokens, frame.options.meter.text, heading)


def summary_of(wire: Format, text: str) -> Message:
    """The message in which the notes stand."""
    return wire.read([wire.compose("user", mark(text))]).messages[0]


def _left(frame: Frame, first: int, stop: int, most: int) -> list[Kept]:
    """The newest messages of this span, of so many tokens, without what is always in the view.

    No result is the first: its call stands before it.
    """
    found: list[Kept] = []
    for end in range(stop, first, -_STEP):
        for kept in reversed(frame.thread.read(range(max(first, end - _STEP), end)).values()):
            if kept.position not in frame.fixed:
                found.append(kept)
                most -= frame.size(kept)
        if most < 0:
            break
    while found and found[-1].message.results:
        found.pop()
    return found[::-1]
