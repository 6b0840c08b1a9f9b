"""What the strategy ``select`` writes of the pieces that it chose: notes, and shortened parts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.kernel.edits import Drop, Edit, Offload, Replace
from holdfast.kernel.messages import Texts, ToolResult
from holdfast.text.pieces import writer

from .references import Place
from .summaries import Placed, mark, write_notes
from .tool_outputs import left_out

if TYPE_CHECKING:
    from .select import Selection

TOLD, LEFT_OUT = "in the notes", "not in the notes"
"""The reason of a drop: notes have pieces of the message, or none of its whole exchange."""
IN_PART = "shortened"
"""The reason for a new text of a part that stays."""
ASIDE = "[…]"
"""Stands for a text of which no piece is kept."""
_TASK = "too long for the budget: its middle is left out"

ShorterTask = Mapping[int, Texts]
"""New texts of the user's first message, under its position; empty if it stays whole."""
Written = tuple[str, dict[int, str]]
"""The notes, and the new text of each shortened event that stays in place."""


@dataclass(slots=True)
class Draft:
    """What a plan says, once the pieces are chosen; what was counted is not written again."""

    selection: "Selection"
    tail: tuple[str, ...]
    """The last lines of the notes."""
    place: Placed | None
    """Where the notes are inserted; None if nothing goes."""
    ends: Mapping[int, str]
    """The beginning and end of shortened events, in case no piece of them is chosen."""
    _known: dict[tuple[int, ...], Written] = field(default_factory=dict[tuple[int, ...], Written])

    def tokens(self, chosen: Sequence[int]) -> int:
        """Tokens of the chosen pieces, in notes and in place."""
        notes, texts = self._written(chosen)
        meter, place = self.selection.meter, self.place
        tokens = sum(map(meter.text, texts.values()))
        if notes and place:
            tokens += meter.text(mark(notes, place.role)) + place.tokens(meter)
        return tokens

    def edits(self, chosen: Sequence[int], task: ShorterTask) -> Iterator[Edit]:
        """The edits, with these new texts of the ``task``."""
        notes, texts = self._written(chosen)
        going = self.selection.going
        if not notes:
            going = sorted(self.selection.without_notes(set(going)))
        if self.place is not None:
            # notes replace messages with the calls and results that belong to them
            candidates = self.selection.candidates
            told = {candidates.events[candidates.places[n].event].message for n in chosen}
            units = (unit for unit in self.selection.transcript.units if not told.isdisjoint(unit))
            noted = set(chain.from_iterable(units)).intersection(going)
            for reason, some in ((TOLD, noted), (LEFT_OUT, set(going) - noted)):
                if some:
                    yield Drop(tuple(sorted(some)), reason)
            if notes:
                text, covers = mark(notes, self.place.role), (going[0], going[-1])
                yield from self.place.inserts(text, TOLD, covers)
        for (i, part), text in self._parts(texts):
            reference = self.selection.references.get((i, part))
            is_users = self.selection.transcript.messages[i].role == "user"
            if reference and not is_users:
                yield Offload(i, part, text, reference.key, IN_PART)
            else:
                yield Replace(i, part, text, IN_PART, asked=is_users)
        for i, shorter in task.items():
            for part, text in shorter.items():
                yield Replace(i, part, text, _TASK, asked=True)

    def _written(self, chosen: Sequence[int]) -> Written:
        key = tuple(chosen)
        if key in self._known:
            return self._known[key]
        candidates, in_place = self.selection.candidates, self.selection.in_place
        found = candidates.by_event(chosen)
        entries = candidates.entries(found, in_place)
        texts = {number: self.ends.get(number, ASIDE) for number in sorted(in_place)}
        for number, pieces in found.items():
            if number in in_place:
                reading = candidates.texts[number].reading
                event, is_whole = candidates.events[number], len(pieces) == len(reading.pieces)
                shown = event.content if is_whole else writer(reading)(pieces)
                texts[number] = event.text.replace(event.content, shown, 1)
        heading = self.selection.knobs.heading
        notes = write_notes(entries, heading, self.tail) if entries or self.tail else ""
        self._known[key] = notes, texts
        return notes, texts

    def _parts(self, texts: Mapping[int, str]) -> Iterator[tuple[Place, str]]:
        """The place and new text of each part with a shortened event."""
        events = self.selection.candidates.events
        parts = defaultdict[Place, list[str]](list)
        for number, event in enumerate(events):
            parts[event.message, event.part].append(texts.get(number, event.text))
        for place in sorted({(events[number].message, events[number].part) for number in texts}):
            lines = parts[place]
            if "\n".join(lines) == self.selection.text_at(place):
                continue  # nothing is left out
            part = self.selection.transcript.messages[place[0]].parts[place[1]]
            if isinstance(part, ToolResult) and part.media:
                lines.append(left_out(part.media))
            if reference := self.selection.references.get(place):
                lines.append(reference.line)
            yield place, "\n".join(lines)
