"""Finding earlier summaries of a conversation in the store, and storing new ones.

The summaries of a thread are found by the thread's keys. Without a thread they are found by the
first messages of the conversation, or by the mark of a summary in it. A summary is used only if the
hash of the messages that it covers equals that of the present messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from time import time
from typing import NamedTuple

from holdfast.compressors.cuts import start_of_newest
from holdfast.compressors.summaries import (
    WorkingStore,
    body_of,
    concealed,
    earlier_key,
    ranges_key,
    summary_key,
)
from holdfast.compressors.summary_text import parsed
from holdfast.kernel.budget import Allowance
from holdfast.kernel.flow import Asking
from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Media, Message
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import kept_as
from holdfast.text.concealed import redacted_text


@dataclass(frozen=True)
class History:
    """A transcript and its allowance.

    ``exact``: the messages that stay are fixed, and preferences do not count. ``of_system``:
    summaries may also be in system messages.
    """

    transcript: Transcript
    allowance: Allowance
    exact: bool = False
    of_system: bool = False

    @cached_property
    def messages(self) -> Sequence[Message]:
        """The messages as they may be repeated: with secrets masked if redaction is on."""
        messages = self.transcript.messages
        return tuple(map(concealed, messages)) if self.allowance.redacts else messages

    def repeatable(self, text: str) -> str:
        """A stored or generated text as it may be repeated."""
        return redacted_text(text)[0] if self.allowance.redacts else text

    @cached_property
    def sizes(self) -> Sequence[int]:
        """Tokens of each message."""
        return self.allowance.meter.sizes(self.transcript)

    @cached_property
    def total(self) -> int:
        """Tokens of everything."""
        return self.allowance.meter.total(self.transcript)

    @cached_property
    def summaries(self) -> tuple[int, ...]:
        """The positions of earlier summaries, as far as they may be replaced."""
        firm = self.transcript.pinned.union(self.transcript.newest)
        return tuple(
            i
            for i, message in enumerate(self.transcript.messages)
            if i not in firm
            and (self.of_system or message.role != "system")
            and body_of(message) is not None
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The positions that may be summarized: whole units after the earlier summary, if any.

        Protected messages are left out, but preferred ones are not: a summary covers them, and they
        are dropped when they are no longer preferred. So a summary's range does not depend on the
        user's newest message.
        """
        firm = self.transcript.protected.union(self.summaries)
        after = self.summaries[0] if self.summaries else -1
        return tuple(
            i
            for unit in self.transcript.units
            if unit.start > after and firm.isdisjoint(unit)
            for i in unit
        )

    def leaving(self, upto: int) -> tuple[int, ...]:
        """The positions that a summary of everything up to ``upto`` replaces.

        User messages that an earlier summary covers, but that stayed, are included when they are no
        longer preferred.
        """
        before = self.summaries[0] if self.summaries else 0
        covered = [i for i in self.places if i <= upto]
        stayed = [i for i in range(before) if self.transcript.messages[i].role == "user"]
        preferred = (
            frozenset[int]() if self.exact else self.transcript.preferred.difference(self.summaries)
        )
        firm = self.transcript.protected | preferred
        return tuple(i for i in (*stayed, *covered) if i not in firm)

    def start_of_recent(self, keep_recent: int | None, keep_tokens: int) -> int:
        """The position of the first message that stays.

        The newest ``keep_recent`` messages stay, with the rest of the first unit, or whole turns of
        at most ``keep_tokens`` tokens, or whole units if the newest turn is longer.
        """
        if keep_recent is not None:
            first = start_of_newest(self.transcript, keep_recent)
            return next((unit.start for unit in self.transcript.units if first in unit), first)
        newest = self.transcript.newest.start
        turn = self._start([turn.start for turn in self.transcript.turns], keep_tokens)
        if turn <= newest:
            return turn
        return min(newest, self._start([unit.start for unit in self.transcript.units], keep_tokens))

    def _start(self, starts: Sequence[int], tokens: int) -> int:
        """The earliest of the starts from which at most so many tokens follow, else the end."""
        at = len(self.sizes)
        for start in reversed(starts):
            tokens -= sum(self.sizes[start:at])
            if tokens < 0:
                break
            at = start
        return at

    def size(self, positions: Iterable[int]) -> int:
        """Tokens of these messages."""
        return sum(self.sizes[i] for i in positions)

    def words_of_users(self, positions: Iterable[int]) -> Iterator[str]:
        """The texts of users at these positions, word for word."""
        for i in positions:
            message = self.messages[i]
            if (
                message.role == "user"
                and not message.results
                and (message.content_text or "").strip()
            ):
                yield message.content_text or ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A summary of messages ``start`` to ``end`` of the caller's conversation, ends included.

    ``count`` is the number of covered messages; pinned ones between stay where they are. ``covers``
    is the hash of the covered messages, ``writer`` that of the prompts and the model. ``texts`` are
    the model's, oldest first, ``said`` are users' words, ``details`` lines of the source, and
    ``body`` is the text made of them. ``waiting`` are the messages that the model has not seen yet,
    as blocks of text, and ``waits`` are their tokens. ``made`` is the time in seconds.
    """

    start: int
    end: int
    count: int
    covers: str
    writer: str = ""
    texts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    body: str = ""
    waiting: tuple[str, ...] = ()
    waits: int = 0
    made: float = 0.0

    def to_json(self) -> str:
        """The JSON that a store keeps."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Range:
    """An entry of the list of ranges: the key of an envelope, and how to recognise it."""

    start: int
    end: int
    covers: str
    mark: str
    key: str


_SPARE = 2  # shorter ranges that are kept, in case messages at the end of the newest are edited
_OPENING = "summary:opening:"
"""Prefix of the key of a list of ranges without a thread, before the hash of its first messages."""
_MARK = "summary:mark:"
"""Prefix of the key under which the key of a list is found by the mark of a summary."""
_MOST_RANGES = 500  # the newest of a list; older summaries are written again when needed


def ranges_of(value: str | None) -> list[Range]:
    """The list in a stored value, oldest first."""
    return kept_as(value, list[Range]) or []


def _listed(ranges: Sequence[Range]) -> str:
    """The newest of the ranges, as JSON."""
    return json.dumps([asdict(each) for each in ranges[-_MOST_RANGES:]])


def chained(covers: str, message: Message) -> str:
    """The hash of the messages with the hash ``covers`` followed by this message."""
    said = message.plain
    if said is None:
        said = repr([(type(part).__name__, _content(part)) for part in message.parts])
    text = f"{covers}\n{message.role}\n{said}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(part: object) -> object:
    return (part.kind, part.media_type, part.source) if isinstance(part, Media) else part


class Known(NamedTuple):
    """A summary that covers this conversation up to a position, and may already be in it."""

    envelope: Envelope
    upto: int
    stands: bool


@dataclass(slots=True)
class Memory:
    """The summaries of one conversation in the caller's store, if there is one."""

    history: History
    writer: str
    keep_seconds: float | None = None
    opening: str | None = None
    """What the summaries begin with instead of a mark."""
    shelf: WorkingStore = field(init=False)
    _list: str = field(default="", init=False)
    """The key of the list of ranges."""
    _ranges: list[Range] = field(default_factory=list[Range], init=False)
    _chain: dict[int, str] = field(default_factory=dict[int, str], init=False)
    """The hashes of everything that may be summarized, by the position of its end."""
    _base: Known | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.shelf = WorkingStore(self.history.allowance.stored)

    def look(self, start: int) -> Asking[Known | None]:
        """The longest summary that ends before ``start``, else the shortest that ends after.

        The second is tried only if ``start`` is not fixed.
        """
        yield from self._open()
        self._follow()
        ends = {covers: i for i, covers in self._chain.items()}
        reached = [(ends[each.covers], each) for each in self._ranges if each.covers in ends]
        within = [(at, found) for at, found in reached if at < start]
        beyond = [] if self.history.exact else [(at, found) for at, found in reached if at >= start]
        for at, found in (*sorted(within, key=_end, reverse=True), *sorted(beyond, key=_end)):
            envelope = yield from self._envelope(found.key)
            if envelope and envelope.covers == found.covers and self._is_good(envelope):
                return Known(envelope, at, stands=False)
        return self._base

    @property
    def keeps(self) -> bool:
        """Whether there is a store, and it has not failed."""
        return self.shelf.works

    def keep(self, envelope: Envelope) -> Asking[None]:
        """Store a summary and add it to the list."""
        if not self.keeps:
            return
        thread = self.history.allowance.thread
        key = (
            summary_key(thread, envelope.start, envelope.end)
            if thread
            else f"summary:{envelope.covers}"
        )
        known = earlier_key(envelope.body)
        new = Range(envelope.start, envelope.end, envelope.covers, known, key)
        yield from self.shelf.write(
            key, replace(envelope, writer=self.writer, made=time()).to_json()
        )
        gone = [*self._superseded(envelope), *(yield from self._folded())]
        kept = [each for each in self._ranges if each not in gone and each.key != key]
        yield from self.shelf.write(self._list, _listed([*kept, new]))
        if not thread:
            yield from self.shelf.write(_MARK + known, self._list)
        for old in gone:
            yield from self.shelf.write(old.key, None)
            if old.mark != known and not thread:
                yield from self.shelf.write(_MARK + old.mark, None)

    def _superseded(self, envelope: Envelope) -> list[Range]:
        """Shorter ranges of this conversation, except the newest of them.

        Conversations without a thread that begin alike share a list; ranges of others stay in it.
        """
        own = set(self._chain.values()) if self._list.startswith(_OPENING) else None
        shorter = [
            each
            for each in self._ranges
            if each.start == envelope.start
            and each.end < envelope.end
            and (own is None or self._base is not None or each.covers in own)
        ]
        return sorted(shorter, key=lambda each: each.end)[:-_SPARE]

    def _folded(self) -> Asking[list[Range]]:
        """Take the earlier summary that began with ``opening``, not a mark, out of its list."""
        said = self.history.messages[self.history.places[0]].content_text or ""
        if not self.opening or not said.startswith(self.opening):
            return []  # an earlier summary with a mark is the base
        mark = earlier_key(said.removeprefix(self.opening))
        listing = yield from self.shelf.read(_MARK + mark)
        if listing is None:
            return []
        found = ranges_of((yield from self.shelf.read(listing)))
        left = [each for each in found if each.mark != mark]
        yield from self.shelf.write(listing, _listed(left) if left else None)
        return [each for each in found if each.mark == mark]

    def covers(self, position: int) -> str:
        """The hash of everything that may be summarized up to the position."""
        return self._chain[position]

    def original(self, position: int) -> int:
        """The position in the caller's conversation before its first summary."""
        if self._base is None or position <= self._base.upto:
            return position
        return self._base.envelope.end + position - self._base.upto

    def _open(self) -> Asking[None]:
        """Find the summary in the conversation, and the list of ranges."""
        thread, stored = self.history.allowance.thread, self.history.allowance.stored
        standing = self.history.summaries
        body = body_of(self.history.messages[standing[0]]) if standing else None
        self._list = ranges_key(thread) if thread else ""
        if body is not None and stored and not thread:
            self._list = (yield from self._read(_MARK + earlier_key(body))) or ""
        self._list = self._list or _OPENING + self._opening()
        self._ranges = ranges_of((yield from self._read(self._list)))
        if body is not None:
            envelope = yield from self._standing(body)
            self._base = Known(self._with_others(envelope), standing[0], stands=True)

    def _standing(self, body: str) -> Asking[Envelope]:
        """The envelope of a summary in the conversation, made from its text if none is stored."""
        for found in reversed(self._ranges):  # the newest, since two may have one text
            if found.mark == earlier_key(body):
                envelope = yield from self._envelope(found.key)
                if envelope and envelope.body == body:
                    return envelope
        parts, at = parsed(body), self.history.summaries[0]
        return Envelope(
            start=at,
            end=at + max(1, parts.count) - 1,
            count=max(1, parts.count),
            covers=earlier_key(body),
            texts=parts.texts,
            said=parts.said,
            details=parts.details,
            body=body,
        )

    def _with_others(self, envelope: Envelope) -> Envelope:
        """The summary merged with others that follow it."""
        messages = self.history.messages
        for parts in [parsed(body_of(messages[i]) or "") for i in self.history.summaries[1:]]:
            envelope = replace(
                envelope,
                count=envelope.count + parts.count,
                texts=(*envelope.texts, *parts.texts),
                said=(*envelope.said, *parts.said),
                details=(*envelope.details, *parts.details),
            )
        return envelope

    def _opening(self) -> str:
        """The hash of the conversation up to the first message that may be summarized."""
        covers = ""
        for message in self.history.messages[: min(self.history.places, default=-1) + 1]:
            covers = chained(covers, message)
        return covers

    def _follow(self) -> None:
        covers = self._base.envelope.covers if self._base else ""
        for i in self.history.places:
            covers = self._chain[i] = chained(covers, self.history.messages[i])

    def _is_good(self, envelope: Envelope) -> bool:
        fresh = self.keep_seconds is None or time() - envelope.made < self.keep_seconds
        return envelope.writer == self.writer and fresh

    def _envelope(self, key: str) -> Asking[Envelope | None]:
        envelope = kept_as((yield from self._read(key)), Envelope)
        # an earlier version listed keys of the messages that wait, and keys have one line
        is_whole = envelope and all("\n" in each for each in envelope.waiting)
        return envelope if is_whole else None

    def _read(self, key: str) -> Asking[str | None]:
        value = yield from self.shelf.read(key)
        return None if value is None else self.history.repeatable(value)


def _end(reached: tuple[int, Range]) -> int:
    return reached[0]
