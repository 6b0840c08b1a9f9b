"""The state of a thread: made from its logs line by line, and saved so that opening is quick.

Only this module changes a state: by messages, by events, and by what a fit decided.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from msgspec import convert

from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import speaks
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
        parts = [
            part
            for start, end in left
            for part in ((start, min(end, first - 1)), (max(start, last + 1), end))
        ]
        left = list(dict.fromkeys((start, end) for start, end in parts if start <= end))
    return left


def holds(spans: Sequence[Span], position: int) -> bool:
    """Whether the position is in one of the spans, which are in order."""
    return span_of(spans, position) is not None


def span_of(spans: Sequence[Span], position: int) -> Span | None:
    """The span that holds the position."""
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return spans[at] if at >= 0 and position <= spans[at][1] else None


def as_range(positions: Sequence[int]) -> Sequence[int]:
    """The same positions, as a range if they nearly are one: a range is read in one go."""
    first, last = min(positions), max(positions)
    return range(first, last + 1) if last - first < 2 * len(positions) else positions


EventKind = Literal[
    "edit", "revert", "delete", "keep", "pin", "unpin", "note", "forget",
    "compaction", "shrink", "recall", "tiers", "forms", "fault",
]  # fmt: skip
"""What can happen to a thread beside a message.

``revert`` undoes an edit, ``keep`` a deletion and ``unpin`` a pin; a compaction is undone by one in
the other direction. ``shrink`` was written by earlier versions. ``tiers`` moves segments from one
tier to another, ``forms`` tells what a model was asked for them, and ``fault`` what went wrong.
"""

Oddity = Literal["refused", "unusual"]
"""A message that a wire refuses in any place, or that it may refuse beside certain others."""

DERIVED = frozenset({"compaction", "shrink", "recall", "tiers", "forms", "fault"})
"""What a session does by itself, and would do again: these events need not wait for the disk."""

_LISTS = {
    "delete": ("deleted", True),
    "keep": ("deleted", False),
    "pin": ("pins", True),
    "unpin": ("pins", False),
}
_SPEAKERS = 64
_REWORDS = frozenset({"edit", "revert", "delete", "keep", "note", "forget"})


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a thread's log of events: what happened after ``at`` messages, and why.

    ``time`` is in seconds since 1970 UTC. ``facts`` depend on the kind: positions, tokens, the
    question, what was there before.
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
    """The position from which on every message was looked at."""

    end: int
    """How many messages the thread had."""

    spoke: int | None
    is_talk: bool
    """Whether most of the text was said, and not calls or what they returned."""

    limit: int
    target: int
    told: str
    """What the view told of the past beside it."""

    earlier: list[int] = field(default_factory=list[int])
    """The messages before ``start`` that were looked at, because the view before told of them."""

    far: int = 0
    """What is before this position is looked at only when the user asks."""


_LATER = frozenset({"fits", "spared", "net", "slowest"})
"""Fields that a state saved by an earlier version does not have."""


@dataclass(slots=True)
class State:
    """What is known of a thread without reading it; small, however long the thread is."""

    messages: int = 0
    """Lines of the log of messages that are taken into account."""

    events: int = 0
    """Lines of the log of events that are taken into account."""

    format: str = ""
    """The wire of the messages; empty while they may be of any."""

    counter: str = ""
    """The counter that counted ``tokens``."""

    tokens: int = 0
    """Tokens of everything that was appended, as it was appended."""

    system: list[int] = field(default_factory=list[int])
    """The positions of the system's messages."""

    task: int | None = None
    """The position of the first message of a user."""

    calls: bool = False
    """Whether tools were called."""

    waiting: list[str] = field(default_factory=list[str])
    """The calls at the end of the thread that have no result yet."""

    unpaired: int = 0
    """How many messages separate a call from its result: results without a call, and messages
    between a call and its last result."""

    refused: int = 0
    """How many messages a wire refuses in any place: empty ones, for instance."""

    unusual: int = 0
    """How many messages it may refuse beside certain others; then each view is checked whole."""

    spoke: int | None = None
    """The position of the newest message of a user."""

    speakers: list[str] = field(default_factory=list[str])
    """The names at the heads of messages, at most 64."""

    said: dict[str, int] = field(default_factory=dict[str, int])
    """How many messages of each role have text."""

    signed: dict[str, int] = field(default_factory=dict[str, int])
    """How many of them begin with what may be a name."""

    deleted: list[int] = field(default_factory=list[int])

    edits: dict[int, int] = field(default_factory=dict[int, int])
    """Position -> the number of the event that holds what the message says now."""

    pins: list[int] = field(default_factory=list[int])

    notes: dict[int, str] = field(default_factory=dict[int, str])
    """The texts to be kept in mind, by the number of the event that asked for it."""

    forgotten: list[tuple[int, list[str]]] = field(default_factory=list[tuple[int, list[str]]])
    """The facts to be forgotten: how many messages the thread had then, and the key of the fact."""

    evicted: list[Span] = field(default_factory=list[Span])
    """What was evicted from the last tier; views ignore it until somebody finds or recalls it."""

    since: int = 0
    """The position from which on every message is in the view; older ones were compacted."""

    made: Made | None = None
    """How the recent part of the view was made; None before the first compaction."""

    recalled: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What was recalled for the newest input, and is in the view until the next one."""

    happened: dict[str, int] = field(default_factory=dict[str, int])
    """How many events of each kind there were."""

    fits: int = 0
    """How many views were made."""

    spared: int = 0
    """Tokens that were not sent, over all views: each time the thread without the view."""

    net: float = 0.0
    """US dollars that those which were made anew are worth, where costs decide."""

    slowest: float = 0.0
    """Seconds that the slowest of them took."""

    @property
    def rewordings(self) -> int:
        """How many events changed what messages say, or which ones there are."""
        return sum(self.happened.get(kind, 0) for kind in _REWORDS)

    def to_json(self) -> str:
        """As it is saved."""
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"), default=asdict)

    @classmethod
    def from_json(cls, text: str | None) -> State:
        """The state that was saved; a new one if there is none that this version understands."""
        try:
            data = json.loads(text or "{}")
            known = [f.name for f in fields(cls) if f.name not in _LATER or f.name in data]
            return convert({name: data[name] for name in known}, cls, str_keys=True)
        except (ValueError, KeyError, TypeError, RecursionError):
            return cls()

    def _pair(self, message: Message) -> None:
        """Follow calls and results, as the rule does that an exchange stays whole."""
        if message.is_speech and not self.waiting:
            return
        results = [result.call_id for result in message.results]
        if results:
            self.unpaired += not set(results) <= set(self.waiting)
            self.waiting = [call for call in self.waiting if call not in results]
        else:
            self.unpaired += bool(self.waiting)
            if message.role != "system":
                self.waiting = [call.id for call in message.calls]

    def fold_message(
        self, position: int, message: Message, seen: Remembered, tokens: int, odd: Oddity | None
    ) -> None:
        """Take one more message of the log into account."""
        self.tokens += tokens
        self.refused += odd == "refused"
        self.unusual += odd == "unusual"
        if message.role == "system":
            self.system.append(position)
        if speaks(message):
            self.spoke = position
            self.task = position if self.task is None else self.task
        self.calls = self.calls or bool(message.calls)
        self._hear(seen)
        self._pair(message)
        self.messages = position + 1

    def _hear(self, seen: Remembered) -> None:
        if seen.text:
            self.said[seen.role] = self.said.get(seen.role, 0) + 1
        if seen.speaker:
            self.signed[seen.role] = self.signed.get(seen.role, 0) + 1
            if seen.speaker not in self.speakers and len(self.speakers) < _SPEAKERS:
                self.speakers.append(seen.speaker)

    def read(self, *, messages: int | None = None, events: int | None = None) -> None:
        """The logs are taken into account up to there; damaged lines were passed over."""
        self.messages = self.messages if messages is None else messages
        self.events = self.events if events is None else events

    def written_on(self, wire: str) -> None:
        """The messages show that this is their wire."""
        self.format = wire

    def recall(self, recalled: Mapping[str, Any]) -> None:
        """What was recalled for the newest input is in the views from now on."""
        self.recalled = {**recalled, "for": self.spoke}

    def viewed(self, tokens: int, net: float, seconds: float) -> None:
        """A view of so many tokens was made."""
        self.fits += 1
        self.net += net
        self.slowest = max(self.slowest, seconds)
        self.spared += max(0, self.tokens - tokens)

    def fitted(self, made: Made) -> None:
        """The recent part of the view was made so."""
        self.made = made

    def fold_event(self, event: Event) -> None:
        """Take one more event of the log into account."""
        self.take(event)
        self.events = event.number + 1

    def take(self, event: Event) -> None:
        """Make the change of an event, whether or not the log holds it."""
        kind, facts = event.kind, event.facts
        if kind == "edit":
            self.edits[facts["position"]] = event.number
        elif kind == "revert":
            self._revert(facts["position"], facts["to"])
        elif kind in _LISTS:
            name, joins = _LISTS[kind]
            held, meant = set[int](getattr(self, name)), set[int](facts["positions"])
            setattr(self, name, sorted(held | meant if joins else held - meant))
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

    def _revert(self, position: int, number: int | None) -> None:
        """The edit with this number holds again; None: the message as it was appended."""
        self.edits.pop(position, None)
        if number is not None:
            self.edits[position] = number
