"""Finding the summary that covers most of a conversation, and keeping a new one.

With a thread, summaries stand under the thread's keys. Without one, they are found by the messages with which the
conversation opens; in a conversation that holds an earlier summary already, by the mark of that summary. Whatever
is found is used only if the hash of what it covers is that of the messages that stand there now.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

from holdfast.compressors.kept import as_list
from holdfast.compressors.summaries import body_of, earlier_key
from holdfast.compressors.summarize.body import parsed
from holdfast.compressors.summarize.envelope import Envelope, Range, chained, ranges_of, with_range
from holdfast.compressors.summarize.history import History
from holdfast.compressors.summary_keys import (
    content_key,
    mark_key,
    opening_key,
    ranges_key,
    summary_key,
    waiting_key,
)
from holdfast.kernel.errors import StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, Read, Write

Asking = Generator[Ask[Any], Any, None]
Looking = Generator[Ask[Any], Any, "Known | None"]


@dataclass(frozen=True, slots=True)
class Known:
    """A summary that holds for this conversation: up to which position, and whether it stands in it already."""

    envelope: Envelope
    upto: int
    stands: bool


@dataclass(slots=True)
class Memory:
    """The summaries of one conversation in the caller's store, as far as there is one."""

    history: History
    writer: str
    keep_seconds: float | None = None
    trouble: str = ""
    _list: str = field(default="", init=False)
    """The key of the list of ranges."""
    _ranges: list[Range] = field(default_factory=list[Range], init=False)
    _chain: dict[int, str] = field(default_factory=dict[int, str], init=False)
    """The hash of all that may be summarized up to a position."""
    _base: Known | None = field(default=None, init=False)

    def look(self, start: int) -> Looking:
        """The summary that covers most before ``start``; if none does, the shortest beyond it, if it may move."""
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
        """Whether there is a store, and it has worked so far."""
        return self.history.allowance.stored and not self.trouble

    def keep(self, envelope: Envelope, waiting: Sequence[str] = ()) -> Asking:
        """Keep a summary and what waits to be summarized; the list last: what it names is there."""
        if not self.keeps:
            return
        thread = self.history.allowance.thread
        key = summary_key(thread, envelope.start, envelope.end) if thread else content_key(envelope.covers)
        if waiting:
            envelope = replace(envelope, waiting=(*envelope.waiting, waiting_key(key)))
            yield from self._write(waiting_key(key), json.dumps(list(waiting), ensure_ascii=False))
        known = earlier_key(envelope.body)
        new = Range(envelope.start, envelope.end, envelope.covers, known, key)
        yield from self._write(key, replace(envelope, writer=self.writer, made=time()).to_json())
        yield from self._write(self._list, with_range(self._ranges, new))
        if not thread:
            yield from self._write(mark_key(known), self._list)

    def waiting(self, envelope: Envelope) -> Generator[Ask[Any], Any, list[str]]:
        """What a summary covers and the model has not been sent."""
        found: list[str] = []
        for key in envelope.waiting:
            found += map(str, as_list((yield from self._read(key))))
        return found

    def covers(self, position: int) -> str:
        """The hash of all that may be summarized up to the position."""
        return self._chain[position]

    def original(self, position: int) -> int:
        """The position in the conversation that the caller had before its first summary."""
        if self._base is None or position <= self._base.upto:
            return position
        return self._base.envelope.end + position - self._base.upto

    def _open(self) -> Asking:
        """Find the summary that stands in the conversation, and the list of ranges."""
        thread, stored = self.history.allowance.thread, self.history.allowance.stored
        standing = self.history.summaries
        body = body_of(self.history.messages[standing[0]]) if standing else None
        self._list = ranges_key(thread) if thread else ""
        if body is not None and stored and not thread:
            self._list = (yield from self._read(mark_key(earlier_key(body)))) or ""
        self._list = self._list or opening_key(self._opening())
        self._ranges = ranges_of((yield from self._read(self._list)))
        if body is not None:
            envelope = yield from self._standing(body)
            self._base = Known(self._with_others(envelope), standing[0], stands=True)

    def _standing(self, body: str) -> Generator[Ask[Any], Any, Envelope]:
        """The envelope of a summary that stands in the conversation; made from its words where none is kept."""
        for found in self._ranges:
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
        """The summary with what other ones say that stand behind it."""
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

    def _envelope(self, key: str) -> Generator[Ask[Any], Any, Envelope | None]:
        return Envelope.of_json((yield from self._read(key)))

    def _read(self, key: str) -> Generator[Ask[Any], Any, str | None]:
        if not self.keeps:
            return None
        try:
            value = yield from ask(Read(key))
        except StoreError as fault:
            self.trouble = f"summaries are not kept: {fault}"
            return None
        return None if value is None else self.history.told(value)

    def _write(self, key: str, value: str) -> Asking:
        if self.trouble:
            return
        try:
            yield from ask(Write(key, value))
        except StoreError as fault:
            self.trouble = f"summaries are not kept: {fault}"


def _end(reached: tuple[int, Range]) -> int:
    return reached[0]
