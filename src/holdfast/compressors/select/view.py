"""One selection: which messages stay in place, which pieces go into the notes, and what fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from holdfast.compressors.cuts import Placed, legal, placed, unit_of
from holdfast.compressors.references import Place, note
from holdfast.compressors.summaries import body_of, concealed, mark
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Offload, Replace
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.transcript import Transcript
from holdfast.selection.excerpt import writer
from holdfast.selection.weights import table
from holdfast.stream.events import StreamEvent, events_of
from holdfast.text.fit import head_tail, water_level

from .candidates import Candidates, choose_fitting, rates, runs
from .notes import told_of, written

if TYPE_CHECKING:
    from holdfast.compressors.select import Select

_IN_PLACE = 0.5  # share of the recent room above which one part is shortened to pieces
TOLD, LEFT_OUT = "in the notes", "not in the notes"
"""The reason of a drop: notes have pieces of the message, or none of its whole exchange."""
IN_PART = "shortened"
"""The reason for a new text of a part that stays."""
_ASIDE = "[…]"  # replaces a text of which no piece is kept; not the mark of a skipped turn
_LEAST_SHOWN = 16  # tokens of the newest output that stay in any room; older messages give way
_IDLE = 0.1  # share of the room; if more is left, the task gets it
_SHORT_ANSWER = 64  # tokens of a message that is hard to understand without the message it answers
_LEAST_TASK = 0.1  # share of the room that a task always has, if it is as long
_NEWEST = 0.7  # share of that room that each output of the newest exchange gets at least
_REACH = 1.3  # times the room, since estimated costs may be too high
_NAMED = 0.1  # share of the room that references to originals may take
_SHOWN = 0.2  # share of such an output that is shown, if the recent room has space


class Selection:
    """The decisions on one conversation."""

    def __init__(self, knobs: Select, transcript: Transcript, allowance: Allowance) -> None:
        self.knobs, self.transcript, self.allowance = knobs, transcript, allowance
        self._meter = allowance.meter
        self._sizes = self._meter.sizes(transcript)
        self._bodies = {
            i: body for i, m in enumerate(transcript.messages) if (body := body_of(m)) is not None
        }
        overhead = self._meter.overhead(transcript.envelope)
        firm = transcript.protected - frozenset(transcript.newest)
        self._firm = frozenset(chain.from_iterable(unit_of(transcript, i) for i in firm))
        self._room = allowance.target - overhead - sum(self._sizes[i] for i in self._firm)
        self._task = self._task_of()
        self._task_room = int(self._room * knobs.task)
        self._cap = max(1, int(self._room * knobs.recent * _IN_PLACE))
        self._texts: dict[Place, str] = {}
        self._told_in_part: set[int] = set()
        self._clipped: dict[int, str] = {}
        self._references: dict[Place, tuple[str, str]] = {}  # the key, and the line that names it
        said = map(concealed, transcript.messages) if allowance.redacts else transcript.messages
        self._events = events_of(
            tuple(said), range(len(transcript)), self._bodies, transcript.envelope
        )
        self._by_message: dict[int, list[StreamEvent]] = {}
        for event in self._events:
            self._by_message.setdefault(event.message, []).append(event)
        self._user_speaks_last = any(
            event.is_users_words for i in transcript.newest for event in self._by_message.get(i, ())
        )
        self._answered = self._answered_by_newest()
        staying = self._staying()
        everything = set(range(len(transcript)))
        kept = {*self._firm, *transcript.newest, *self._answered}
        if self._task is not None:
            kept.add(self._task)
        self.going = sorted(legal(transcript, everything - staying, kept))
        self._candidates = self._candidates_of()
        self._order: list[int] | None = None

    @property
    def may_shrink(self) -> bool:
        """Whether any message may be dropped or shortened."""
        return bool(self._candidates.found)

    # what stays

    def _task_of(self) -> int | None:
        users = [i for i in self.transcript.user_positions if i not in self._bodies]
        return users[0] if users and "task" in self.transcript.prefers else None

    def _staying(self) -> set[int]:
        """The positions that stay in place: protected ones, the task, and the newest exchanges.

        They stay whole. Only those that a user's newest message may ask about, of the turn before
        it, can be shortened.
        """
        turns = self.transcript.turns[-2:]
        asked = turns[0].start if self._user_speaks_last else len(self.transcript)
        staying = {*self._firm, *self._answered, *self.transcript.newest}
        if sum(map(self._least, before := self._before_users_newest())) <= self._task_room:
            staying.update(before)
        if self._task is not None:
            staying.add(self._task)
        left = self._recent_room(staying)
        for unit in reversed(self.transcript.units):
            if not staying.issuperset(unit):
                size = self._least if unit.start >= asked else self._sizes.__getitem__
                cost = sum(size(i) for i in unit if i not in staying)
                if cost > left or not self._bodies.keys().isdisjoint(unit):
                    break
                left -= cost
            staying.update(unit)
        return staying

    def _recent_room(self, staying: Collection[int]) -> float:
        """Tokens for the exchanges that stay besides ``staying``.

        It is the share ``recent`` of the room. It is more where the notes would else have more than
        the share ``told`` of the rest: so much that ``room - more == told * (rest - more)``.
        """
        told, sizes = self.knobs.told, self._sizes
        room = self._room - sum(sizes[i] for i in staying if i not in self._firm)
        rest = sum(size for i, size in enumerate(sizes) if i not in staying)
        more = (room - told * rest) / (1 - told) if told < 1 else 0.0
        return max(self._room * self.knobs.recent, more)

    def _before_users_newest(self) -> range:
        """The agent's message that the user's newest one answers, if any."""
        newest = self.transcript.newest
        before = [unit for unit in self.transcript.units if unit.stop <= newest.start]
        if not before or not self._user_speaks_last:
            return range(0)
        unit = before[-1]
        is_agents = self.transcript.messages[unit.start].role == "assistant"
        return unit if is_agents and self._bodies.keys().isdisjoint(unit) else range(0)

    def _answered_by_newest(self) -> range:
        """That message if it stays whole, since "yes" alone means nothing."""
        newest, unit = self.transcript.newest, self._before_users_newest()
        size = sum(self._sizes[i] for i in unit)
        if size <= self._room * self.knobs.task:
            return unit
        answer = sum(self._sizes[i] for i in newest)
        asked_for = 0 if self._task is None else self._sizes[self._task]
        task = min(asked_for, int(self._room * _LEAST_TASK))
        if answer > _SHORT_ANSWER or size + answer + task > self._room:
            return range(0)
        self._task_room = min(self._task_room, self._room - size - answer)
        return unit

    def _least(self, i: int) -> int:
        """The tokens of a message with its long outputs shortened."""
        size = self._sizes[i]
        if size > self._cap:
            for event in self._by_message[i]:
                if self._may_be_told_in_part(event):
                    size -= max(0, self._meter.text(event.text) - self._cap)
        return size

    # candidates

    def _candidates_of(self) -> Candidates:
        going = set(self.going)
        among: set[int] = set()
        clamped = self._clamped_task()
        for number, event in enumerate(self._events):
            if event.message in going:
                among.add(number)
            elif (
                event.message not in self._answered
                and event.message != clamped
                and self._may_be_told_in_part(event)
                and self._meter.text(event.text) > self._cap
            ):
                among.add(number)
                self._told_in_part.add(number)
        query, weights = self.allowance.query, table()
        question, share = (
            (self.transcript.question, weights.implied) if query is None else (query, weights.asked)
        )
        rate = rates(self.transcript.messages, self._meter)
        return Candidates(self._events, among, rate, question, share, max(self._room, 1))

    def _clamped_task(self) -> int | None:
        """The task's position if it is too long even without its pasted material."""
        too_long = self._task is not None and self._least(self._task) > self._task_room
        return self._task if too_long else None

    def _may_be_told_in_part(self, event: StreamEvent) -> bool:
        """Whether a staying event may be shortened: output, pasted material or an agent's text."""
        i = event.message
        if (
            i in self._firm
            or i in self.transcript.pinned
            or event.function in ("instruction", "act", "notes")
        ):
            return False
        part = self.transcript.messages[i].parts[event.part]
        if isinstance(part, ToolResult):
            return not part.media
        return isinstance(part, Text) and (event.function != "words" or event.by == "assistant")

    # the plan

    def plan(self, references: tuple[str, ...] = (), trouble: str = "") -> Plan:
        """The edits; ``references`` are the last lines of the notes, which name the originals."""
        place = placed(self.transcript, self.going, "user") if self.going else None
        if self.going and place is None:
            return Plan.skip("no_place", "the rules of the conversation leave no place for notes")
        fixed = self._fixed()
        room = self.allowance.target - fixed
        if self._order is None:  # references come later: they only make the room smaller
            self._order = self._candidates.order(max(room, 0) * _REACH)
        order = self._order
        costs, values = self._candidates.costs, self._candidates.values

        def tokens(some: Sequence[int]) -> int:
            return self._tokens(some, place, references)

        floors = self._floors(order, room, tokens)
        turns = zip_longest(*floors)  # else a large newest output takes all
        first = [number for turn in turns for number in turn if number is not None]
        chosen = choose_fitting(order, costs, values, room, tokens, first)
        if self._task is not None and self._texts:
            spare = room - tokens(chosen)
            if spare > self._room * _IDLE:
                self._clamp_task(self._task, int(spare * (1 - _IDLE)))
        edits = tuple(self._edits(chosen, place, references))
        return (
            Plan(edits, reason="history_folded", detail=trouble) if edits else Plan.skip("no_room")
        )

    def _floors(
        self, order: Sequence[int], room: int, tokens: Callable[[Sequence[int]], int]
    ) -> Iterator[Sequence[int]]:
        """The best candidates of each output of the newest exchange, then the best of the notes.

        What the user answers belongs to that exchange. They share a small room equally, so that
        all say something: first comes the best candidate of each that fits its share. If none
        does, the ends of the output are shown instead.
        """
        found, costs, count = self._candidates.found, self._candidates.costs, self._meter.text
        in_place, now = self._told_in_part, {*self.transcript.newest, *self._before_users_newest()}
        newest = [n for n in in_place if self._events[n].message in now]
        best: dict[int, dict[int, None]] = {n: {} for n in sorted(newest, reverse=True)}
        noted: dict[int, None] = {}
        for number in (*order, *range(len(found))):
            event = found[number].event
            best.get(event, {} if event in in_place else noted)[number] = None
        empty = tokens([])
        left = room - empty
        for place, (event, mine) in enumerate((*best.items(), (-1, noted))):
            share = max(left // (len(best) + 1 - place), _LEAST_SHOWN)
            opening = next((n for n in mine if costs[n] <= share), None)
            cost = tokens([opening]) - empty if opening is not None else 0
            if opening is not None and cost <= min(share, left):
                left -= cost
                yield [opening, *self._more(opening, event, mine)] if event >= 0 else [opening]
            elif event >= 0 and (place == 0 or share <= left):
                shown = self._events[event].text
                text = head_tail(shown, share + count(_ASIDE), count).rstrip()
                self._clipped[event] = text
                left -= count(text) - count(_ASIDE)

    def _more(self, opening: int, event: int, mine: Iterable[int]) -> Iterator[int]:
        """What follows the opening of a newest output, up to the part of the room it is due."""
        costs, size = self._candidates.costs, self._meter.text(self._events[event].text)
        left = max(self._cap * _NEWEST, min(size * _SHOWN, self._room * self.knobs.recent))
        left -= costs[opening]
        for number in mine:
            if left <= 0:
                break
            if number != opening:
                yield number
                left -= costs[number]

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
        place of what they stand for: there the original is saved and not named.
        """
        tokens = self._meter.text(self._text_at(at))
        line = note(kind, tokens, key, tool=self.allowance.recall_tool) if key else ""
        lines = [line, *(line for _, line in self._references.values())]
        if sum(map(self._meter.text, lines)) > self._room * _NAMED:
            key = line = ""
        self._references[at] = (key, line)

    def _text_at(self, at: Place) -> str:
        return self.transcript.messages[at[0]].parts[at[1]].text

    def _fixed(self) -> int:
        """Tokens of everything that does not depend on the chosen pieces."""
        meter, going = self._meter, set(self.going)
        whole = meter.overhead(self.transcript.envelope)
        whole += sum(size for i, size in enumerate(self._sizes) if i not in going)
        whole -= sum(meter.text(self._events[n].text) for n in self._told_in_part)
        if self._task is not None and self._task not in self._firm:
            whole += self._clamp_task(self._task)
        return whole + sum(meter.text(f"\n{line}") for _, line in self._references.values() if line)

    def _clamp_task(self, task: int, spare: int = 0) -> int:
        """Shorten a task that is too long, to ``spare`` more tokens; the change in tokens."""
        message, most = self.transcript.messages[task], self._task_room + max(spare, 0)
        texts = {n: part.text for n, part in enumerate(message.parts) if isinstance(part, Text)}
        self._texts.clear()
        if self._sizes[task] <= most or task in self.transcript.newest:
            return 0
        if any(self._events[number].message == task for number in self._told_in_part):
            return 0
        count = self._meter.text
        lengths = {n: count(text) for n, text in texts.items()}
        left = most - self._sizes[task] + sum(lengths.values())
        level = water_level(lengths.values(), left)
        if level <= 0:
            return 0
        for n, text in texts.items():
            if lengths[n] > level:
                self._texts[task, n] = head_tail(text, level, count).rstrip()
        said = {n: text for (_, n), text in self._texts.items()}
        return self._meter.message(message.saying(said)) - self._sizes[task]

    def _tokens(
        self, chosen: Sequence[int], place: Placed | None, references: tuple[str, ...]
    ) -> int:
        """Tokens of the chosen pieces, in notes and in place."""
        notes, texts = self._written(chosen, references)
        count = self._meter.text
        told = sum(count(text) for text in texts.values())
        if place is None or not notes:
            return told
        return told + count(mark(notes, place.role)) + place.tokens(self._meter)

    def _written(
        self, chosen: Sequence[int], references: tuple[str, ...]
    ) -> tuple[str, dict[int, str]]:
        """The notes, and the new text of each shortened event that stays in place."""
        found = runs(chosen, self._candidates.found)
        told = told_of(found, self._candidates, self._told_in_part)
        texts = {number: self._clipped.get(number, _ASIDE) for number in sorted(self._told_in_part)}
        for number, pieces in found:
            if number in self._told_in_part:
                telling = self._candidates.tellings[number]
                whole = len(pieces) == len(telling.reading.pieces)
                texts[number] = (
                    self._events[number].text if whole else writer(telling.reading)(pieces)
                )
        return written(told, self.knobs.heading, references) if told or references else "", texts

    def _parts(self, texts: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
        """The indices and new text of each part with a shortened event."""
        places = {(self._events[n].message, self._events[n].part) for n in texts}
        numbered = list(enumerate(self._events))
        for at, part in sorted(places):
            events = [(n, e) for n, e in numbered if (e.message, e.part) == (at, part)]
            lines = [texts.get(n, e.text) for n, e in events]
            if "\n".join(lines) == self.transcript.messages[at].parts[part].text:
                continue  # nothing is left out
            _, reference = self._references.get((at, part), ("", ""))
            yield at, part, "\n".join([*lines, reference] if reference else lines)

    def _noted_messages(self, chosen: Sequence[int]) -> set[int]:
        """The messages that notes replace, with the calls and results that belong to them."""
        events, found = self._events, self._candidates.found
        told = {events[found[number].event].message for number in chosen}
        units = (unit for unit in self.transcript.units if not told.isdisjoint(unit))
        return set(chain.from_iterable(units)).intersection(self.going)

    def _edits(
        self, chosen: Sequence[int], place: Placed | None, references: tuple[str, ...]
    ) -> Iterator[Edit]:
        notes, texts = self._written(chosen, references)
        if place is not None:
            told = self._noted_messages(chosen)
            for reason, some in ((TOLD, told), (LEFT_OUT, set(self.going) - told)):
                if some:
                    yield Drop(tuple(sorted(some)), reason)
        if place is not None and notes:
            covers = (self.going[0], self.going[-1])
            yield from place.inserts(mark(notes, place.role), TOLD, covers)
        for i, part, text in self._parts(texts):
            key, _ = self._references.get((i, part), ("", ""))
            if key and self.transcript.messages[i].role != "user":
                yield Offload(i, part, text, key, IN_PART)
            else:
                yield Replace(
                    i, part, text, IN_PART, asked=self.transcript.messages[i].role == "user"
                )
        for (i, part), text in sorted(self._texts.items()):
            yield Replace(
                i, part, text, "too long for the budget: its middle is left out", asked=True
            )
