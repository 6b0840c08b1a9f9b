"""Records of events, as the lines of a log: each has a time, and a level or mostly words.

``{"at": "10:00:07", "level": "warn", "msg": "disk is full", "disk": "c3"}`` is told as
``10:00:07 warn disk is full disk=c3``. Its kind is that of its words, and of the fields that tell
trouble; of the other fields a kind has those with few values. What all records have is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.json_values import DEEPEST, Member, Value, dump
from holdfast.text.pieces import Reading
from holdfast.text.words import reads_as_words

from .logs import STATES, Log, events_in, is_level, is_time, joint_form
from .lossy import MOST, MOSTLY, SAMPLE, mostly

_FEWEST = 8  # records; with 4 a short list of recorded runs was one, too, with 16 none
# values of a field that are looked at: of more, none is a state. Half and double read made-up logs
# alike
_MOST_VALUES = 64


class _Event(NamedTuple):
    """The parts of a record: its time and level, its sentences, and its other fields."""

    head: str
    said: str
    fields: dict[str, str]


def events_of(values: Sequence[Value]) -> Reading | None:
    """The events that records or texts tell, as a log of them; None if they are no events."""
    if len(values) < _FEWEST:
        return None
    if set(map(type, values)) == {str}:
        text = "\n".join(cast("Sequence[str]", values))
        return events_in(text) if Log().recognises(text) else None
    if not mostly(values[:: max(1, len(values) // SAMPLE)], _event_of, MOSTLY):
        return None
    events = [_event_of(each) or _Event("", dump(each), {}) for each in values]
    usual, (telling, own) = _usual(events), _telling_and_own(events)
    beside = [{k: v for k, v in each.fields.items() if k not in usual} for each in events]
    lines: list[str] = []
    whole: list[str] = []
    for event, fields in zip(events, beside, strict=True):
        shown = fields if not event.said else {k: v for k, v in fields.items() if k in telling}
        lines.append(_line(event, shown))
        whole.append(_line(event, fields))

    def describe(rows: Sequence[int]) -> str:
        if not events[rows[0]].said:  # its fields are the words of its line
            return ""
        found = defaultdict[str, dict[str, None]](dict)
        for row in rows:
            for key, value in beside[row].items():
                if key not in telling and key not in own and len(found[key]) <= STATES:
                    found[key][value] = None
        few = {key: list(values) for key, values in found.items() if len(values) <= STATES}
        return " ".join([f"{key}={joint_form(values)}" for key, values in few.items()])

    return events_in("\n".join(lines), describe, whole)


def _event_of(record: Value) -> _Event | None:
    """The parts of a record; None for one that is no event."""
    members = list(_members(record)) if isinstance(record, dict) else []
    if not any(isinstance(value, str) and is_time(value) for _, value in members):
        return None
    time = level = ""
    said: list[str] = []
    fields: dict[str, str] = {}
    for key, value in members:
        text = " ".join((value if isinstance(value, str) else dump(value)).split())
        if not time and is_time(text):
            time = text
        elif not level and is_level(text):
            level = text
        elif " " in text and reads_as_words(text):
            said.append(text)
        elif text:
            name = key.rpartition(".")[2]
            fields[key if name in fields else name] = text
    told = " ".join(said)
    if not level and len(told) < sum(len(key) + len(value) for key, value in fields.items()):
        return None
    return _Event(f"{time} {level}".rstrip(), told, fields)


def _members(value: Value, key: str = "", depth: int = 0) -> Iterator[Member]:
    """The values of a record that are no records, each after its keys."""
    if not isinstance(value, dict) or depth > DEEPEST:
        yield key, value
        return
    for name, held in value.items():
        yield from _members(held, f"{key}.{name}" if key else name, depth + 1)


def _line(event: _Event, fields: dict[str, str]) -> str:
    beside = [f"{key}={value.replace(' ', '_')}" for key, value in fields.items()]
    return " ".join(filter(None, (event.head, event.said, *beside)))


def _usual(events: Sequence[_Event]) -> set[str]:
    """The fields that all events have, with one value."""
    first = events[0].fields
    return {
        key for key, value in first.items() if all(each.fields.get(key) == value for each in events)
    }


def _telling_and_own(events: Sequence[_Event]) -> tuple[set[str], set[str]]:
    """The fields of which a value tells trouble, and those of which nearly each event has its own.

    The former have few values, as states do; the latter are ids.
    """
    found = defaultdict[str, Counter[str]](Counter)
    for event in events:
        for key, value in event.fields.items():
            found[key][value] += 1
    telling = {
        key
        for key, values in found.items()
        if len(values) <= _MOST_VALUES
        and any(alarm(f"{key}={value}") >= TROUBLE for value in values)
    }
    own = {
        key
        for key, values in found.items()
        if values.total() >= _FEWEST and len(values) >= MOST * values.total()
    }
    return telling, own
