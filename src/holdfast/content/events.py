"""Records of events, as the lines of a log: each has a time of day, a level and a message.

``{"at": "10:00:07", "level": "warn", "msg": "disk is full", "disk": "c3"}`` is told as
``10:00:07 warn disk is full disk=c3``. Its kind is that of its message, and of the fields that tell
trouble. What all records have in common is told once.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, cast

from holdfast.text.failures import reports_failure
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.json_values import DEEPEST, Member, Value, dump
from holdfast.text.pieces import Reading
from holdfast.text.words import reads_as_words

from .logs import Log, events_in, is_level, is_time
from .lossy import MOSTLY, SAMPLE, mostly

# records; with 4 a short list of recorded runs was read as a log, with 16 the same lists as with 8
_FEWEST = 8
# values of a field that are looked at: of more, none is a state. Half and double read made-up logs
# alike
_MOST_VALUES = 64
_LONGEST_TIME = 40  # characters; longer texts that begin with a time are lines of a log themselves
_CLOCK = re.compile(r"\d:\d\d|^1\d{9}")
"""A time of day, or seconds since 1970; a date alone is that of a record, not of an event."""
_NAMED = re.compile(r"(?:^|\.)[a-z_]*(?:level|lvl|severity)$", re.IGNORECASE)
"""How the field of a level is named; its values need not be words."""

_SCALES = [
    dict(zip(numbers.split(), words.split(), strict=True))
    for numbers, words in (
        ("0 1 2 3 4 5 6 7", "emerg alert crit error warning notice info debug"),
        ("10 20 30 40 50 60", "trace debug info warn error fatal"),
    )
]
"""Levels as numbers, of RFC 5424 (table 2), and of Bunyan and Pino."""
_QUIET = ("4", "5", "6", "7", "10", "20", "30", "40")
"""The numbers of most events. Others, such as the levels of a game, have other frequencies."""

Fields = dict[str, str]


class _Event(NamedTuple):
    """The parts of a record: its time and level, its message, and its other fields."""

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
    sample = values[:: max(1, len(values) // SAMPLE)]
    # few records of other lists are read before that is known
    if not mostly(sample, _has_time, MOSTLY) or not _parts_of(_with_levels(_flat(sample))):
        return None
    records = _with_levels(_flat(values))
    parts = _parts_of(records)
    return _read([_event_of(record, *parts) for record in records]) if parts else None


def _read(events: Sequence[_Event]) -> Reading | None:
    told = [event.fields for event in events if event.head]
    found = defaultdict[str, Counter[str]](Counter)
    for key, value in chain.from_iterable(fields.items() for fields in told):
        found[key][value] += 1
    common = [key for key, some in found.items() if len(some) == 1 and some.total() == len(told)]
    telling = {key for key, some in found.items() if _tells_trouble(key, some)}
    beside = [{k: v for k, v in each.fields.items() if k not in common} for each in events]
    lines: list[str] = []
    for event, fields in zip(events, beside, strict=True):
        words = {k: v.replace(" ", "_") for k, v in fields.items()}
        lines.append(_line(event, {k: words[k] for k in words if k in telling or not event.said}))
    always = " ".join(f"{key}={next(iter(found[key]))}" for key in common)
    return events_in("\n".join(lines), list(map(_line, events, beside)), always)


def _flat(values: Sequence[Value]) -> list[Fields]:
    """The values of each record on one line, by their keys: by the last, if it names one field."""
    records = [
        {key: text for key, value in _members(each) if (text := _on_one_line(value))}
        for each in values
    ]
    full = dict.fromkeys(chain.from_iterable(records))
    last = Counter(key.rpartition(".")[2] for key in full)
    short = {key: name if last[name := key.rpartition(".")[2]] == 1 else key for key in full}
    return [{short[key]: text for key, text in record.items()} for record in records]


def _with_levels(records: list[Fields]) -> list[Fields]:
    """The records, with the words of their levels, if these are numbers of one of the scales."""
    for key in filter(_NAMED.search, dict.fromkeys(chain.from_iterable(records))):
        found = Counter(record[key] for record in records if key in record)
        scale = next((each for each in _SCALES if found.keys() <= each.keys()), None)
        if scale and max(found, key=found.__getitem__) in _QUIET:
            return [{f".{key}": scale.get(record.get(key, ""), ""), **record} for record in records]
    return records


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


def _parts_of(records: Sequence[Fields]) -> tuple[str, str, str] | None:
    """The keys of the time, the level and the message; None if most records lack one of them.

    A level without such a name has several values, all of which are levels. The message is the
    longest of the texts.
    """
    columns = defaultdict[str, list[str]](list)
    for key, text in chain.from_iterable(record.items() for record in records):
        columns[key].append(text)
    least = MOSTLY * len(records)
    full = {key: texts for key, texts in columns.items() if len(texts) >= least}
    times = (key for key, texts in full.items() if sum(map(_is_time, texts)) >= least)
    levels = {key: texts for key, texts in full.items() if sum(map(is_level, texts)) >= least}
    named = (key for key in levels if _NAMED.search(key))
    telling = (key for key, texts in levels.items() if len({*texts}) > 1)
    said = {
        key: sum(len(text) for text in texts if " " in text and reads_as_words(text))
        for key, texts in full.items()
    }
    message = max(said, key=said.__getitem__, default="")
    time, level = next(times, None), next(chain(named, telling), None)
    if time is None or level is None or message in (time, level) or not said[message]:
        return None
    return time, level, message


def _is_time(text: str) -> bool:
    is_short = len(text) <= _LONGEST_TIME and _CLOCK.search(text) is not None
    return is_short and is_time(text) and not reads_as_words(text)


def _has_time(record: Value) -> bool:
    return any(_is_time(_on_one_line(value)) for _, value in _members(record))


def _event_of(record: Fields, time: str, level: str, message: str) -> _Event:
    head = [record.pop(key) for key in (time, level) if key in record]
    return _Event(" ".join(head), record.pop(message, ""), record)


def _line(event: _Event, fields: Fields) -> str:
    beside = [f"{key}={text}" for key, text in fields.items()]
    return " ".join(filter(None, (event.head, event.said, *beside)))


def _tells_trouble(key: str, found: Collection[str]) -> bool:
    """Whether one of these few values of a field tells trouble, as ``503`` or ``ok=false``."""
    few = found if len(found) <= _MOST_VALUES else ()
    return any(
        alarm(f"{key}={value}") >= TROUBLE or reports_failure(f'{{"{key}": {value}}}')
        for value in few
    )
