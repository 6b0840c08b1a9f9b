"""The turns of a thread as segments: words, calls and results, and their short forms."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import NamedTuple

from holdfast.compressors.note_text import (
    NoteEntry,
    Shortlist,
    in_context,
    lines_of,
    outcomes_below_acts,
    pieces_of,
    write_notes,
)
from holdfast.content import heading, recognise
from holdfast.excerpts import ordered_by_shape
from holdfast.formats.rules.exchanges import paired
from holdfast.kernel.messages import Role, Text, ToolCall, ToolResult
from holdfast.memory.entities import codes, named_in
from holdfast.memory.excerpts import speaker_of
from holdfast.memory.forms import (
    CLOSELY,
    FACTORS,
    SHOWN,
    RuleCondenser,
    Short,
    concluding,
    short_form,
)
from holdfast.memory.messages import Remembered
from holdfast.memory.tiers import CUTS, Segment, Segmentation, original_of
from holdfast.selection import table, with_context
from holdfast.stream import StreamEvent
from holdfast.text.acts import called
from holdfast.text.fit import Count
from holdfast.text.memo import Memo
from holdfast.text.words import READ

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


_ROLES: dict[str, Role] = {"User": "user", "Assistant": "assistant", "System": "system"}
_CALL, _RESULT = "Call", "Result"
_BLOCK = re.compile(rf"^({'|'.join((*_ROLES, _CALL, _RESULT))}): ", re.MULTILINE)
_SHORT = 55  # characters of a call's arguments: with its name and outcome, a line
_CALLED = re.compile(r"(?P<name>[^(\n]{1,200})\((?P<arguments>.*?)\)?", re.DOTALL)
"""A call; a shortened one has no closing bracket."""


def with_authors(state: State, kept: Kept) -> str:
    """The text of a message, each part after the name of its author."""
    seen, message = as_remembered(kept, state), kept.message
    lines: list[str] = []
    # the results, one by one, and the user's text beside them
    for part in message.parts if message.results else ():
        if isinstance(part, ToolResult):
            lines.append(f"{_RESULT}: {part.text}")
        elif isinstance(part, Text) and part.text.strip():
            by = _RESULT if message.role == "tool" else message.role.capitalize()
            lines.append(f"{by}: {part.text}")
    if not message.results and seen.body.strip():
        lines.append(f"{seen.speaker or seen.role.capitalize()}: {seen.body}")
    lines += [f"{_CALL}: {call.name}({call.arguments})" for call in message.calls]
    return "\n".join(lines)


class _Block(NamedTuple):
    """A part of a text, from the name at its start on; ``body`` is what the name says."""

    start: int
    name: str
    body: str
    waiting: tuple[_Block, ...]
    """The calls without a result before it; a result belongs to the first."""


@Memo
def _parted(text: str) -> tuple[_Block, ...]:
    """The parts of the text; kept, since it is read again for each piece of a long turn."""
    heads = list(_BLOCK.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    found: list[_Block] = []
    waiting: deque[_Block] = deque()
    for head, end in zip(heads, ends, strict=False):  # there may be no heads
        name = head[1]
        if name in _ROLES or (name == _CALL and found and found[-1].name == _RESULT):
            waiting.clear()
        body = text[head.end() : end].removesuffix("\n")
        found.append(_Block(head.start(), name, body, tuple(waiting)))
        if name == _CALL:
            waiting.append(found[-1])
        elif name == _RESULT and waiting:
            waiting.popleft()
    return tuple(found)


def opening(text: str, start: int, end: int) -> str:
    """The context of the piece from start to end: its calls, shortened, and its speaker.

    The calls are those whose results are in the piece. If it begins within a table, the header
    of the table follows.
    """
    blocks = _parted(text)
    at = bisect_right(blocks, start, key=lambda block: block.start) - 1
    if at < 0:
        return ""
    block = blocks[at]
    after = bisect_left(blocks, end, key=lambda block: block.start)
    given = sum(each.name == _RESULT for each in blocks[at:after])
    calls = "".join(f"{_CALL}: {_brief_text(call.body)}\n" for call in block.waiting[:given])
    if block.start == start:
        return calls
    if block.name == _CALL:
        return f"{calls}{_CALL}: {block.body.partition('(')[0]}("
    header = heading(block.body[:READ]) if text[start - 1] == "\n" else ""
    return f"{calls}{block.name}: {header}\n" if header else f"{calls}{block.name}: "


def _brief_text(call: str) -> str:
    """A call that is written as text, shortened."""
    found = _CALLED.fullmatch(call)
    return _brief(found["name"], found["arguments"]) if found else call.partition("\n")[0]


def _brief(name: str, arguments: str) -> str:
    """The call with its arguments shortened for the head of notes."""
    told = called(name, arguments)[len(name) + 1 : -1]
    return f"{name}({told if len(told) <= _SHORT else f'{told[:_SHORT]}…'})"


def events_in(text: str) -> list[StreamEvent] | None:
    """The events in the text of a segment or a piece; None if it has no call or result.

    Text before the first named part is the end of a message: of a result, or of words.
    """
    blocks = _parted(text)
    if not any(block.name in (_CALL, _RESULT) for block in blocks):
        return None
    found: list[StreamEvent] = []
    if first := text[: blocks[0].start]:
        is_said = recognise(first).name == "prose"
        by = "assistant" if is_said else "tool"
        found.append(
            StreamEvent("words" if is_said else "outcome", by, first.removesuffix("\n"), 0, 0)
        )
    acts: dict[int, int] = {}
    for block in blocks:
        at, body = len(found), block.body
        call = _CALLED.fullmatch(body) if block.name == _CALL else None
        if call is not None:
            acts[block.start] = at
            found.append(StreamEvent("act", call["name"], call["arguments"], at, 0))
        elif block.name in _ROLES:
            found.append(StreamEvent("words", _ROLES[block.name], body, at, 0))
        else:
            act = acts.get(block.waiting[0].start, -1) if block.waiting else -1
            found.append(StreamEvent("outcome", "tool", body, at, 0, act))
    return found


@dataclass(frozen=True, slots=True)
class TurnCondenser(RuleCondenser):
    """Makes notes of turns with tool calls, as a digest does; else the usual form.

    So a call's result is shortened by its kind of content, next to the call. Missing decisions and
    names are listed at the end if there is room, first the names that were said.
    """

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level; the text itself if the form would not be smaller."""
        return _notes(text, level, count) or RuleCondenser.condense(self, text, level, count)


def _notes(text: str, level: int, count: Count) -> str:
    """The notes; empty for a text without calls, and if nothing fits."""
    events = events_in(text)
    if events is None:
        return ""
    close = Shortlist(CLOSELY * len(text) / FACTORS[level][1])
    split = [
        pieces_of(event, close) if event.function == "outcome" else pieces_of(event)
        for event in events
    ]
    places = [(n, at) for n, each in enumerate(split) for at in each.numbers]
    pieces, parents = in_context(events, split, range(len(events)))
    texts = [piece.text for piece in pieces]
    things = list(chain.from_iterable(each.things for each in split))
    # what a kind names is worth a pattern: with half, .49 of the templates of real logs are kept in
    # cold forms instead of .64, and with double .64, but fewer of their failures
    said, label = table().said, table().pattern
    bonus = [
        said.get(f"{events[n].by} {events[n].function}", 0.0) + label * len(piece.labels)
        for (n, _), piece in zip(places, pieces, strict=True)
    ]
    words = "\n".join(event.text for event in events if event.function == "words")
    spoken = [n for n, (event, _) in enumerate(places) if events[event].function == "words"]
    decided = {spoken[at] for at in concluding([texts[n] for n in spoken])}
    ranked = ordered_by_shape(texts, things, decided, bonus)
    order = list(dict.fromkeys(chain.from_iterable(with_context(parents, n) for n in ranked)))
    first = named_in(words)
    named = codes(chain.from_iterable(each.counts for each in split)) | first

    def notes(kept: Iterable[int]) -> str:
        chosen: dict[int, list[int]] = {}
        for event, at in map(places.__getitem__, kept):
            chosen.setdefault(event, []).append(at)
        entries = [
            NoteEntry(events[n], lines_of(split[n].reading.pieces, chosen[n]))
            for n in outcomes_below_acts(chosen, events)
        ]
        return write_notes(entries, "")

    short = Short(texts, order, decided, notes, named, first, SHOWN)
    return short_form(short, text, level, count)


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
        heads = (f"{_CALL}: {_brief(call.name, call.arguments)}" for call in calls)
        return "\n".join([*heads, *(with_authors(self._state, kept) for kept in found)])


def ends(origin: str) -> Span:
    """The first and the last position of the segment with this name."""
    first, _, last = origin.partition("-")
    return int(first), int(last)


def covered(segment: Segment) -> range:
    """The positions of its messages, and of the system messages between them."""
    first, last = ends(segment.origin)
    return range(first, last + 1)
