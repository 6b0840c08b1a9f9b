"""The state of a thread: computed from its logs line by line, and saved so that opening is fast.

Only this module changes a state: by messages, by events, and by decisions of a fit.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from holdfast.formats.payloads import compact
from holdfast.kernel.messages import Message
from holdfast.kernel.registry import imported
from holdfast.memory.messages import Remembered

Span = tuple[int, int]


def joined(spans: Iterable[Span], added: Iterable[Span]) -> list[Span]:
    """The positions of both, in order, in as few spans as possible."""
    found: list[Span] = []
    for first, last in sorted((first, last) for first, last in (*spans, *added)):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def without(spans: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """The positions of the first that are not in the second."""
    left = list(spans)
    for first, last in taken:
        left = [
            part
            for start, end in left
            for part in ((start, min(end, first - 1)), (max(start, last + 1), end))
            if part[0] <= part[1]
        ]
    return left


def holds(spans: Sequence[Span], position: int) -> bool:
    """Whether the position is in one of the spans, which are in order."""
    return span_of(spans, position) is not None


def span_of(spans: Sequence[Span], position: int) -> Span | None:
    """The span with the position, or None."""
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return spans[at] if at >= 0 and position <= spans[at][1] else None


EventKind = Literal[
    "edit", "revert", "delete", "keep", "pin", "unpin", "note", "forget",
    "compaction", "shrink", "recall", "tiers", "forms", "fault",
]  # fmt: skip
"""The kinds of events besides messages.

``revert`` undoes an edit, ``keep`` a deletion and ``unpin`` a pin; a compaction is undone by one in
the other direction. ``shrink`` was written by earlier versions. ``tiers`` moves segments from one
tier to another, ``forms`` is a request for a model's forms, and ``fault`` a failure.
"""

DERIVED = frozenset({"compaction", "shrink", "recall", "tiers", "forms", "fault"})
"""Events of the session itself, which it would repeat; they need not wait for the disk."""

_SPEAKERS = 64  # names of speakers, the first ones, which take 1 kB of the state
_FOUND = 1_000  # messages found since the tiers were last maintained, which take 12 kB of the state
REWORDING = frozenset({"edit", "revert", "delete", "keep"})
"""Events that change messages, or which ones there are."""

_REWORDS = REWORDING | {"note", "forget"}


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a thread's log of events: what happened after ``at`` messages, and why.

    ``time`` is in seconds since 1970 UTC. ``facts`` depend on the kind: positions, tokens, the
    question, earlier values.
    """

    number: int
    kind: str
    time: float
    at: int
    reason: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """How the recent part of a view was made, so that another process makes the same view."""

    key: list[int]
    start: int
    """The position of the first message in the scope."""

    end: int
    """The number of messages of the thread."""

    spoke: int | None
    is_talk: bool
    """Whether the messages were mostly words, not calls and results."""

    limit: int
    target: int = 0
    told: str = ""
    """The view's text about the past."""

    earlier: list[int] = field(default_factory=list[int])
    """The messages before ``start`` in the scope, since the last view had or noted them."""

    far: int = 0
    """Messages before this position are searched only for the user's questions."""


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, for JSON; not copied, as ``asdict`` does."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


# a message with a list of parts is read in this format, unless a vendor's mark is in it
_SHARED = "openai_chat"

_LATER = frozenset({"found", "fits", "spared", "net", "slowest"})
"""Fields that states saved by earlier versions lack."""


@dataclass(slots=True)
class State:
    """What is known of a thread without reading it; small, however long the thread is."""

    messages: int = 0
    """The number of lines of the log of messages that were read."""

    events: int = 0
    """The number of lines of the log of events that were read."""

    format: str = ""
    """The format of the messages; empty if it is not determined yet."""

    counter: str = ""
    """The counter of ``tokens``."""

    tokens: int = 0
    """Tokens of everything that was appended, unedited."""

    system: list[int] = field(default_factory=list[int])
    """The positions of system messages."""

    task: int | None = None
    """The position of the first user message."""

    calls: bool = False
    """Whether tools were called."""

    waiting: list[str] = field(default_factory=list[str])
    """The calls at the end of the thread without a result."""

    unpaired: int = 0
    """The number of messages that separate a call from its result: results without a call, and
    messages between a call and its last result.
    """

    spoke: int | None = None
    """The position of the newest user message."""

    speakers: list[str] = field(default_factory=list[str])
    """The names at the heads of messages, at most 64."""

    said: dict[str, int] = field(default_factory=dict[str, int])
    """The number of messages of each role with text."""

    signed: dict[str, int] = field(default_factory=dict[str, int])
    """The number of them that begin with a possible name."""

    deleted: list[int] = field(default_factory=list[int])

    edits: dict[int, int] = field(default_factory=dict[int, int])
    """The number of the event with a message's present content, by position."""

    pins: list[int] = field(default_factory=list[int])

    notes: dict[int, str] = field(default_factory=dict[int, str])
    """The notes of ``remember``, by the number of their event."""

    forgotten: list[tuple[int, list[str]]] = field(default_factory=list[tuple[int, list[str]]])
    """The deleted facts: the number of messages at that time, and the key of the fact."""

    evicted: list[Span] = field(default_factory=list[Span])
    """The positions evicted from the last tier, which views ignore until they are found or
    recalled.
    """

    since: int = 0
    """The position from which every message is in the view; older ones were compacted."""

    made: Made | None = None
    """How the recent part of the view was made; None before the first compaction."""

    recalled: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What was recalled for the newest input, and stays in the view until the next one."""

    happened: dict[str, int] = field(default_factory=dict[str, int])
    """The number of events of each kind."""

    found: dict[int, int] = field(default_factory=dict[int, int])
    """How often messages were found since the tiers were last maintained, by position; of at most
    1,000 messages.
    """

    fits: int = 0
    """The number of views."""

    spared: int = 0
    """Tokens that were not sent, over all views: the thread's size minus the view's."""

    net: float = 0.0
    """US dollars that new views saved, if costs decide."""

    slowest: float = 0.0
    """Seconds of the slowest view."""

    @property
    def is_settled(self) -> bool:
        """Whether the format is final: no message can change it."""
        return bool(self.format) and (self.format != _SHARED or self.exchanged)

    @property
    def exchanged(self) -> bool:
        """Whether there is a call or a result, which only its own format can read."""
        return self.calls or self.unpaired > 0

    def signs(self, role: str) -> bool:
        """Whether the texts of a role mostly begin with a name."""
        return 2 * self.signed.get(role, 0) > self.said.get(role, 0)

    @property
    def rewordings(self) -> int:
        """The number of events that changed what views say: messages and notes."""
        return sum(self.happened.get(kind, 0) for kind in _REWORDS)

    @property
    def changes(self) -> int:
        """The number of events that changed messages: edits, deletions and what undid them."""
        return sum(self.happened.get(kind, 0) for kind in REWORDING)

    def to_json(self) -> str:
        """The JSON that is saved."""
        return compact(self, otherwise=fields_of)

    @classmethod
    def from_json(cls, text: str | None) -> State:
        """The saved state; a new one if there is none that this version understands."""
        if not text:
            return cls()
        convert = imported("msgspec:convert")  # loading it takes 20 ms, and new threads need none
        try:
            data = json.loads(text)
            needed = {each.name for each in fields(cls)} - _LATER
            state: State = convert(data, cls, str_keys=True)
        except (ValueError, TypeError, RecursionError):
            return cls()
        return state if needed <= data.keys() else cls()

    def _pair(self, message: Message, *, alone: bool) -> None:
        """Follow calls and results, as the rule on tool exchanges does.

        ``alone``: each call is a message, and those of one turn follow each other.
        """
        if message.is_speech and not self.waiting:
            return
        results = [result.call_id for result in message.results]
        if results:
            self.unpaired += not set(results) <= set(self.waiting)
            self.waiting = [call for call in self.waiting if call not in results]
        else:
            before = self.waiting if alone and message.role == "assistant" else []
            self.unpaired += before != self.waiting
            if message.role != "system":
                self.waiting = [*before, *(call.id for call in message.calls)]

    def fold_message(
        self, position: int, message: Message, seen: Remembered, tokens: int, *, alone: bool
    ) -> None:
        """Add the next message of the log; ``alone``: each call is in one of its own."""
        self.tokens += tokens
        if message.role == "system":
            self.system.append(position)
        if message.user_speaks:
            self.spoke = position
            self.task = position if self.task is None else self.task
        self.calls = self.calls or bool(message.calls)
        if seen.text:
            self.said[seen.role] = self.said.get(seen.role, 0) + 1
        if seen.speaker:
            self.signed[seen.role] = self.signed.get(seen.role, 0) + 1
            if seen.speaker not in self.speakers and len(self.speakers) < _SPEAKERS:
                self.speakers.append(seen.speaker)
        self._pair(message, alone=alone)
        self.messages = position + 1

    def read_messages(self, end: int) -> None:
        """Record that the log of messages was read up to there, damaged lines included."""
        self.messages = end

    def read_events(self, end: int) -> None:
        """The same for the log of events."""
        self.events = end

    def set_format(self, wire: str) -> None:
        """Record that the messages determine the format."""
        self.format = wire

    def record_part(self, made: Made) -> None:
        """Record how the recent part of the view was made."""
        self.made = made

    def recall(self, recalled: Mapping[str, Any]) -> None:
        """Record what was recalled for the newest input, which stays in later views."""
        self.recalled = {**recalled, "for": self.spoke}

    def record_found(self, positions: Iterable[int]) -> None:
        """Record that these messages were found."""
        for position in positions:
            self.found[position] = self.found.pop(position, 0) + 1  # the newest is the last
        for forgotten in list(self.found)[: max(0, len(self.found) - _FOUND)]:
            del self.found[forgotten]

    def take_found(self) -> dict[int, int]:
        """How often messages were found since this was last asked, by position."""
        found, self.found = self.found, {}
        return found

    def record_view(self, tokens: int, net: float, seconds: float) -> None:
        """Record a view with this many tokens."""
        self.fits += 1
        self.net += net
        self.slowest = max(self.slowest, seconds)
        self.spared += max(0, self.tokens - tokens)

    def fold_event(self, event: Event) -> None:
        """Add the next event of the log."""
        self.take(event)
        self.events = event.number + 1

    def take(self, event: Event) -> None:
        """Apply an event, whether or not the log has it."""
        kind, facts = event.kind, event.facts
        if kind == "edit":
            self.edits[facts["position"]] = event.number
        elif kind == "revert":
            self._revert(facts["position"], facts["to"])
        elif kind in ("delete", "keep", "pin", "unpin"):
            self._mark(kind, {*facts["positions"]})
        elif kind == "note":
            self.notes[event.number] = facts["text"]
        elif kind == "forget" and "fact" in facts:
            self.forgotten.append((event.at, facts["fact"]))
        elif kind == "forget":
            self.notes.pop(facts["note"], None)
        elif kind == "tiers":
            self.evicted = joined(
                without(self.evicted, facts.get("readmitted", ())), facts.get("evicted", ())
            )
        elif kind == "compaction":
            self.since = facts["to"]
        if kind in _REWORDS:
            self.recalled = {}  # its text may be out of date
        self.happened[kind] = self.happened.get(kind, 0) + 1

    def _mark(self, kind: str, positions: set[int]) -> None:
        """Delete or pin messages, or undo that."""
        held = self.deleted if kind in ("delete", "keep") else self.pins
        others = {*held} - positions
        held[:] = sorted(others if kind in ("keep", "unpin") else others | positions)

    def _revert(self, position: int, number: int | None) -> None:
        """Restore the edit with this number; None restores the message as it was appended."""
        self.edits.pop(position, None)
        if number is not None:
            self.edits[position] = number
