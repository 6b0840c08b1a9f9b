"""The turns of a thread as segments, named by the positions of their first and last message."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from holdfast.memory.changing import original_of
from holdfast.memory.remembered import Remembered
from holdfast.memory.segments import Segment, by_turns
from holdfast.text.memo import Memo

from .naming import calls_of
from .spans import Span, holds, span_of
from .telling import call_of, opening, told
from .thread import Thread

_CONTEXT = 8  # newest messages that segments are held against
_AROUND = 64  # messages to each side in which the turn of an evicted message is looked for
_HELD = 2_000_000  # characters of turns
_REWORDING = frozenset({"edit", "revert", "delete", "keep"})


class Turns:
    """Reads the turns of one thread."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._texts: Memo[tuple[str, int, str], str] = Memo(
            lambda key: self._text(self._told(*ends(key[0]))), lambda _, text: len(text), _HELD
        )
        """By the segment's name: of a long turn each piece is asked for, and the whole is read for it."""
        self._reworded: tuple[tuple[int, int], AbstractSet[int]] = ((0, 0), frozenset())

    def start(self, first: int, most: int) -> int:
        """Where the newest messages of so many tokens begin, or this position if that is later."""
        start = self._thread.state.messages
        for kept in self._thread.backwards():
            if kept.position < first or most < 0:
                break
            most -= self._thread.meter.message(kept.message)
            start = kept.position
        return start

    def finished(self, start: int, most: int | None) -> tuple[list[Segment], int, bool]:
        """The turns from there on, those that were evicted left out; where they end, and whether there are more.

        Not the newest, which is still going on; with ``most``, no more when they have so many tokens.
        """
        said: list[Remembered] = []
        tokens = 0
        for kept in self._thread.forwards(start):
            if kept.message.role == "system":
                continue
            if most is not None and tokens > most and kept.remembered.role == "user":
                turns, more = by_turns(said), True
                break
            said.append(kept.remembered)
            tokens += self._thread.meter.message(kept.message)
        else:
            turns, more = by_turns(said)[:-1], False
        out = self._thread.state.evicted
        segments = [self._made(turn) for turn in turns if not holds(out, turn[0].position)]
        return segments, turns[-1][-1].position + 1 if turns else start, more

    def segment(self, span: Span) -> Segment | None:
        """The messages of the span as a segment, None if none is left of them."""
        left = self._told(*span)
        return self._made(left, span) if left else None

    def evicted(self, position: int) -> Span | None:
        """Where the turn of an evicted message begins and ends, as far as it was evicted; None if it was not."""
        span = span_of(self._thread.state.evicted, position)
        if span is None:
            return None
        first, last = max(span[0], position - _AROUND), min(span[1], position + _AROUND)
        turns = by_turns(self._told(first, last))
        found = next((turn for turn in turns if turn[0].position <= position <= turn[-1].position), None)
        return (found[0].position, found[-1].position) if found else None

    def reworded(self, start: int) -> AbstractSet[int]:
        """The messages that were edited, deleted or brought back since the event with this number."""
        key = (start, self._thread.state.rewordings)
        if self._reworded[0] != key:
            changes = [event.facts for event in self._thread.events(start) if event.kind in _REWORDING]
            touched = (facts["positions"] if "positions" in facts else [facts["position"]] for facts in changes)
            self._reworded = key, frozenset(chain.from_iterable(touched))
        return self._reworded[1]

    def text(self, origin: str) -> str:
        """What the segment of this name told when it was made of its messages, as they stand now."""
        return self._texts((origin, self._thread.state.rewordings, self._thread.state.format))

    def before(self, segment: Segment) -> str:
        """Who speaks where a piece of a turn begins, or which call gave it; empty for what is whole."""
        return opening(self.text(segment.origin), *segment.span) if segment.span else ""

    def condensed_of(self, segment: Segment) -> str:
        """What a form of the segment is made of: its original, and of a piece what it goes on with."""
        return self.before(segment) + original_of(segment, self.text(segment.origin))

    def newest(self) -> str:
        """What is being talked about now."""
        end = self._thread.state.messages
        return self._text(self._told(max(0, end - _CONTEXT), end - 1))

    def _told(self, first: int, last: int) -> list[Remembered]:
        """The messages as they stand, without what the system said, which is always in view."""
        found = self._thread.read(range(first, last + 1)).values()
        return [kept.remembered for kept in found if kept.message.role != "system"]

    def _text(self, messages: Sequence[Remembered]) -> str:
        found = list(self._thread.read([message.position for message in messages]).values())
        handed = found and found[0].message.results  # of calls that stand in the turn before
        calls = map(call_of, calls_of(self._thread, found[0].position)) if handed else ()
        return "\n".join([*calls, *(told(self._thread.state, kept) for kept in found)])

    def _made(self, turn: Sequence[Remembered], span: Span | None = None) -> Segment:
        first, last = span or (turn[0].position, turn[-1].position)
        text = self._text(turn)
        pinned = not set(self._thread.state.pins).isdisjoint(range(first, last + 1))
        tokens = self._thread.meter.text(text)
        return Segment(f"{first}-{last}", text, turn[0].said or 0.0, tokens, pinned=pinned)


def ends(origin: str) -> Span:
    """The first and the last position of the segment of this name."""
    first, _, last = origin.partition("-")
    return int(first), int(last)


def covered(segment: Segment) -> range:
    """The positions of its messages, and of what the system said between them."""
    first, last = ends(segment.origin)
    return range(first, last + 1)
