"""A thread copied whole, with all that happened to it, into another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from holdfast.kernel.errors import ConfigError
from holdfast.stores.protocols import Line, MessageLog

from .lines import event_of
from .settling import settled
from .thread import Thread

_BATCH = 500  # lines that are kept at once
_DAMAGED = Line("")  # no JSON: it stands for a line that cannot be read, so that the others have their places
Found = Callable[[int, Line], Line]


def copy_thread(source: Thread, target: Thread) -> None:
    """Copy messages and events. Raises ConfigError if the other thread holds something already."""

    def found_message(_: int, line: Line) -> Line:
        return replace(line, words=source.words_of(json.loads(line.body)))

    def found_event(number: int, line: Line) -> Line:
        event = event_of(number, line)
        return replace(line, words=source.words_of(event.facts["message"])) if event.kind == "edit" else line

    def copy(kind: Literal["message", "event"], end: int, log: MessageLog, found: Found) -> None:
        for first in range(0, end, _BATCH):
            places = range(first, min(first + _BATCH, end))
            lines = source.sound(kind, places, found)
            if not settled(log.append([lines.get(place, _DAMAGED) for place in places], at=first)):
                advice = "name one that is new"
                raise ConfigError(f"thread {target.name!r} holds something already", place="thread", advice=advice)

    copy("message", source.state.messages, target.log, found_message)
    copy("event", source.state.events, target.event_log, found_event)
    target.refresh()
