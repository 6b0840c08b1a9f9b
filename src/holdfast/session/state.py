"""The state of a thread, folded from its log line by line, and kept so that opening is quick.

A state is changed here alone: by messages, by events, and by what a fit made of them.
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
    """The positions of both, in order, as few spans as possible."""
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
        left = [part for span in left for part in _cut(span, first, last)]
    return left


def holds(spans: Sequence[Span], position: int) -> bool:
    """Whether the position is in one of the spans, which are in order."""
    return span_of(spans, position) is not None


def span_of(spans: Sequence[Span], position: int) -> Span | None:
    """The span that holds the position."""
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return spans[at] if at >= 0 and position <= spans[at][1] else None


def _cut(span: Span, first: int, last: int) -> list[Span]:
    parts = ((span[0], min(span[1], first - 1)), (max(span[0], last + 1), span[1]))
    return list(dict.fromkeys(part for part in parts if part[0] <= part[1]))


def as_range(positions: Sequence[int]) -> Sequence[int]:
    """The same positions, as a range where they are nearly one."""
    first, last = min(positions), max(positions)
    return range(first, last + 1) if last - first < 2 * len(positions) else positions


EventKind = Literal[
    "edit", "revert", "delete", "keep", "pin", "unpin", "note", "forget",
    "compaction", "shrink", "recall", "tiers", "forms", "fault",
]  # fmt: skip
"""What can happen to a thread beside a message.

``revert`` takes an edit back, ``keep`` a deletion and ``unpin`` a pin; a compaction that was undone
is followed by one that moves back; ``shrink`` makes the recent turns in view smaller where they
stand; ``tiers`` moves segments from one tier to another, ``forms`` tells what a model was asked for
them, and ``fault`` what went wrong.
"""

Oddity = Literal["refused", "unusual"]
"""A message that a wire refuses wherever it stands, or may refuse for what it stands beside."""

DERIVED = frozenset({"compaction", "shrink", "recall", "tiers", "forms", "fault"})
"""What a session does by itself, and would do again: no fit waits for the disk to tell of it."""

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

    ``facts`` are those of the kind: positions, tokens, the question, what was there before.
    """

    number: int
    kind: str
    time: float
    at: int
    reason: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """How the recent turns of a view were made, so that another process makes the same view."""

    key: list[int]
    start: int
    """From where on every message was looked at."""

    end: int
    """How long the thread was."""

    spoke: int | None
    is_talk: bool
    """Whether most of what was there was said, and not done or returned."""

    limit: int
    target: int
    told: str
    """What the past said beside them."""

    earlier: list[int] = field(default_factory=list[int])
    """The messages before ``start`` that were looked at again: the view before told something of
    them."""

    far: int = 0
    """What is before this position is looked for when the user asks."""


_LATER = frozenset({"fits", "spared"})
"""Fields that a state of an earlier version does not have."""


@dataclass(slots=True)
class State:
    """Where a thread stands.

    Small whatever its length: messages themselves are read when they are needed.
    """

    messages: int = 0
    """Lines of the log of messages that are folded in."""

    events: int = 0
    """Lines of the log of events that are folded in."""

    format: str = ""
    """The wire of the messages; empty while they may be anybody's."""

    counter: str = ""
    """What ``tokens`` was counted with."""

    tokens: int = 0
    """Of everything that was appended, as it was appended."""

    system: list[int] = field(default_factory=list[int])

    task: int | None = None
    """The first message of a user."""

    calls: bool = False
    """Whether tools were called: then the first message of a user is a task."""

    waiting: list[str] = field(default_factory=list[str])
    """The calls at the end of the thread that have no result yet."""

    unpaired: int = 0
    """How many messages parted a call from its result: a result without its call, words before the
    last result."""

    refused: int = 0
    """How many messages a wire refuses wherever they stand: empty ones, for instance."""

    unusual: int = 0
    """How many it may refuse for what they stand beside: then every view is looked at as a whole.
    """

    spoke: int | None = None
    """The newest message of a user."""

    speakers: list[str] = field(default_factory=list[str])
    """The names that messages give themselves, at most so many as a question could mean."""

    said: dict[str, int] = field(default_factory=dict[str, int])
    """How many texts there are of each role."""

    signed: dict[str, int] = field(default_factory=dict[str, int])
    """How many of them begin with what may be a name."""

    deleted: list[int] = field(default_factory=list[int])

    edits: dict[int, int] = field(default_factory=dict[int, int])
    """Position -> the event that holds what the message says now."""

    pins: list[int] = field(default_factory=list[int])

    notes: dict[int, str] = field(default_factory=dict[int, str])
    """What is to be kept in mind, by the number of the event that asked for it."""

    forgotten: list[tuple[int, list[str]]] = field(default_factory=list[tuple[int, list[str]]])
    """The facts that are not to be known any more: how long the thread was then, and the key of the
    fact."""

    evicted: list[Span] = field(default_factory=list[Span])
    """What fell out of the last tier: no fit looks there any more, until somebody finds or recalls
    it."""

    since: int = 0
    """From here on messages stand in the view as they are; what is older left it by compactions."""

    made: Made | None = None
    """None where they stand as they are, or their oldest became a page of notes since."""

    recalled: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What was recalled for the newest input, and stands in the view until the next one."""

    happened: dict[str, int] = field(default_factory=dict[str, int])
    """How many events of each kind there were."""

    fits: int = 0
    """How many views were made."""

    spared: int = 0
    """Tokens that were not sent, over all of them."""

    @property
    def rewordings(self) -> int:
        """How often what messages say, or whether they stand, was changed."""
        return sum(self.happened.get(kind, 0) for kind in _REWORDS)

    def to_json(self) -> str:
        """As it is kept."""
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"), default=asdict)

    @classmethod
    def from_json(cls, text: str | None) -> State:
        """The state that was kept.

        A new one where none was, one of another version, or none of ours.
        """
        try:
            data = json.loads(text or "{}")
            known = [f.name for f in fields(cls) if f.name not in _LATER or f.name in data]
            return convert({name: data[name] for name in known}, cls, str_keys=True)
        except (ValueError, KeyError, TypeError, RecursionError):
            return cls()

    def _pair(self, message: Message) -> None:
        """Follow calls and results, as the rule of whole exchanges sees them."""
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
        """The logs are folded in up to there; what was damaged in them was passed over."""
        self.messages = self.messages if messages is None else messages
        self.events = self.events if events is None else events

    def written_on(self, wire: str) -> None:
        """The messages tell that this is their wire."""
        self.format = wire

    def recall(self, recalled: Mapping[str, Any]) -> None:
        """What was recalled for the newest input stands in the views from now on."""
        self.recalled = {**recalled, "for": self.spoke}

    def viewed(self, tokens: int) -> None:
        """A view of so many tokens was made."""
        self.fits += 1
        self.spared += max(0, self.tokens - tokens)

    def fitted(self, made: Made) -> None:
        """The view was made so."""
        self.made = made

    def fold_event(self, event: Event) -> None:
        """Take one more event of the log into account."""
        self.take(event)
        self.events = event.number + 1

    def take(self, event: Event) -> None:
        """What the event changes, whether or not the log holds it."""
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
            self.recalled = {}  # what it says may not stand any more
        self.happened[kind] = self.happened.get(kind, 0) + 1

    def _revert(self, position: int, number: int | None) -> None:
        """The edit with this number holds again, or the message as it was appended."""
        self.edits.pop(position, None)
        if number is not None:
            self.edits[position] = number
