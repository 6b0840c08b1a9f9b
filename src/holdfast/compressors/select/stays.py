"""Which messages stay in place: the task, the newest exchanges, and what the user answers."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.compressors.cuts import legal, unit_of
from holdfast.compressors.summaries import body_of, concealed
from holdfast.kernel.budget import Allowance
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.transcript import Transcript
from holdfast.stream.events import StreamEvent, events_of
from holdfast.text.fit import water_level

if TYPE_CHECKING:
    from holdfast.compressors.select import Select

_IN_PLACE = 0.5  # share of the recent room above which one part is shortened to pieces
_NEWEST = 0.65  # share of the recent room that is due to a newest output
_SHOWN = 0.2  # share of a long one that is told, if the recent room has space
_SHORT_ANSWER = 64  # tokens of a message that is hard to understand without the message it answers
_LEAST_TASK = 0.1  # share of the room that a task always has, if it is as long


class Stays:
    """The messages of a conversation that stay in place. Sizes and rooms are in tokens."""

    def __init__(self, knobs: Select, transcript: Transcript, allowance: Allowance) -> None:
        self._knobs, self.transcript, self.meter = knobs, transcript, allowance.meter
        self._bodies = {
            i: body for i, m in enumerate(transcript.messages) if (body := body_of(m)) is not None
        }
        said = map(concealed, transcript.messages) if allowance.redacts else transcript.messages
        self.events = events_of(tuple(said), self._bodies, transcript.envelope)
        self._by_message: dict[int, list[StreamEvent]] = {}
        for event in self.events:
            self._by_message.setdefault(event.message, []).append(event)
        self.sizes = self.meter.sizes(transcript)
        firm = transcript.protected - frozenset(transcript.newest)
        self.firm = frozenset(chain.from_iterable(unit_of(transcript, i) for i in firm))
        overhead = self.meter.overhead(transcript.envelope)
        self.room = allowance.target - overhead - sum(self.sizes[i] for i in self.firm)
        """What is left beside the messages that always stay whole."""
        self.longest = max(1, int(self.room * knobs.recent * _IN_PLACE))
        """The size above which a part that stays is shortened to its best pieces."""
        self.task = self._task()
        """The position of the user's first message."""
        staying = self.firm if self.task is None else self.firm | {self.task}
        self._due = max(self.longest, int(self._recent_room(staying) * _NEWEST))
        """The size that is due to an output of the newest exchange."""
        self._longest_newest = max(self.longest, self._level_of_newest())
        """The size above which such an output is shortened."""
        self._user_speaks_last = any(
            event.is_users_words for i in transcript.newest for event in self._by_message.get(i, ())
        )
        self.before_users_newest = self._before_users_newest()
        """The agent's message that the user's newest one answers."""
        self._answered = self._answered_by_newest()
        self.task_room = self._room_for_task()
        self.going = self._going()
        """The positions of the messages that make way for notes."""
        too_long = self.task is not None and self._least(self.task) > self.task_room
        self._cut_task = self.task if too_long else None

    def may_be_shortened(self, event: StreamEvent) -> bool:
        """Whether a part that stays is too long, and is output, pasted material or an agent's text.

        The middle of a task that is too long even without its pasted material is cut out instead.
        """
        is_newest = event.message in self.transcript.newest
        return (
            event.message not in self._answered
            and event.message != self._cut_task
            and self._may_be_told_in_part(event)
            and self.meter.text(event.text) > (self._longest_newest if is_newest else self.longest)
        )

    def due_to(self, event: StreamEvent) -> float:
        """The tokens that a shortened output of the newest exchange has at least, if they fit."""
        size, recent = self.meter.text(event.text), self.room * self._knobs.recent
        return max(self._due, min(size * _SHOWN, recent))

    def _level_of_newest(self) -> int:
        """The size up to which an output of the newest exchange stays whole.

        The next step reads them. Together they may have what one is due.
        """
        newest = chain.from_iterable(self._by_message.get(i, ()) for i in self.transcript.newest)
        sizes = [self.meter.text(each.text) for each in newest if self._may_be_told_in_part(each)]
        return water_level(sizes, self._due)

    def _task(self) -> int | None:
        users = [i for i in self.transcript.user_positions if i not in self._bodies]
        return users[0] if users and "task" in self.transcript.prefers else None

    def _before_users_newest(self) -> range:
        newest = self.transcript.newest
        before = [unit for unit in self.transcript.units if unit.stop <= newest.start]
        if not before or not self._user_speaks_last:
            return range(0)
        unit = before[-1]
        is_agents = self.transcript.messages[unit.start].role == "assistant"
        return unit if is_agents and self._bodies.keys().isdisjoint(unit) else range(0)

    def _answered_by_newest(self) -> range:
        """The message before the user's newest if it stays whole, since "yes" alone means nothing.

        A long one does if the newest is short and a little room is left for the task.
        """
        unit = self.before_users_newest
        size, answer = self._size(unit), self._size(self.transcript.newest)
        if size <= self.room * self._knobs.task:
            return unit
        asked_for = 0 if self.task is None else self.sizes[self.task]
        task = min(asked_for, int(self.room * _LEAST_TASK))
        return unit if answer <= _SHORT_ANSWER and size + answer + task <= self.room else range(0)

    def _room_for_task(self) -> int:
        """The share of the task, or what a long answered message leaves of it."""
        share, answered = self.room * self._knobs.task, self._size(self._answered)
        if answered <= max(share, 0):
            return int(share)
        return min(int(share), self.room - answered - self._size(self.transcript.newest))

    def _going(self) -> list[int]:
        kept = {*self.firm, *self.transcript.newest, *self._answered}
        if self.task is not None:
            kept.add(self.task)
        others = set(range(len(self.transcript))) - self._staying()
        return sorted(legal(self.transcript, others, kept))

    def _staying(self) -> set[int]:
        """The positions that stay in place: protected ones, the task, and the newest exchanges.

        They stay whole. Only those that a user's newest message may ask about, of the turn before
        it, can be shortened.
        """
        turns = self.transcript.turns[-2:]
        asked = turns[0].start if self._user_speaks_last else len(self.transcript)
        staying = {*self.firm, *self._answered, *self.transcript.newest}
        before = self.before_users_newest
        if sum(map(self._least, before)) <= self.task_room:
            staying.update(before)
        if self.task is not None:
            staying.add(self.task)
        left = self._recent_room(staying)
        for unit in reversed(self.transcript.units):
            if not staying.issuperset(unit):
                size = self._least if unit.start >= asked else self.sizes.__getitem__
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
        told = self._knobs.told
        room = self.room - sum(self.sizes[i] for i in staying if i not in self.firm)
        rest = sum(size for i, size in enumerate(self.sizes) if i not in staying)
        more = (room - told * rest) / (1 - told) if told < 1 else 0.0
        return max(self.room * self._knobs.recent, more)

    def _size(self, unit: range) -> int:
        return sum(self.sizes[i] for i in unit)

    def _least(self, i: int) -> int:
        """The tokens of a message with its long outputs shortened."""
        size = self.sizes[i]
        if size > self.longest:
            for event in self._by_message[i]:
                if self._may_be_told_in_part(event):
                    size -= max(0, self.meter.text(event.text) - self.longest)
        return size

    def _may_be_told_in_part(self, event: StreamEvent) -> bool:
        i = event.message
        if i in self.firm or i in self.transcript.pinned:
            return False
        if event.function in ("instruction", "act", "notes"):
            return False
        part = self.transcript.messages[i].parts[event.part]
        if isinstance(part, ToolResult):
            return not part.media
        return isinstance(part, Text) and (event.function != "words" or event.by == "assistant")
