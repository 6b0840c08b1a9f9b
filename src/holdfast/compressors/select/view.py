"""One selection: the pieces of a conversation that are kept in a room, and where they stand.

``Selection`` decides, ``Draft`` writes the notes and the shortened parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from holdfast.compressors.cuts import Placed, placed
from holdfast.compressors.references import Place, note
from holdfast.compressors.summaries import mark
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Offload, Replace
from holdfast.kernel.messages import Text
from holdfast.kernel.transcript import Transcript
from holdfast.selection.excerpt import writer
from holdfast.selection.weights import table
from holdfast.text.fit import head_tail, water_level

from .candidates import IDLE, Candidates, choose_fitting, rates, runs
from .notes import told_of, written
from .stays import Stays

if TYPE_CHECKING:
    from holdfast.compressors.select import Select

TOLD, LEFT_OUT = "in the notes", "not in the notes"
"""The reason of a drop: notes have pieces of the message, or none of its whole exchange."""
IN_PART = "shortened"
"""The reason for a new text of a part that stays."""
ASIDE = "[…]"
"""Stands for a text of which no piece is kept; it is not the mark of a skipped turn."""
_TASK = "too long for the budget: its middle is left out"

_LEAST_SHOWN = 16  # tokens of the newest output that stay in any room; older messages give way
_WORTH_NAMING = 4  # times the tokens of its reference that a text has at least
_REACH = 1.3  # times the room, since estimated costs may be too high


class Selection:
    """The decisions on one conversation."""

    def __init__(self, knobs: Select, transcript: Transcript, allowance: Allowance) -> None:
        self.transcript, self.allowance = transcript, allowance
        self._knobs, self._meter = knobs, allowance.meter
        self._stays = Stays(knobs, transcript, allowance)
        self._references: dict[Place, Reference] = {}
        going = set(self._stays.going)
        events = self._stays.events
        self._in_place = frozenset(
            number
            for number, event in enumerate(events)
            if event.message not in going and self._stays.may_be_shortened(event)
        )
        gone = {number for number, event in enumerate(events) if event.message in going}
        weights, query = table(), allowance.query
        question, share = (
            (transcript.question, weights.implied) if query is None else (query, weights.asked)
        )
        rate, room = rates(transcript.messages, self._meter), max(self._stays.room, 1)
        self._candidates = Candidates(events, gone | self._in_place, rate, question, share, room)
        self._order: list[int] | None = None
        self._best: Sequence[tuple[int | None, Sequence[int]]] = ()

    @property
    def going(self) -> Sequence[int]:
        """The positions of the messages that make way for notes."""
        return self._stays.going

    @property
    def may_shrink(self) -> bool:
        """Whether any message may be dropped or shortened."""
        return bool(self._candidates.found)

    def plan(self, tail: tuple[str, ...] = (), trouble: str = "") -> Plan:
        """The edits; ``tail`` are the last lines of the notes, which name the originals."""
        going = self._stays.going
        place = placed(self.transcript, going, "user") if going else None
        if going and place is None:
            return Plan.skip("no_place", "the rules of the conversation leave no place for notes")
        task = self._shorter_task()
        room = self.allowance.target - self._fixed(task)
        if self._order is None:  # references come later: they only make the room smaller
            self._order = self._candidates.order(max(room, 0) * _REACH)
            self._best = self._best_by_output(self._order)
        costs, values = self._candidates.costs, self._candidates.values
        draft = Draft(
            self._stays,
            self._candidates,
            self._in_place,
            self._knobs.heading,
            tail,
            place,
            self._references,
        )
        first, draft = self._floors(draft, room)
        chosen = choose_fitting(self._order, costs, values, room, draft.tokens, first)
        spare = room - draft.tokens(chosen) if task else 0
        if spare > self._stays.room * IDLE:
            task = self._shorter_task(int(spare * (1 - IDLE)))
        edits = tuple(draft.edits(chosen, task))
        return (
            Plan(edits, reason="history_folded", detail=trouble) if edits else Plan.skip("no_room")
        )

    def _floors(self, draft: Draft, room: int) -> tuple[list[int], Draft]:
        """The candidates that come before the others, and the draft for what has none.

        They are the best of each shortened output of the newest exchange, what the user answers
        included, and the best of the notes. In a small room each has an equal share, so that all
        say something. Of an output without a candidate that fits its share, the returned draft
        shows the beginning and the end.
        """
        costs, count = self._candidates.costs, self._meter.text
        floors: list[Iterable[int]] = []
        ends: dict[int, str] = {}
        empty = draft.tokens([])
        left = room - empty
        for place, (event, mine) in enumerate(self._best):
            share = max(left // (len(self._best) - place), _LEAST_SHOWN)
            opening = next((n for n in mine if costs[n] <= share), None)
            cost = draft.tokens([opening]) - empty if opening is not None else 0
            if opening is not None and cost <= min(share, left):
                left -= cost
                more = self._more(opening, event, mine) if event is not None else ()
                floors.append([opening, *more])
            elif event is not None and (place == 0 or share <= left):
                shown = self._stays.events[event].text
                ends[event] = head_tail(shown, share + count(ASIDE), count).rstrip()
                left -= count(ends[event]) - count(ASIDE)
        turns = zip_longest(*floors)  # else a large newest output takes all
        first = [number for turn in turns for number in turn if number is not None]
        return first, replace(draft, ends=ends)

    def _best_by_output(self, order: Sequence[int]) -> list[tuple[int | None, Sequence[int]]]:
        """The candidates of each shortened output of the newest exchange, and of the notes (None).

        The newest comes first, and of each the best candidate. What an output tells counts in full
        although older messages tell it too: the newest state is worth more than an older one.
        """
        found, events = self._candidates.found, self._stays.events
        now = {*self.transcript.newest, *self._stays.before_users_newest}
        newest = sorted((n for n in self._in_place if events[n].message in now), reverse=True)
        best: dict[int | None, dict[int, None]] = {n: {} for n in (*newest, None)}
        for number in (*order, *range(len(found))):
            event = found[number].event
            if event in best:
                best[event][number] = None
            elif event not in self._in_place:
                best[None][number] = None
        for event, mine in best.items():
            if event is not None:
                due = self._stays.due_to(events[event])
                first = self._candidates.best_first(sorted(mine), due)
                best[event] = dict.fromkeys([*first, *mine])
        return [(event, list(mine)) for event, mine in best.items()]

    def _more(self, opening: int, event: int, mine: Iterable[int]) -> Iterator[int]:
        """What follows the opening of a newest output, up to the size that it is due."""
        costs = self._candidates.costs
        left = self._stays.due_to(self._stays.events[event]) - costs[opening]
        for number in mine:
            if left <= 0:
                break
            if number != opening:
                yield number
                left -= costs[number]

    def _fixed(self, task: dict[Place, str]) -> int:
        """Tokens of everything that does not depend on the chosen pieces."""
        meter, going = self._meter, set(self._stays.going)
        whole = meter.overhead(self.transcript.envelope)
        whole += sum(size for i, size in enumerate(self._stays.sizes) if i not in going)
        whole -= sum(meter.text(self._stays.events[n].text) for n in self._in_place)
        if task and (position := self._stays.task) is not None:
            shorter = self.transcript.messages[position].saying(
                {part: text for (_, part), text in task.items()}
            )
            whole += meter.message(shorter) - self._stays.sizes[position]
        lines = (line for _, line in self._references.values() if line)
        return whole + sum(meter.text(f"\n{line}") for line in lines)

    def _shorter_task(self, spare: int = 0) -> dict[Place, str]:
        """The new texts of a task that is too long even with ``spare`` tokens more than its room.

        Of its longest texts the middle is left out.
        """
        task, most = self._stays.task, self._stays.task_room + max(spare, 0)
        if task is None or task in self._stays.firm or task in self.transcript.newest:
            return {}
        size, count = self._stays.sizes[task], self._meter.text
        if size <= most or any(self._stays.events[n].message == task for n in self._in_place):
            return {}
        parts = enumerate(self.transcript.messages[task].parts)
        texts = {number: part.text for number, part in parts if isinstance(part, Text)}
        lengths = {number: count(text) for number, text in texts.items()}
        level = water_level(lengths.values(), most - size + sum(lengths.values()))
        return {
            (task, number): head_tail(text, level, count).rstrip()
            for number, text in texts.items()
            if lengths[number] > level > 0
        }

    def without_reference(self, plan: Plan) -> list[tuple[Place, str, str]]:
        """The place, whole text and kind of each part that ``plan`` cuts without a reference."""
        found: list[tuple[Place, str, str]] = []
        for edit in plan.edits:
            if isinstance(edit, Replace) and edit.reason == IN_PART:
                at = (edit.index, edit.part)
                if at not in self._references:
                    text = self._text_at(at)
                    found.append((at, text, recognise(text).name))
        return found

    def name_original(self, at: Place, kind: str, key: str) -> None:
        """End the part, if it is cut, with a reference to its original.

        ``key`` is empty if the caller keeps the text. In a small room references would take the
        place of what they stand for: there the original is saved and not named. Nor is that of a
        text hardly longer than its reference.
        """
        tokens, count = self._meter.text(self._text_at(at)), self._meter.text
        line = note(kind, tokens, key, tool=self.allowance.recall_tool) if key else ""
        lines = [line, *(line for _, line in self._references.values())]
        if sum(map(count, lines)) > self._stays.longest or count(line) * _WORTH_NAMING > tokens:
            key = line = ""
        self._references[at] = Reference(key, line)

    def _text_at(self, at: Place) -> str:
        return self.transcript.messages[at[0]].parts[at[1]].text


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
