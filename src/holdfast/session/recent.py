"""The recent turns of a view: where they begin, and how they are made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from holdfast.engine import fitted
from holdfast.kernel.flow import run
from holdfast.kernel.transcript import speaks
from holdfast.options import Options
from holdfast.reports.account import sources
from holdfast.runtime import answers

from .carrying import carried, summary_of
from .exchanges import with_calls
from .frame import Frame
from .lines import Kept
from .parts import Part, Recent
from .state import Made

_NEAR = 0.25  # share of the recent turns that may go so that they begin with a user's message


class RecentTurns:
    """The recent turns of one fit, behind what is always in the view."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._thread, self._desk = frame.thread, frame.desk

    def tokens(self, most: int) -> int:
        """Tokens of the recent turns as they were said, or of enough of them to be more than ``most``."""
        end, key = self._thread.state.messages, self._frame.key(self._thread.state.since)
        known = self._desk.recent
        if known is None or known.key != key:
            known = Recent(key, self._thread.state.since, 0)
        tokens = known.tokens
        for kept in self._thread.backwards(known.end):
            if tokens > most:
                break
            tokens += 0 if kept.position in self._frame.fixed else self._frame.size(kept)
        self._desk.recent = Recent(key, end, tokens)
        return tokens

    def start(self, room: int) -> int:
        """Where recent turns that fit the room begin: the newest exchange, and what is before it while it fits.

        They begin with a user's message if one is near, and never with the result of a call.
        """
        end = self._thread.state.messages
        taken, start, turn = 0, end, (end, 0)
        for kept in self._thread.backwards():
            if kept.position in self._frame.fixed:
                continue
            taken += self._frame.size(kept)
            if taken > room and start < end:
                break
            if not kept.message.results:
                start = kept.position
                turn = (start, taken) if speaks(kept.message) else turn
        return turn[0] if turn[1] and taken - turn[1] <= room * _NEAR else start

    def part(self, start: int, most: int, target: int) -> Part:
        """What is fixed and the recent turns, made to fit: if they do so, as they stood and what came since.

        So the beginning stays the same. When they have outgrown their room, all is made smaller once more, of
        what was said, and not of what was made of it.
        """
        last = self.last(start)
        if last is None:
            return self._anew(start, target)
        part = self._continued(last)
        return self._smaller(part, start, target) if part.tokens > most else self._put_down(start, part)

    def last(self, start: int) -> Part | None:
        """The part as it was made last; where another process made it, made again of what it was made of."""
        desk, key, made = self._desk, self._frame.key(start), self._thread.state.made
        if self._frame.query is not None:
            return None
        if desk.part is not None and desk.key == key:
            return desk.part
        stands = made is not None and tuple(made.key) == key
        return self._put_down(start, self._made(made)) if made and stands else None

    def _put_down(self, start: int, part: Part) -> Part:
        """The part, kept for the next fit."""
        desk = self._desk
        desk.key, desk.part, desk.overhead = self._frame.key(start), part, self._frame.overhead
        return part

    def _anew(self, start: int, target: int) -> Part:
        """The part made of what was said until now; how is kept, unless it is for a question about the past."""
        state = self._thread.state
        made = Made([*self._frame.key(start)], state.messages, state.spoke, target)
        part = self._made(made)
        if self._frame.query is not None:
            return part
        state.made = made
        return self._put_down(start, part)

    def _smaller(self, grown: Part, start: int, target: int) -> Part:
        """The part made to fit once more, which is an event of the thread."""
        part = self._anew(start, target)
        if part.tokens < grown.tokens:
            facts = {"from": grown.tokens, "to": part.tokens}
            self._thread.record_if_current("shrink", "the view outgrew its room and was made smaller", facts)
        return part

    def _continued(self, last: Part) -> Part:
        fresh = self._thread.read(range(last.end, self._thread.state.messages))
        beside = self._frame.overhead - self._desk.overhead  # other tools may be sent now
        return Part(
            [*last.messages, *(kept.original for kept in fresh.values())],
            last.tokens + beside + sum(map(self._frame.size, fresh.values())),
            (*last.places, *fresh),
            last.head,
            self._thread.state.messages,
            last.result,
        )

    def _made(self, made: Made) -> Part:
        """Of what was said; of an agent, what it did before stands there in notes."""
        frame, start, spoke = self._frame, made.key[0], made.spoke
        before = {place: kept for place, kept in frame.fixed.items() if place < start}
        if spoke is not None and spoke < start:
            before |= {place: kept for place, kept in with_calls(self._thread, spoke).items() if place < start}
        kept = [*(before[place] for place in sorted(before)), *self._thread.read(range(start, made.end)).values()]
        messages = [each.original for each in kept]
        places: list[int | None] = [each.position for each in kept]
        tokens = frame.overhead + sum(map(frame.size, kept))
        head = max(len(before), _opening(kept))
        earlier = carried(frame, start) if frame.agent and frame.query is None else ""
        if earlier:
            summary = summary_of(frame.thread.wire, earlier)
            messages.insert(head, summary.original)
            places.insert(head, None)
            tokens += frame.options.meter.message(summary)
        part = Part(messages, tokens, tuple(places), head, made.end, None)
        return part if tokens <= made.target else self._compressed(part, made.target)

    def _compressed(self, part: Part, limit: int) -> Part:
        """The part made to fit."""
        options, pins = self._frame.options, set(self._thread.state.pins)
        asked = Options(
            model=options.model,
            format=self._thread.state.format or None,
            profile=options.profile,
            query=self._frame.query,
            tools=self._frame.tools,
            pin=[i for i, place in enumerate(part.places) if place in pins],
            store=self._thread.store,
            counter=options.counter,
            redact=options.redact,
        )
        result = run(fitted(part.messages, max(1, limit), asked, logged=True), answers)
        found = sources(result)
        heads = (at + 1 for at, source in enumerate(found) if source is not None and source < part.head)
        return Part(
            list(result.messages),
            result.usage.tokens,
            tuple(None if source is None else part.places[source] for source in found),
            max(heads, default=0),
            part.end,
            result,
        )


def _opening(kept: Sequence[Kept]) -> int:
    """How many messages of the system's a part begins with."""
    return sum(1 for _ in takewhile(lambda each: each.message.role == "system", kept))
