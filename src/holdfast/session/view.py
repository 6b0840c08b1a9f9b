"""The messages for the next model call: the system's, what the past has to say, and the recent turns.

What the past has to say is decided on each new input of a user and stays until the next one, so that the view
only grows at its end meanwhile. Where the recent turns begin moves in steps, each an event of the thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.api import compress
from holdfast.compressors.summaries import mark
from holdfast.kernel.budget import Budget
from holdfast.kernel.transcript import speaks
from holdfast.memory.segments import Segment
from holdfast.reports.journey import journeys

from .gist import gist
from .inquiry import SHIFT_AFTER, Inquiry, has_shifted, of_the_newest
from .lines import Kept
from .options import Options
from .parts import Desk, Key, Part, Recent, Telling, View, copied
from .past import Past, Recollection
from .thread import Thread

_ASKED_RECENT = 0.1  # share of the budget for recent turns where a question about the past is asked
_PAST = 0.25  # share that the past is left where recent turns are made smaller for it
_LEAST_PAST = 0.15  # share that it is left where they stay as they are
_REGROWTH = 0.35  # share that is left free when recent turns have outgrown their room
_GROWTH = 0.1  # share that is left free, so that the view can grow before it changes
_TASK = 0.125  # share up to which the task of an agent stays in the view
_TALK = (0.7, 0.5)  # recent turns of a talk: from what share on they give way, and to what share
_EXCHANGES = (2.0, 1.0)  # the same for an agent's exchanges, whose tool outputs shrink to a part of this
_WORTH = 0.25  # score from which on the past is worth its tokens where nobody asked for it
_NEAR = 0.25  # share of the recent turns that may go so that they begin with a user's message


_IN_MIND = "To be kept in mind:"


class Fitting:
    """One fit of a thread: what is decided here is recorded there."""

    def __init__(
        self,
        past: Past,
        thread: Thread,
        desk: Desk,
        options: Options,
        budget: Budget,
        query: str | None,
        tools: object,
        forms: Callable[[int], Iterable[Segment]],
    ) -> None:
        self.desk, self.forms = desk, forms
        self.past, self.thread, self.options, self.query, self.tools = past, thread, options, query, tools
        self.limit = budget.tokens(options.window)
        self.wire = thread.wire
        self.overhead = options.meter.overhead(self.wire.read([], tools).envelope)
        recalled = thread.state.recalled
        self.standing: Mapping[str, Any] = recalled if recalled.get("for", -1) == thread.state.spoke else {}
        self.agent = bool(self.standing.get("agent", thread.state.calls))
        self.fixed = self._fixed()
        self.room = self.limit - self.overhead - sum(map(self._size, self.fixed.values()))

    def view(self) -> View:
        """The view."""
        whole = self._whole()
        if whole is not None:
            return whole
        if self.query is not None:
            start = self._start(int(self.room * _ASKED_RECENT))
            return self._recalling(start, Inquiry(self.query), self.limit, "recalled")
        reason = self._moved()
        if not reason and self.standing and not self._shifted():
            return self._grown(Recollection.standing(self.standing))
        limit = int(self.limit * (1 - _GROWTH))
        return self._recalling(self.thread.state.since, of_the_newest(self.thread), limit, reason or "recalled")

    def _fixed(self) -> dict[int, Kept]:
        """What is always in the view: the system's messages, pins, and the task of an agent."""
        state = self.thread.state
        fixed = self.thread.read([*state.system, *state.pins])
        if self.agent and state.task is not None:
            task = self.thread.read([state.task])
            fixed |= {place: kept for place, kept in task.items() if self._size(kept) <= self.limit * _TASK}
        return dict(sorted(fixed.items()))

    def _whole(self) -> View | None:
        """The whole thread, if it fits."""
        left = self.limit - self.overhead
        if self.thread.state.tokens > left and not self.thread.state.rewordings:
            return None
        found: list[Any] = []
        for kept in self.thread.backwards():
            left -= self._size(kept)
            if left < 0:
                return None
            found.append(kept.original)
        copies = [copied(message) for message in reversed(found)]
        return View(copies, self.limit - left, self.limit, "everything_fits")

    def _moved(self) -> str:
        """Move the beginning of the recent turns if they have become too many; the reason, or nothing."""
        state = self.thread.state
        high, low = _EXCHANGES if self.agent else _TALK
        recent = self._recent(int(self.room * high))
        if recent <= self.room * high:
            return ""
        start = self._start(int(self.room * low))
        if start <= state.since:
            return ""
        facts = {"from": state.since, "to": start, "tokens": recent, "room": self.room}
        self.thread.record_if_current("compaction", "the recent turns outgrew their share of the budget", facts)
        return "compacted"

    def _recent(self, most: int) -> int:
        """Tokens of the recent turns as they were said, or of enough of them to be more than ``most``."""
        end, key = self.thread.state.messages, self._key(self.thread.state.since)
        known = self.desk.recent
        if known is None or known.key != key:
            known = Recent(key, self.thread.state.since, 0)
        tokens = known.tokens
        for kept in self.thread.backwards(known.end):
            if tokens > most:
                break
            tokens += 0 if kept.position in self.fixed else self._size(kept)
        self.desk.recent = Recent(key, end, tokens)
        return tokens

    def _start(self, room: int) -> int:
        """Where recent turns that fit the room begin: the newest exchange, and what is before it while it fits.

        They begin with a user's message if one is near, and never with the result of a call.
        """
        end = self.thread.state.messages
        taken, start, turn = 0, end, (end, 0)
        for kept in self.thread.backwards():
            if kept.position in self.fixed:
                continue
            taken += self._size(kept)
            if taken > room and start < end:
                break
            if not kept.message.results:
                start = kept.position
                turn = (start, taken) if speaks(kept.message) else turn
        return turn[0] if turn[1] and taken - turn[1] <= room * _NEAR else start

    def _grown(self, past: Recollection) -> View:
        """The view as it was, with what came since."""
        start = self.thread.state.since
        most = self.limit - self._cost(past.text)
        target = most - int(self.room * _REGROWTH) if self.desk.part else most  # another process may have made it
        return self._composed(self._part(start, most, target), start, past, "grown")

    def _recalling(self, start: int, asked: Inquiry, limit: int, reason: str) -> View:
        """The view with what the past has to say to this question."""
        least, regrowth = (_WORTH, _REGROWTH) if self.query is None else (0.0, 0.0)
        most = self.limit - int(self.room * _LEAST_PAST)
        part = self._part(start, most, self.limit - int(self.room * max(_PAST, regrowth)))
        empty = self._cost("")
        room = limit - part.tokens - empty
        shown = {place for place in part.places if place is not None}
        count = self.options.meter.text
        past = self.past.recollect(asked, room, count, lambda text: self._cost(text) - empty, shown, least)
        if self.query is None:
            past = self._filled(past, start, part)
        view = self._composed(part, start, past, reason)
        self._remember(past, asked, view)
        return view

    def _filled(self, past: Recollection, start: int, part: Part) -> Recollection:
        """With what the tiers say in brief of the rest, where much room is left.

        As much stays free as when recent turns are made smaller, so that they can grow.
        """
        said = f"{past.text}\n" if past.text else ""
        room = self.limit - int(self.room * _REGROWTH) - part.tokens - self._cost(said)
        brief = gist(self.forms(start), room, self.options.meter.text, {each.position for each in past.chosen})
        return replace(past, text=said + brief)

    def _remember(self, past: Recollection, asked: Inquiry, view: View) -> None:
        """Record what was recalled, and for which input if it is to stay until the next one."""
        facts = {
            "question": asked.shown,
            "chosen": past.facts(),
            "tokens": view.tokens,
            "of": self.thread.state.tokens,
        }
        self.thread.record_if_current("recall", f"{len(past.chosen)} messages of the past answer it", facts)
        if self.query is None:
            state = self.thread.state
            now = {"for": state.spoke, "at": state.messages, "agent": self.agent, "text": past.text}
            state.recalled = facts | now

    def _part(self, start: int, most: int, target: int) -> Part:
        """What is fixed and the recent turns, made to fit: if they do so, as they stood and what came since.

        So the beginning stays the same. When they have outgrown their room, what was made smaller is made smaller
        still: the work is that for what is new.
        """
        key = self._key(start)
        last = self.desk.part if self.query is None and self.desk.key == key else None
        part = self._continued(last) if last else self._made(start, target)
        if last and part.tokens > most:
            part = self._compressed(part.messages, part.places, part.head, target)
        if self.query is None:
            self.desk.key, self.desk.part = key, part
        return part

    def _key(self, start: int) -> Key:
        return (start, self.agent, self.thread.state.rewordings, *self.fixed)

    def _continued(self, last: Part) -> Part:
        fresh = self.thread.read(range(last.end, self.thread.state.messages))
        return Part(
            [*last.messages, *(kept.original for kept in fresh.values())],
            last.tokens + sum(map(self._size, fresh.values())),
            (*last.places, *fresh),
            last.head,
            self.thread.state.messages,
            last.result,
        )

    def _made(self, start: int, limit: int) -> Part:
        spoke = self.thread.state.spoke
        before = {place: kept for place, kept in self.fixed.items() if place < start}
        if spoke is not None and spoke < start:
            before |= self.thread.read([spoke])
        recent = self.thread.read(range(start, self.thread.state.messages))
        kept = [*(before[place] for place in sorted(before)), *recent.values()]
        messages, places = [each.original for each in kept], tuple(each.position for each in kept)
        tokens = self.overhead + sum(map(self._size, kept))
        if tokens <= limit:
            return Part(messages, tokens, places, len(before), self.thread.state.messages, None)
        return self._compressed(messages, places, len(before), limit)

    def _compressed(self, messages: list[Any], places: Sequence[int | None], head: int, limit: int) -> Part:
        """The messages made to fit; the first ones, so many, stand before the recent turns."""
        options, pins = self.options, set(self.thread.state.pins)
        result = compress(
            messages,
            max(1, limit),
            model=options.model,
            format=self.thread.state.format or None,
            profile=options.profile,
            query=self.query,
            tools=self.tools,
            pin=[i for i, place in enumerate(places) if place in pins],
            store=self.thread.store,
            counter=options.counter,
            redact=options.redact,
        )
        ways = {way.after: way.before for way in journeys(result) if way.after is not None}
        sources = [ways[at] for at in range(len(result.messages))]
        return Part(
            list(result.messages),
            result.usage.tokens,
            tuple(None if source is None else places[source] for source in sources),
            max((at + 1 for at, source in enumerate(sources) if source is not None and source < head), default=0),
            self.thread.state.messages,
            result,
        )

    def _composed(self, part: Part, start: int, past: Recollection, reason: str) -> View:
        """The view: what is fixed, what the past has to say, the recent turns."""
        messages, tokens = list(part.messages), part.tokens
        if past.text or self.thread.state.notes:
            telling = self._telling(past.text)
            messages.insert(part.head, telling.message)
            tokens += telling.tokens
        copies = [copied(message) for message in messages]
        return View(copies, tokens, self.limit, reason, start, past.chosen, part.result)

    def _telling(self, recalled: str) -> Telling:
        """The message in which the past speaks: what is to be kept in mind, and what was recalled."""
        notes = [f"- {note}" for note in self.thread.state.notes.values()]
        kept = "\n".join([_IN_MIND, *notes, ""]) if notes else ""
        text = f"{kept}{recalled}".rstrip("\n")
        known = self.desk.telling
        if known is None or (known.wire, known.text) != (self.wire.name, text):
            message = self.wire.compose("user", mark(text))
            tokens = self.options.meter.message(self.wire.read([message]).messages[0])
            known = self.desk.telling = Telling(self.wire.name, text, message, tokens)
        return known

    def _cost(self, recalled: str) -> int:
        """Tokens of the message in which the past speaks."""
        return self._telling(recalled).tokens

    def _shifted(self) -> bool:
        """Whether the work has turned to something else; asked anew when enough has come."""
        end = self.thread.state.messages
        if end - max(self.standing["at"], self.desk.looked) < SHIFT_AFTER:
            return False
        self.desk.looked = end
        return has_shifted(self.thread, self.standing)

    def _size(self, kept: Kept) -> int:
        return self.options.meter.message(kept.message)
