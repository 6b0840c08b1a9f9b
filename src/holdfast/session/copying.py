"""A thread copied whole, with all that happened to it, into another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from holdfast.kernel.errors import ConfigError
from holdfast.stores.logs import Line, MessageLog

from .lines import event_of
from .settling import settled
from .thread import Thread

_BATCH = 500  # lines that are kept at once


def copy_thread(source: Thread, target: Thread) -> None:
    """Copy messages and events. Raises ConfigError if the other thread holds something already."""

    def found_message(line: Line) -> Line:
        return replace(line, words=source.words_of(json.loads(line.body)))

    def found_event(line: Line) -> Line:
        event = event_of(0, line)
        return replace(line, words=source.words_of(event.facts["message"])) if event.kind == "edit" else line

    _copy(source.log, source.state.messages, target.log, target.name, found_message)
    _copy(source.event_log, source.state.events, target.event_log, target.name, found_event)
    target.refresh()


def _copy(source: MessageLog, end: int, target: MessageLog, name: str, found: Callable[[Line], Line]) -> None:
    for first in range(0, end, _BATCH):
        lines = settled(source.read(range(first, min(first + _BATCH, end)))).values()
        if not settled(target.append([found(line) for line in lines], at=first)):
            advice = "name one that is new"
            raise ConfigError(f"thread {name!r} holds something already", place="thread", advice=advice)
