"""The text of a selection: notes and shortened parts, with their tokens and edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from holdfast.compressors.cuts import Placed
from holdfast.compressors.references import Place
from holdfast.compressors.summaries import mark
from holdfast.kernel.edits import Drop, Edit, Offload, Replace
from holdfast.selection.excerpt import writer

from .candidates import Candidates, runs
from .notes import told_of, written
from .stays import Stays

TOLD, LEFT_OUT = "in the notes", "not in the notes"
"""The reason of a drop: notes have pieces of the message, or none of its whole exchange."""
IN_PART = "shortened"
"""The reason for a new text of a part that stays."""
ASIDE = "[…]"
"""Stands for a text of which no piece is kept; it is not the mark of a skipped turn."""
_TASK = "too long for the budget: its middle is left out"


class Reference(NamedTuple):
    """The key of a saved original, and the line that names it; empty where there is no room."""

    key: str
    line: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a plan says, once the pieces are chosen."""

    stays: Stays
    candidates: Candidates
    in_place: frozenset[int]
    """The numbers of the events that stay, shortened to the chosen pieces."""

    heading: str
    """The first line of the notes."""

    tail: tuple[str, ...]
    """The last lines of the notes, which name the originals of what is gone."""

    place: Placed | None
    """Where the notes stand; None if nothing goes."""

    references: Mapping[Place, Reference]
    """The originals of shortened parts."""

    ends: Mapping[int, str] = field(default_factory=dict[int, str])
    """The beginning and end of shortened events, in case no piece of them is chosen."""

    def tokens(self, chosen: Sequence[int]) -> int:
        """Tokens of the chosen pieces, in notes and in place."""
        notes, texts = self._written(chosen)
        count = self.stays.meter.text
        told = sum(map(count, texts.values()))
        if notes and self.place is not None:
            told += count(mark(notes, self.place.role)) + self.place.tokens(self.stays.meter)
        return told

    def edits(self, chosen: Sequence[int], task: Mapping[Place, str]) -> Iterator[Edit]:
        """The edits, with these new texts of the ``task``."""
        notes, texts = self._written(chosen)
        if self.place is not None:
            told = self._noted_messages(chosen)
            for reason, some in ((TOLD, told), (LEFT_OUT, set(self.stays.going) - told)):
                if some:
                    yield Drop(tuple(sorted(some)), reason)
        if self.place is not None and notes:
            covers = (self.stays.going[0], self.stays.going[-1])
            yield from self.place.inserts(mark(notes, self.place.role), TOLD, covers)
        for (i, part), text in self._parts(texts):
            reference = self.references.get((i, part))
            is_users = self.stays.transcript.messages[i].role == "user"
            if reference and reference.key and not is_users:
                yield Offload(i, part, text, reference.key, IN_PART)
            else:
                yield Replace(i, part, text, IN_PART, asked=is_users)
        for (i, part), text in sorted(task.items()):
            yield Replace(i, part, text, _TASK, asked=True)

    def _written(self, chosen: Sequence[int]) -> tuple[str, dict[int, str]]:
        """The notes, and the new text of each shortened event that stays in place."""
        found = runs(chosen, self.candidates.found)
        told = told_of(found, self.candidates, self.in_place)
        texts = {number: self.ends.get(number, ASIDE) for number in sorted(self.in_place)}
        for number, pieces in found:
            if number in self.in_place:
                reading = self.candidates.tellings[number].reading
                is_whole = len(pieces) == len(reading.pieces)
                text = self.candidates.events[number].text
                texts[number] = text if is_whole else writer(reading)(pieces)
        return written(told, self.heading, self.tail) if told or self.tail else "", texts

    def _parts(self, texts: Mapping[int, str]) -> Iterator[tuple[Place, str]]:
        """The place and new text of each part with a shortened event."""
        events = list(enumerate(self.candidates.events))
        places = {(event.message, event.part) for number, event in events if number in texts}
        for place in sorted(places):
            lines = [texts.get(n, e.text) for n, e in events if (e.message, e.part) == place]
            i, part = place
            if "\n".join(lines) == self.stays.transcript.messages[i].parts[part].text:
                continue  # nothing is left out
            reference = self.references.get(place)
            line = [reference.line] if reference and reference.line else []
            yield place, "\n".join([*lines, *line])

    def _noted_messages(self, chosen: Sequence[int]) -> set[int]:
        """The messages that notes replace, with the calls and results that belong to them."""
        events, found = self.candidates.events, self.candidates.found
        told = {events[found[number].event].message for number in chosen}
        units = (unit for unit in self.stays.transcript.units if not told.isdisjoint(unit))
        return set(chain.from_iterable(units)).intersection(self.stays.going)
