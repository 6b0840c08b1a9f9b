"""Records of events, as the lines of a log: each has a time, and a level or mostly words.

``{"at": "10:00:07", "level": "warn", "msg": "disk is full", "disk": "c3"}`` is told as
``10:00:07 warn disk is full disk=c3``. Its kind is that of its words, and of the fields that tell
trouble. Beside a kind stand other fields that all its lines have, if they have few values there.
What all records have in common is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, cast

from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.json_values import DEEPEST, Member, Value, dump
from holdfast.text.pieces import Reading
from holdfast.text.words import reads_as_words

from .logs import STATES, Log, events_in, is_level, is_time, joint_form
from .lossy import MOST, MOSTLY, SAMPLE, mostly

# records; with 4 a short list of recorded runs was read as a log, with 16 the same lists as with 8
_FEWEST = 8
# values of a field that are looked at: of more, none is a state. Half and double read made-up logs
# alike
_MOST_VALUES = 64
_LONGEST_TIME = 40  # characters; longer texts that begin with a time are lines of a log themselves
_LEAST_DIGITS = 6  # of a time: three numbers of two; versions have fewer, as 1.4.3
_LEVELS = ("level", "lvl", "severity")
"""How the field of a level is named, in part; the first level of a record is the next best."""

Fields = dict[str, str]


class _Event(NamedTuple):
    """The parts of a record: its time and level, its sentences, and its other fields."""

    head: str
    said: str
    fields: Fields


def events_of(values: Sequence[Value]) -> Reading | None:
    """The events that records or texts tell, as a log of them; None if they are no events."""
    if len(values) < _FEWEST:
        return None
    if set(map(type, values)) == {str}:
        text = "\n".join(cast("Sequence[str]", values))
        return events_in(text) if Log().recognises(text) else None
    if not mostly(values[:: max(1, len(values) // SAMPLE)], _event_of, MOSTLY):
        return None
    events = _with_short_names([_event_of(each) or _Event("", dump(each), {}) for each in values])
    told = [event.fields for event in events if event.head]
    found = defaultdict[str, Counter[str]](Counter)
    for key, value in chain.from_iterable(fields.items() for fields in told):
        found[key][value] += 1
    common = {key for key, some in found.items() if len(some) == 1 and some.total() == len(told)}
    telling = {key for key, some in found.items() if _tells_trouble(key, some)}
    own = {key for key, some in found.items() if _is_id(some)}
    beside = [{k: v for k, v in each.fields.items() if k not in common} for each in events]
    lines: list[str] = []
    for event, fields in zip(events, beside, strict=True):
        shown = fields if not event.said else {k: v for k, v in fields.items() if k in telling}
        lines.append(_line(event, {k: v.replace(" ", "_") for k, v in shown.items()}))

    def describe(rows: Sequence[int]) -> str:
        if not events[rows[0]].said:  # its fields are the words of its line
            return ""
        few: list[str] = []
        for key in beside[rows[0]]:
            values = dict.fromkeys(beside[row].get(key, "") for row in rows)
            if key not in telling | own and len(values) <= STATES and all(values):
                few.append(f"{key}={joint_form([*values])}")
        return " ".join(few)

    return events_in("\n".join(lines), describe, list(map(_line, events, beside)))


def _tells_trouble(key: str, found: Collection[str]) -> bool:
    """Whether one of these few values of a field tells trouble."""
    few = found if len(found) <= _MOST_VALUES else ()
    return any(alarm(f"{key}={value}") >= TROUBLE for value in few)


def _is_id(found: Counter[str]) -> bool:
    """Whether many events have a value of their own."""
    return found.total() >= _FEWEST and len(found) >= MOST * found.total()


def _event_of(record: Value) -> _Event | None:
    """The parts of a record; None for one that is no event. Its fields have all their keys."""
    members = [*_members(record)] if isinstance(record, dict) else []
    if not any(isinstance(value, str) and is_time(value) for _, value in members):
        return None
    plain = [(key, _on_one_line(value)) for key, value in members]
    time = next((key for key, text in plain if _is_time(text)), None)
    levels = [key for key, text in plain if is_level(text)]
    named = (key for key in levels if any(name in key.lower() for name in _LEVELS))
    level = next(named, levels[0] if levels else None)
    rest = [(key, text) for key, text in plain if text and key not in (time, level)]
    said = [text for _, text in rest if " " in text and reads_as_words(text)]
    fields = {key: text for key, text in rest if text not in said}
    size = sum(len(key) + len(text) for key, text in fields.items())
    if time is None or (level is None and sum(map(len, said)) < size):
        return None
    known = dict(plain)
    head = f"{known[time]} {known[level]}" if level is not None else known[time]
    return _Event(head, " ".join(said), fields)


def _members(value: Value, key: str = "", depth: int = 0) -> Iterator[Member]:
    """The values of a record that are no records, each after its keys."""
    if not isinstance(value, dict) or depth > DEEPEST:
        yield key, value
        return
    for name, held in value.items():
        short = "_".join(name.split())
        yield from _members(held, f"{key}.{short}" if key else short, depth + 1)


def _on_one_line(value: Value) -> str:
    return " ".join((value if isinstance(value, str) else dump(value)).split())


def _is_time(text: str) -> bool:
    is_short = len(text) <= _LONGEST_TIME and sum(map(str.isdigit, text)) >= _LEAST_DIGITS
    return is_short and is_time(text) and not reads_as_words(text)


def _with_short_names(events: Sequence[_Event]) -> list[_Event]:
    """The events with the last key of each field, where that names one field only."""
    full = dict.fromkeys(key for event in events for key in event.fields)
    last = Counter(key.rpartition(".")[2] for key in full)
    short = {key: name if last[name := key.rpartition(".")[2]] == 1 else key for key in full}
    return [
        event._replace(fields={short[key]: text for key, text in event.fields.items()})
        for event in events
    ]


def _line(event: _Event, fields: Fields) -> str:
    beside = [f"{key}={text}" for key, text in fields.items()]
    return " ".join(filter(None, (event.head, event.said, *beside)))
