"""JSON documents brought into a room: lossless where that is enough, then what matters least goes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit

from . import sheet
from .columns import NOTHING_STAYS, SHORT_STAYS, WHOLE_ROWS
from .document import written
from .facts import MOST_LEAVES, facts
from .outline import pruned
from .tables import Table, tables
from .values import Value, dump
from .write import ROW_END

_HOPELESS = 1.2  # times the room: what is about so long is not written as a whole
_SAMPLE = 20  # records that show how long a table is
_MANY = 8  # records that are better seen side by side than as single facts
_SHORTEST = 12  # tokens of room: a table with less says nothing
_MARKED = "members that are marked with …"
_NOTES = 3  # tables of which is said what is left out; the text says it of all
_CHARACTERS, _MOST_CHARACTERS = 2.5, 6  # of a token of JSON, usually and where it is nothing but words


def shrunk(documents: list[Value], room: Room, kind: str) -> Shrunk:
    """The most useful reading of the documents that fits the room."""
    value = documents[0] if len(documents) == 1 else list[Value](documents)
    if not _has_many(value):
        return _as_facts(value, room, kind) or Shrunk(pruned(value, room), kind, omitted=_MARKED)
    rest, found = tables(documents)
    if _may_fit(rest, found, room):
        for keep in (WHOLE_ROWS, SHORT_STAYS, NOTHING_STAYS):
            text = written(documents, keep=keep)
            if room.count(text) <= room.tokens:
                return Shrunk(text, kind, lossless=True)
    rest, found = tables(documents, lossy=True)
    short = _as_facts(value, room, kind) if all(len(table.records) < _MANY for table in found) else None
    if short is not None:
        return short
    if not found or room.tokens < _SHORTEST * (len(found) + 1):
        return Shrunk(pruned(value, room), kind, omitted=_MARKED)
    if not found[0].path:
        part = sheet.shrunk(found[0], room)
        return Shrunk(part.text, kind, omitted=part.omitted, lossless=not part.omitted)
    parts = _parts(rest, found, room)
    text = ROW_END.join(part.text for part in parts if part.text)
    notes = [part.omitted for part in parts if part.omitted]
    if room.count(text) > room.tokens:
        text, notes = fit.clip(text, room.tokens, room.count, mark="…"), [*notes[:_NOTES], "the end"]
    more = [f"{len(notes) - _NOTES} more tables in part"] if len(notes) > _NOTES + 1 else []
    return Shrunk(text, kind, omitted="; ".join([*notes[: _NOTES + 1 - len(more)], *more]), lossless=not notes)


def _as_facts(value: Value, room: Room, kind: str) -> Shrunk | None:
    found = facts(value, room)
    return None if found is None else Shrunk(found[0], kind, omitted=found[1])


def _has_many(value: Value) -> bool:
    """Whether records enough to be seen side by side stand together somewhere, or too much to look for them."""
    waiting, seen = [value], 0
    while waiting and seen <= MOST_LEAVES:
        here = waiting.pop()
        seen += 1
        children = list(here.values()) if isinstance(here, dict) else here if isinstance(here, list) else ()
        if len(children) >= _MANY and all(isinstance(child, dict) for child in children):
            return True
        waiting += children
    return bool(waiting)


def _may_fit(rest: Value, found: Sequence[Table], room: Room) -> bool:
    """Whether the lossless form is short enough to be worth writing: judged by some records of each table."""
    tokens = sum(_tokens(table, room) for table in found)
    if not found or found[0].path:
        tokens += len(dump(rest)) / _MOST_CHARACTERS
    return tokens <= room.tokens * _HOPELESS


def _tokens(table: Table, room: Room) -> float:
    stride = -(-len(table.records) // _SAMPLE)
    sample = replace(table, records=table.records[::stride])
    return room.count(sample.text(keep=NOTHING_STAYS)) * len(table.records) / len(sample.records)


def _parts(rest: Value, found: Sequence[Table], room: Room) -> list[sheet.Part]:
    """Every part in its place; the small ones take what they need, and the large ones share the rest evenly."""
    sizes = [len(dump(rest)) / _CHARACTERS, *(_tokens(table, room) for table in found)]
    parts = [sheet.Part("")] * len(sizes)
    left = room.tokens - len(sizes)
    waiting = len(sizes)
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        share = replace(room, tokens=max(left // waiting, 1))
        if place:
            parts[place] = _table(found[place - 1], share)
        else:
            text = pruned(rest, share)
            parts[place] = sheet.Part(text, "" if text == dump(rest) else _MARKED)
        left -= room.count(parts[place].text)
        waiting -= 1
    return parts


def _table(table: Table, room: Room) -> sheet.Part:
    whole = table.text(keep=NOTHING_STAYS) if _tokens(table, room) <= room.tokens * _HOPELESS else ""
    return sheet.Part(whole) if whole and room.count(whole) <= room.tokens else sheet.shrunk(table, room)
