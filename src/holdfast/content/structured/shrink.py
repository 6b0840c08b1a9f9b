"""JSON documents brought into a room: lossless where that is enough, then what matters least goes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit

from . import sheet
from .document import written
from .outline import pruned
from .tables import Table, tables
from .values import Value, dump
from .write import ROW_END

_HOPELESS = 1.2  # times the room: what is about so long is not written as a whole
_SAMPLE = 20  # records that show how long a table is
_SHORTEST = 12  # tokens of room: a table with less says nothing
_NOTES = 3  # tables of which is said what is left out; the text says it of all
_CHARACTERS = 2.5  # a token of JSON, at least, as a rule


def shrunk(documents: list[Value], room: Room, kind: str) -> Shrunk:
    """The most useful reading of the documents that fits the room."""
    rest, found = tables(documents)
    if _may_fit(rest, found, room):
        for factor in (False, True):
            text = written(documents, factor=factor)
            if room.count(text) <= room.tokens:
                return Shrunk(text, kind, lossless=True)
    rest, found = tables(documents, lossy=True)
    if not found or room.tokens < _SHORTEST * (len(found) + 1):
        value = documents[0] if len(documents) == 1 else list[Value](documents)
        return Shrunk(pruned(value, room), kind, omitted="members that are marked with …")
    parts = [sheet.shrunk(found[0], room)] if not found[0].path else _parts(rest, found, room)
    text = ROW_END.join(part.text for part in parts if part.text)
    if room.count(text) > room.tokens:
        text = fit.clip(text, room.tokens, room.count, mark="…")
    notes = [part.omitted for part in parts if part.omitted]
    more = [f"{len(notes) - _NOTES} more tables in part"] if len(notes) > _NOTES else []
    return Shrunk(text, kind, omitted="; ".join([*notes[:_NOTES], *more]))


def _may_fit(rest: Value, found: Sequence[Table], room: Room) -> bool:
    """Whether the lossless form is short enough to be worth writing: judged by some records of each table."""
    tokens = sum(_tokens(table, room) for table in found)
    if not found or found[0].path:
        tokens += len(dump(rest)) / _CHARACTERS / 2
    return tokens <= room.tokens * _HOPELESS


def _tokens(table: Table, room: Room) -> float:
    stride = -(-len(table.records) // _SAMPLE)
    sample = replace(table, records=table.records[::stride])
    return room.count(sample.text(factor=True)) * len(table.records) / len(sample.records)


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
            parts[place] = sheet.Part(text, "" if text == dump(rest) else "members that are marked with …")
        left -= room.count(parts[place].text)
        waiting -= 1
    return parts


def _table(table: Table, room: Room) -> sheet.Part:
    whole = table.text(factor=True) if _tokens(table, room) <= room.tokens * _HOPELESS else ""
    return sheet.Part(whole) if whole and room.count(whole) <= room.tokens else sheet.shrunk(table, room)
