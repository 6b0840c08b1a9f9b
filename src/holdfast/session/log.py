"""One thread in a store: a log of messages, a log of events, and the state computed from them."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from holdfast.formats import detect, named
from holdfast.formats.payloads import as_sent
from holdfast.kernel.budget import Meter
from holdfast.kernel.errors import ConfigError, FormatError, HoldfastError, InputError, StoreError
from holdfast.kernel.forks import cached_property
from holdfast.kernel.integrity import ToolExchanges
from holdfast.kernel.messages import Message
from holdfast.kernel.stored_json import decoded, encoded, tagged
from holdfast.kernel.transcript import Format
from holdfast.memory.messages import Remembered, remembered
from holdfast.stores.artifacts import secret_of
from holdfast.stores.key_logs import EVENTS, MESSAGES
from holdfast.stores.protocols import (
    Glances,
    Line,
    LogStore,
    MessageLog,
    as_store_errors,
    check_unlocked,
    settled,
    shielded,
)
from holdfast.text.items import items_in
from holdfast.text.keyed import of_thread
from holdfast.text.similarity import each_once
from holdfast.text.visible import amount, first_of
from holdfast.text.words import READ, has_unspaced, words

from .state import DERIVED, Event, EventKind, State
from .wires import check, check_calls, check_named, form_of, is_readable, wire_of

T = TypeVar("T")
LineKind = Literal["message", "event"]


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=tagged)


class Kept(NamedTuple):
    """A message of the thread with its edits applied.

    ``original`` is the message as it was appended, or last edited.
    """

    position: int
    original: Any
    message: Message
    remembered: Remembered
    size: int
    """The length of its JSON in characters."""


def kept_of(position: int, line: Line, original: object, message: Message) -> Kept:
    """The message of a line; ``remembered`` has the time in its text, or else that of the line."""
    role, text = message.speaker, message.content_text or ""
    if not message.is_speech:
        told = [item.told for item in items_in(message.parts)]
        text = "\n".join(filter(None, (text, *told)))
    if message.results:  # they come first, so there is no name or date at the head
        seen = Remembered(position, role, text, said=line.time)
    else:
        seen = remembered(position, role, text, name=message.name, said=line.time)
    return Kept(position, original, message, seen, len(line.body))


def json_of(value: object, place: str) -> str:
    """The value as compact JSON. Raises InputError, naming the place, if JSON cannot hold it."""
    try:
        return encoded(value, _COMPACT)
    except (TypeError, ValueError, RecursionError) as fault:
        raise InputError(
            f"it cannot be kept as JSON ({fault})",
            place=place,
            advice="convert the messages to dictionaries first",
        ) from fault


def event_of(number: int, line: Line) -> Event:
    """The event in the line."""
    return Event(number, time=line.time, **decoded(line.body))


def words_of(kept: Kept) -> str:
    """The text by which a search finds the message, with its calls and their arguments.

    Scripts without spaces between words are split into pairs of characters, as in questions. A long
    text has each word once, so that what stands deep in it is found too.
    """
    text = told_of(kept)
    if len(text) > READ:
        return each_once(text)[:READ]
    return " ".join(words(text)) if has_unspaced(text) else text


def told_of(kept: Kept) -> str:
    """The text of the message, with its calls and their arguments."""
    calls = (f"{call.name} {call.arguments}" for call in kept.message.calls)
    return "\n".join(part for part in (kept.remembered.told, *calls) if part)


def with_words(kind: LineKind, line: Line, wire: Format | None) -> Line:
    """The line with the text by which a search finds it, which a log does not return.

    Without ``wire`` the message shows its format. Unchanged if nothing finds it, or it cannot be
    read.
    """
    try:
        original = decoded(line.body)
        if kind == "event":
            if original["kind"] != "edit":
                return line
            original = original["facts"]["message"]
        message = (wire or detect([original])).read([original]).messages[0]
    except (ValueError, LookupError, TypeError, RecursionError, InputError):
        return line
    return replace(line, words=words_of(kept_of(0, line, original, message)))


_HELD = 16_000_000  # characters of messages in memory: 16 MB of English, some 4,000,000 tokens
# lines that are read or copied at once, and after which the state is saved again. With half and
# four times as many, threads are read and written as fast; opening one reads no more, in 5 ms
LINES = 128
# newest messages that show the current work, a few calls and their results: .889 of airline
# sessions were kept, with half .887 and with double .899
NEWEST = 8
STATE = "session:"
"""The key of a thread's saved state begins with it, and ends with the thread's name."""


_INVERSES: Mapping[str, tuple[EventKind, Mapping[str, str]]] = {
    "compaction": ("compaction", {"from": "to", "to": "from"}),
    "edit": ("revert", {"position": "position"}),
    "delete": ("keep", {"positions": "positions"}),
    "pin": ("unpin", {"positions": "positions"}),
}
"""The event that undoes one of this kind, and which of its facts becomes which."""

_CAN_BE = "a compaction, an edit, a deletion or a pin can be; forget removes a note"


def _logs_of(store: LogStore, name: str) -> dict[LineKind, MessageLog]:
    """The two logs of a thread."""
    with as_store_errors():
        said, happened = store.log(MESSAGES + name), store.log(EVENTS + name)
    return {"message": shielded(said), "event": shielded(happened)}


class Thread:
    """Reads and writes one thread.

    Not safe for several threads of execution at once; a session serialises them.
    """

    def __init__(
        self,
        name: str,
        store: LogStore,
        clock: Callable[[], float],
        meter: Meter,
        form: str | Format | None = None,
    ) -> None:
        self.name, self.store, self.meter, self.now = name, store, meter, clock
        # asked at each fit, where ``isinstance`` of a protocol would be slow
        self._glances = store if isinstance(store, Glances) else None
        self._logs = _logs_of(store, name)
        self._log, self._event_log = self._logs.values()
        self.held: dict[int, Kept] = {}
        """Messages in memory, by position; bounded."""
        self.held_characters = 0
        self.damaged: dict[LineKind, set[int]] = {"message": set(), "event": set()}
        """The lines that cannot be read, which are passed over."""
        self._unsaved = 0
        self._named = None if form is None else named(form)
        self.state = State()
        lengths: Sequence[int] = ()
        with suppress(StoreError):  # a damaged state is computed again
            (text,), lengths = self._glance([STATE + name])
            self.state = State.from_json(text)
        check_named(self._named, self.state)
        if self.state.counter != meter.counter.name:
            self.state = State(counter=meter.counter.name)  # all messages are counted again, once
        self.refresh(lengths)
        if not (self.state.messages or self.state.events):
            check_unlocked(store)

    @cached_property
    def secret(self) -> str:
        """The secret that signs what is written for this thread; empty if the store has none."""
        with suppress(HoldfastError), as_store_errors():
            return of_thread(secret_of(self.store), self.name)
        return ""

    def refresh(self, lengths: Sequence[int] = ()) -> None:
        """Read what was appended since, by this process or another.

        ``lengths`` of the two logs are asked for unless they are given.
        """
        said, happened = lengths or self._glance([])[1]
        for some in batches(self.state.messages, said):
            for position, (line, original) in self._intact("message", some, _original).items():
                try:
                    self._fold_line(position, line, original)
                except FormatError:  # an earlier version may have accepted it
                    if self._named is not None and is_readable(original):
                        raise
                    self.damaged["message"].add(position)
            self.state.read_messages(some.stop)
            self._drop_oldest()
        for some in batches(self.state.events, happened):
            for event in self._intact("event", some, event_of).values():
                self._fold_event(event)
            self.state.read_events(some.stop)
        self._apply_bounds()

    def _glance(self, keys: Sequence[str]) -> tuple[Sequence[str | None], Sequence[int]]:
        """The values of the keys and the lengths of both logs, if possible in one round trip."""
        if self._glances is not None:
            return self._glances.glance(keys, [MESSAGES + self.name, EVENTS + self.name])
        values = [settled(self.store.get(key)) for key in keys]
        return values, [log.length() for log in self._logs.values()]

    def _intact(
        self, kind: LineKind, positions: Sequence[int], read: Callable[[int, Line], T]
    ) -> dict[int, T]:
        """The results of ``read`` for the lines at these positions, without damaged lines."""
        lines, found = self._logs[kind].read(positions), dict[int, T]()
        for position in positions:
            try:
                found[position] = read(position, lines[position])
            except (LookupError, TypeError, ValueError, RecursionError):
                self.damaged[kind].add(position)
        return found

    @property
    def faults(self) -> Iterator[str]:
        """A sentence for each log with damaged lines, passed over, and one for parted calls."""
        for kind, places in self.damaged.items():
            if places:
                what = f"{amount(len(places), kind)} damaged in the store, passed over"
                yield f"{what}: {first_of(sorted(places))}; restore a copy"
        if self.state.unpaired:
            parted = f"{amount(self.state.unpaired, 'message')} parted a call from its result"
            yield f"{parted}; all is kept, and views mend it"

    def record_view(self, tokens: int, net: float, seconds: float) -> None:
        """Record a view; the store learns of it with the next saved state."""
        self.state.record_view(tokens, net, seconds)
        self._unsaved += 1

    def record_found(self, positions: Collection[int]) -> None:
        """Record that these messages were found; the store learns of it as of a view."""
        self.state.record_found(positions)
        self._unsaved += 1

    def save(self) -> None:
        """Save the state, so that the next opening has little to read.

        If saving fails, nothing is lost: the state is computed from the logs again.
        """
        if self._unsaved:
            with suppress(StoreError):
                settled(self.store.set(STATE + self.name, self.state.to_json()))
            self._unsaved = 0

    def append(
        self, originals: Sequence[object], ids: Sequence[str], time: float | None
    ) -> list[int]:
        """Append the messages durably; return their positions. Known ids are not appended again."""
        moment = self.now() if time is None else time
        bodies = [
            json_of(original, f"messages[{i}]")
            for i, original in enumerate(as_sent(list(originals)))
        ]
        copies = list(map(decoded, bodies))  # as they will be read again
        while True:
            form, start = self.form(copies), self.state.messages
            messages = form.read(copies).messages
            check(copies, messages, form, None if self._named else self.state)
            fresh: list[Kept] = []
            lines: list[Line] = []
            rows = zip(bodies, ids, copies, messages, strict=True)
            for position, (body, name, copy, message) in enumerate(rows, start):
                self.meter.message(message)  # what cannot be counted is refused before it is stored
                line = Line(body, name, moment)
                kept = kept_of(position, line, copy, message)
                fresh.append(kept)
                said = kept.remembered.said or moment
                lines.append(replace(line, time=said, words=words_of(kept)))
            places = list(self._log.append(lines, None if self.state.is_settled else start))
            if places or not fresh:
                break
            self.refresh()  # another process wrote first, and may have set the format
            check_named(self._named, self.state)
        if places != [kept.position for kept in fresh]:  # another process wrote, or an id was known
            self.refresh()
            return places
        for kept, line in zip(fresh, lines, strict=True):
            if self.form([kept.original]).name == form.name:
                self._fold_message(kept, form)
            else:  # by itself it is in another format
                self._fold_line(kept.position, line, kept.original)
        self._apply_bounds()
        return places

    def record(
        self, kind: EventKind, reason: str, facts: Mapping[str, Any], words: str = ""
    ) -> Event:
        """Append an event that stays valid whatever other processes wrote meanwhile."""
        line = self._event_line(kind, reason, facts, words)
        (number,) = self._event_log.append([line], flush=kind not in DERIVED)
        event = event_of(number, line)
        if event.number == self.state.events:  # no other process wrote, so nothing must be read
            self._fold_event(event)
        else:
            self.refresh()
        return event

    def record_if_current(self, kind: EventKind, reason: str, facts: Mapping[str, Any]) -> None:
        """Append a derived event, unless another process wrote first and may have outdated it.

        If the store cannot be written, only this process knows the event.
        """
        line = self._event_line(kind, reason, facts)
        event = event_of(self.state.events, line)
        try:
            if self._event_log.append([line], at=event.number, flush=False):
                self._fold_event(event)
            else:
                self.refresh()
        except StoreError:
            self.state.take(event)

    def edit(self, position: int, original: object, reason: str) -> Event:
        """Replace the message from now on. Raises FormatError for one of another format."""
        (original,) = as_sent([original])
        before = self.state.edits.get(position)
        facts = {"position": position, "message": original, "before": before}
        message = self.wire.read([original]).messages[0]
        check_calls(original, message, self.wire, "message")
        edited = kept_of(position, Line(""), original, message)
        return self.record("edit", reason, facts, words_of(edited))

    def events(self, start: int = 0) -> Iterator[Event]:
        """The events in order."""
        for some in batches(start, self.state.events):
            yield from self._intact("event", some, event_of).values()

    def read(self, positions: Sequence[int]) -> dict[int, Kept]:
        """The messages at these positions, in this order, with edits applied; no deleted ones."""
        gone, end, held = set(self.state.deleted), self.state.messages, self.held
        wanted = [place for place in positions if 0 <= place < end and place not in gone]
        missing = [place for place in wanted if place not in held]
        if missing:
            self._load(self._intact("message", missing, _original))
        found = {place: held[place] for place in wanted if place in held}
        self._drop_oldest()
        return found

    def backwards(self) -> Iterator[Kept]:
        """The messages with edits applied, newest first."""
        for stop in range(self.state.messages, 0, -LINES):
            yield from reversed(self.read(range(stop - LINES, stop)).values())

    def newest(self, most: int) -> list[Kept]:
        """Those of the newest messages, so many of them, that were not deleted, in order."""
        end = self.state.messages
        return list(self.read(range(end - most, end)).values())

    def forwards(self, start: int = 0) -> Iterator[Kept]:
        """The messages from ``start`` on with edits applied, in order."""
        for some in batches(start, self.state.messages):
            yield from self.read(some).values()

    def originals(self) -> Iterator[Any]:
        """Everything that was appended, unedited."""
        for some in batches(0, self.state.messages):
            yield from (said for _, said in self._intact("message", some, _original).values())

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, for messages with edits applied."""
        edits = self.state.edits
        # events first: this search may index words, which changes the scores of both logs
        edited = self._event_log.search(terms, most) if edits else dict[int, float]()
        found = {
            at: score for at, score in self._log.search(terms, most).items() if at not in edits
        }
        found |= {at: edited[number] for at, number in edits.items() if number in edited}
        gone = set(self.state.deleted)
        return {at: score for at, score in found.items() if at not in gone}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """Positions of the messages in this period, the earliest first."""
        gone, found = set(self.state.deleted), self._log.between(first, last, most)
        return [place for place in found if place not in gone]

    def position_of(self, name: str) -> int | None:
        """The position of the message with this id, if there is one."""
        return self._log.find([name]).get(name)

    def form(self, originals: Sequence[object]) -> Format:
        """The format of the thread, as far as it and these messages determine it."""
        return self._named or form_of(originals, self.state)

    @property
    def wire(self) -> Format:
        """The format of the thread, as far as it is known."""
        return self._named or wire_of(self.state.format or "plain")

    def copy_to(self, store: LogStore, name: str) -> None:
        """Copy messages and events to a thread. Raises ConfigError if it is not empty."""
        logs, ends = _logs_of(store, name), (self.state.messages, self.state.events)
        used = ConfigError(
            f"thread {name!r} is not empty", place="thread", advice="name one that is new"
        )
        if any(log.length() for log in logs.values()):  # also where nothing is copied
            raise used
        for (kind, target), end in zip(logs.items(), ends, strict=True):
            for places in batches(0, end):
                lines = self._logs[kind].read(places)
                # an empty line replaces a damaged one, so that the others keep their positions
                found = (lines.get(place, Line("")) for place in places)
                copies = [with_words(kind, line, self.wire) for line in found]
                if not target.append(copies, at=places.start):
                    raise used

    def exchanges(self, positions: Sequence[int]) -> list[int]:
        """The positions, and those of calls and results in the same exchanges."""
        found = set(positions)
        for position in positions:
            near = list(self.read(range(position - LINES // 2, position + LINES // 2)).values())
            known = replace(self.wire.read([]), messages=tuple(kept.message for kept in near))
            for unit in known.units:
                span = [near[i].position for i in unit]
                if position in span:
                    found.update(span)
        return sorted(found)

    def undo(self, number: int | None) -> Event:
        """Record the event that undoes this one, by default the newest possible.

        Raises InputError if there is none, or if it was undone already.
        """
        events = list(self.events())
        undone = {event.facts.get("undoes") for event in events}
        open_to_it = [
            event
            for event in events
            if event.kind in _INVERSES
            and "undoes" not in event.facts
            and event.number not in undone
        ]
        chosen = [event for event in open_to_it if number in (None, event.number)]
        if not chosen:
            what = (
                "there is nothing to undo" if number is None else f"event {number} cannot be undone"
            )
            known = ", ".join(str(event.number) for event in open_to_it[-5:])
            advice = f"the newest that can be are {known}" if known else _CAN_BE
            raise InputError(what, advice=advice)
        event = chosen[-1]
        kind, names = _INVERSES[event.kind]
        facts = {name: event.facts[before] for name, before in names.items()}
        others = [other for other in open_to_it if other.kind == event.kind and other != event]
        if kind == "revert":  # to the newest edit that stands
            edits = [each for each in others if each.facts["position"] == facts["position"]]
            facts["to"] = edits[-1].number if edits else None
        elif "positions" in facts:  # without those that another such event names
            held = {position for other in others for position in other.facts["positions"]}
            facts["positions"] = [each for each in facts["positions"] if each not in held]
        reason = f"{event.kind} {event.number} is undone"
        return self.record(kind, reason, facts | {"undoes": event.number})

    def _event_line(
        self, kind: EventKind, reason: str, facts: Mapping[str, Any], words: str = ""
    ) -> Line:
        data = {"kind": kind, "at": self.state.messages, "reason": reason, "facts": facts}
        return Line(json_of(data, kind), "", self.now(), words)

    def _load(self, lines: Mapping[int, tuple[Line, Any]]) -> None:
        edits = self.state.edits
        edited = self._intact("event", [edits[at] for at in lines if at in edits], event_of)
        originals = [
            edited[edits[at]].facts["message"] if edits.get(at) in edited else original
            for at, (_, original) in lines.items()
        ]
        read = zip(lines.items(), originals, self._read(originals), strict=True)
        for (position, (line, _)), original, message in read:
            if message is None:
                self.damaged["message"].add(position)
            else:
                self._keep(kept_of(position, line, original, message))

    def _read(self, originals: Sequence[object]) -> Sequence[Message | None]:
        """The messages; None for one that the format refuses."""
        try:
            return self.wire.read(originals).messages
        except FormatError:
            if len(originals) == 1:
                return [None]
            return [message for original in originals for message in self._read([original])]

    def _keep(self, kept: Kept) -> None:
        self.held_characters += kept.size
        self.held[kept.position] = kept

    def _drop_oldest(self) -> None:
        """Drop messages from memory above the bound, until half of it is left; keep the newest."""
        if self.held_characters > _HELD:
            held, self.held, self.held_characters = self.held, {}, 0
            for position in sorted(held, reverse=True):
                if self.held_characters > _HELD // 2:
                    break
                self._keep(held[position])

    def _apply_bounds(self) -> None:
        """Apply the bounds on memory and on what the next opening must read."""
        self._drop_oldest()
        if self._unsaved >= LINES:
            self.save()

    def _fold_line(self, position: int, line: Line, original: object) -> None:
        """Update the state with a message that is read by itself."""
        form = self.form([original])
        message = form.read([original]).messages[0]
        if self._named:
            check_calls(original, message, form, "format")
        self._fold_message(kept_of(position, line, original, message), form)

    def _fold_message(self, kept: Kept, form: Format) -> None:
        exchanged, tokens = self.state.exchanged, self.meter.message(kept.message)
        if form.name not in (self.state.format, "plain"):
            self.state.set_format(form.name)
            self.held, self.held_characters = {}, 0  # they were read in another format
        self._keep(kept)
        # ``isinstance`` takes ten times as long for a class that derives from a protocol
        alone = not any(ToolExchanges in type(rule).__mro__ for rule in form.rules)
        self.state.fold_message(kept.position, kept.message, kept.remembered, tokens, alone=alone)
        self._unsaved += 1
        if self.state.exchanged and not exchanged:
            self.save()  # later openings then know the format

    def _fold_event(self, event: Event) -> None:
        self.state.fold_event(event)
        if event.kind in ("edit", "revert"):
            gone = self.held.pop(event.facts["position"], None)
            self.held_characters -= gone.size if gone else 0
        self._unsaved += 1


def _original(_: int, line: Line) -> tuple[Line, Any]:
    return line, decoded(line.body)


def batches(start: int, end: int) -> Iterator[range]:
    """The positions from ``start`` up to ``end``, in ranges that are read at once."""
    for first in range(start, end, LINES):
        yield range(first, min(first + LINES, end))
