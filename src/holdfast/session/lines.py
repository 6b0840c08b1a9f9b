"""How messages and events are written as lines of a log and read again, and by which words they are found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.kernel.errors import InputError
from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import speaks
from holdfast.memory.reading import remembered
from holdfast.memory.remembered import Remembered
from holdfast.stores.protocols import Line
from holdfast.text.words import has_unspaced, words

from .state import Event

_FOUND_BY = 20_000  # characters of one message by which it is found: a tool may return a book
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of the thread as it stands now; ``original`` is what was appended, or edited last."""

    position: int
    time: float
    original: Any
    message: Message = field(compare=False)
    remembered: Remembered = field(compare=False)
    size: int = field(compare=False)
    """Characters of its JSON."""


def kept_of(position: int, time: float, original: object, message: Message, size: int) -> Kept:
    """The message at a position, said at this time unless its text says another."""
    role, text = _speaking(message), message.content_text or ""
    if message.results:  # they stand before what is said with them
        seen = Remembered(position, role, text, said=time)
    else:
        seen = remembered(position, role, text, said=time)
    return Kept(position, seen.said or time, original, message, seen, size)


def _speaking(message: Message) -> str:
    """The role of who speaks; what tools returned is theirs, whoever hands it over on the wire."""
    return "tool" if message.role == "user" and not speaks(message) else message.role


def line_of(kept: Kept, body: str, name: str = "") -> Line:
    """The message as a line: its JSON, its id, and by which words it is found."""
    return Line(body, name, kept.time, found_by(kept.message, kept.remembered))


def json_of(value: object, place: str) -> str:
    """The value as compact JSON. Raises InputError, naming the place, for what JSON cannot hold."""
    try:
        return _COMPACT.encode(value)
    except (TypeError, ValueError, RecursionError) as fault:
        advice = "convert the messages to dictionaries first"
        raise InputError(f"it cannot be kept as JSON ({fault})", place=place, advice=advice) from fault


def event_of(number: int, line: Line) -> Event:
    """The event that the line holds."""
    data = json.loads(line.body)
    return Event(number, data["kind"], line.time, data["at"], data["reason"], data["facts"])


def found_by(message: Message, seen: Remembered) -> str:
    """The words by which the message is found: what it tells, and of calls what was called with what.

    Scripts that write no spaces are given as pairs of characters, as questions are.
    """
    calls = (f"{call.name} {call.arguments}" for call in message.calls)
    text = "\n".join(part for part in (seen.told, *calls) if part)[:_FOUND_BY]
    return " ".join(words(text)) if has_unspaced(text) else text


def own_id(message: object) -> str:
    """The id that a message brings along, or empty."""
    found = cast("Mapping[str, object]", message).get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) else ""
