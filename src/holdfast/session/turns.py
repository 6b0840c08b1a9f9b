"""The turns of a thread as segments: words, calls and results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from holdfast.formats.rules.exchanges import paired
from holdfast.kernel.messages import Text, ToolCall, ToolResult
from holdfast.kernel.registry import moved_names
from holdfast.memory.excerpts import speaker_of
from holdfast.memory.forms import CALL, RESULT, opening
from holdfast.memory.messages import Remembered
from holdfast.memory.tiers import CUTS, Segment, Segmentation, original_of
from holdfast.text.acts import called
from holdfast.text.memo import Memo

from .log import LINES, NEWEST, Kept, Thread
from .state import REWORDING, Span, State, holds, span_of


def as_remembered(kept: Kept, state: State) -> Remembered:
    """The message for memory; a name at its head is the speaker only if names are usual.

    In messages without names, "Noted: ..." is a note and not a speaker.
    """
    seen = kept.remembered
    if not seen.speaker or state.signs(seen.role) or kept.message.name:
        return seen
    return replace(seen, speaker="", header=seen.text.rindex(seen.speaker, 0, seen.header))


def author(thread: Thread, message: Remembered, mask: Callable[[str], str]) -> str:
    """The author of a message; for results, the shortened calls if these are near."""
    who, at = speaker_of(message), message.position
    if (
        message.role == "assistant"
        or not thread.state.exchanged
        or not thread.read([at])[at].message.results
    ):
        return who
    told = ", ".join(called(call.name, mask(call.arguments)) for call in calls_of(thread, at))
    tools = f"Tool {told}".rstrip()
    return tools if message.role == "tool" else f"{tools} and {who}"


def calls_of(thread: Thread, at: int) -> list[ToolCall]:
    """The nearby calls that returned the results of the message at this position."""
    near = deque([thread.read([at])[at].message])
    wanted = {result.call_id for result in near[0].results}
    for place in range(at - 1, at - LINES - 1, -1):
        if not wanted:
            break
        for kept in thread.read([place]).values():
            near.appendleft(kept.message)
            wanted.difference_update(call.id for call in kept.message.calls)
    calls = [
        near[i].parts[k]
        for result, (i, k) in sorted(paired(near).items())
        if result[0] == len(near) - 1
    ]
    return [call for call in calls if isinstance(call, ToolCall)]


def with_authors(state: State, kept: Kept) -> str:
    """The text of a message, each part after the name of its author."""
    seen, message = as_remembered(kept, state), kept.message
    told: list[str] = []
    # the results, one by one, and the user's text beside them
    for part in message.parts if message.results else ():
        if isinstance(part, ToolResult):
            told.append(f"{RESULT}: {part.text}")
        elif isinstance(part, Text) and part.text.strip():
            by = RESULT if message.role == "tool" else message.role.capitalize()
            told.append(f"{by}: {part.text}")
    if not message.results and seen.body.strip():
        told.append(f"{seen.speaker or seen.role.capitalize()}: {seen.body}")
    told += [f"{CALL}: {call.name}({call.arguments})" for call in message.calls]
    return "\n".join(told)


class Turns:
    """Reads the turns of one thread, or its other segments."""

    def __init__(self, thread: Thread, segmentation: Segmentation) -> None:
        self._thread, self._state, self._cut = thread, thread.state, CUTS[segmentation]
        self._texts: Memo[tuple[str, int, str], str] = Memo(
            lambda key: self._text(self._spoken(ends(key[0])))
        )
        """By the segment's name: the text of a whole turn is needed for each of its pieces."""

    def start(self, first: int, most: int) -> int:
        """The position from which the newest messages have ``most`` tokens, at least ``first``."""
        start = self._state.messages
        for kept in self._thread.backwards():
            if kept.position < first or most < 0:
                break
            most -= self._thread.meter.message(kept.message)
            start = kept.position
        return start

    def finished(
        self, start: int, most: float, longest: float = inf
    ) -> tuple[list[Segment], int, bool]:
        """The turns from ``start`` on, the position after them, and whether there are more.

        Evicted turns are left out, and so is the newest turn, which is unfinished. No turn is added
        after ``most`` tokens, and none from a message of more than ``longest`` tokens on.
        """
        said: list[Kept] = []
        tokens = newest = 0
        more = opens = False
        for kept in self._thread.forwards(start):
            if kept.message.role == "system":
                continue
            size, opens = self._thread.meter.message(kept.message), kept.remembered.role == "user"
            if size > longest or (tokens > most and opens):
                more = True
                break
            newest = len(said) if opens else newest
            said.append(kept)
            tokens += size
        turns = self._spans(said if more and opens else said[:newest])
        out = self._state.evicted
        made = [self.segment(turn) for turn in turns if not holds(out, turn[0])]
        return list(filter(None, made)), turns[-1][1] + 1 if turns else start, more

    def segment(self, span: Span) -> Segment | None:
        """The messages of the span as a segment; None if all of them were deleted."""
        left, (first, last) = self._spoken(span), span
        if not left:
            return None
        text = self._text(left)
        pinned = not set(self._state.pins).isdisjoint(range(first, last + 1))
        tokens = self._thread.meter.text(text)
        said = left[0].remembered.said or 0.0
        return Segment(f"{first}-{last}", text, said, tokens, pinned=pinned)

    def evicted(self, position: int) -> Span | None:
        """The first and the last position of an evicted message's turn; None for other messages."""
        span = span_of(self._state.evicted, position)
        if span is None:
            return None
        near = max(span[0], position - LINES), min(span[1], position + LINES)
        return span_of(self._spans(self._spoken(near)), position)

    def reworded(self, start: int) -> set[int]:
        """The messages edited, deleted or restored since the event with this number."""
        touched = set[int]()
        for event in self._thread.events(start):
            if event.kind in REWORDING:
                touched.update(event.facts.get("positions") or [event.facts["position"]])
        return touched

    def text(self, origin: str) -> str:
        """The text of the segment with this name, from its messages with edits applied."""
        return self._texts((origin, self._state.rewordings, self._state.format))

    def before(self, segment: Segment) -> str:
        """The context before a piece of a turn; empty for a whole turn."""
        return opening(self.text(segment.origin), *segment.span) if segment.span else ""

    def condensed_of(self, segment: Segment) -> str:
        """The text from which a form is made: the original, after the context of a piece."""
        return self.before(segment) + original_of(segment, self.text(segment.origin))

    def newest(self) -> str:
        """The newest messages: the current topic."""
        end = self._state.messages
        return self._text(self._spoken((end - NEWEST, end - 1)))

    def _spoken(self, span: Span) -> list[Kept]:
        """The messages with edits applied, without system messages, which are in every view."""
        found = self._thread.read(range(span[0], span[1] + 1)).values()
        return [kept for kept in found if kept.message.role != "system"]

    def _spans(self, found: Sequence[Kept]) -> list[Span]:
        """The first and the last position of each turn of these messages."""
        turns = self._cut([kept.remembered for kept in found])
        return [(turn[0].position, turn[-1].position) for turn in turns]

    def _text(self, found: Sequence[Kept]) -> str:
        handed = found and found[0].message.results  # of calls in the turn before
        calls = calls_of(self._thread, found[0].position) if handed else []
        heads = (f"{CALL}: {called(call.name, call.arguments)}" for call in calls)
        return "\n".join([*heads, *(with_authors(self._state, kept) for kept in found)])


def ends(origin: str) -> Span:
    """The first and the last position of the segment with this name."""
    first, _, last = origin.partition("-")
    return int(first), int(last)


def covered(segment: Segment) -> range:
    """The positions of its messages, and of the system messages between them."""
    first, last = ends(segment.origin)
    return range(first, last + 1)


__getattr__ = moved_names(__name__, {"TurnCondenser": "holdfast.memory.forms:RuleCondenser"})
