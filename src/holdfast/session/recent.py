"""The recent part of a view: the thread after ``compress``, without recalled messages.

A new part is made from the messages that the last part had or noted, and from newer ones. So the
work grows with the view and the new messages, not with the thread.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from holdfast.compressors.note_text import LEFT_OUT
from holdfast.compressors.summaries import mark
from holdfast.engine import fit
from holdfast.kernel.budget import Budget, thresholds
from holdfast.kernel.compressor import run
from holdfast.kernel.edits import Drop, Insert
from holdfast.kernel.messages import Message
from holdfast.model_usage import ModelCall
from holdfast.options import Options
from holdfast.redact import mask_transcript
from holdfast.result import CompressionResult, sources
from holdfast.runtime import answers
from holdfast.stream import events_of
from holdfast.text.fit import head_tail, water_level

from .arguments import SessionOptions
from .log import LINES, Kept, Thread
from .state import Made


@dataclass(frozen=True, slots=True)
class Part:
    """The recent part of a view."""

    messages: Sequence[Message]
    """The messages as they were read, in the thread's format."""

    tokens: int
    overhead: int
    """Tokens of the request besides its messages, which are included in ``tokens``."""

    places: tuple[int | None, ...]
    """The position of each message in the thread; None for notes."""

    head: int
    """The number of its messages before the message about the past."""

    end: int
    """The length of the thread when the part was made."""

    since: int
    """The position from which it has every message."""

    mentioned: tuple[int, ...] = ()
    """The positions of the messages that it has or that its notes mention."""

    result: CompressionResult | None = None
    """The compression of its messages, if there was one."""


@dataclass(slots=True)
class LastFit:
    """What a session remembers of its last fit, so that the next one costs only what is new."""

    part: Part | None = None
    accepted: frozenset[Message] = frozenset()
    """The messages of the last view that the format accepts by themselves, without the newest."""

    past_message: tuple[str, Message] | None = None
    """The message about the past, after its text."""

    searched_for: int | None = None
    """The user's input for which the past was last searched."""

    grows: bool = False
    """Whether there was a view before, or the thread is opened again: another one is likely."""

    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    """The calls of models for all views so far."""

    seen: float | None = None
    """The time of the last view."""

    sent: int = 0
    """Tokens of the last view."""

    waited: int = 0
    """How often it was cheaper to let a view grow."""


def marked_message(thread: Thread, text: str) -> Message:
    """A user message with notes, marked as Holdfast's."""
    original = thread.wire.compose("user", mark(text, "user", thread.secret))
    return thread.wire.read([original]).messages[0].marked(ours=True)


_IN_MIND = "To be kept in mind:"


def notes_text(thread: Thread, options: SessionOptions, limit: int) -> str:
    """The notes of ``remember``, at most half of the budget; the middle of the longest is cut out.

    Secrets may be masked.
    """
    if not thread.state.notes:
        return ""
    count = options.meter.text
    notes = list(map(options.mask, thread.state.notes.values()))
    level = max(1, water_level(map(count, notes), limit // 2))
    shown = (note if count(note) <= level else head_tail(note, level, count) for note in notes)
    return "\n".join([_IN_MIND, *(f"- {note}" for note in shown), ""])


# times the room. What is farther from the end of a thread is searched only for the user's
# questions; half and double kept as much of dialogues and airline sessions
_FAR = 12.0
# share of the room up to which the user's newest input is kept whole; in recorded runs half and
# double kept as much
_INPUT = 0.125
# messages that the last part dropped are tried again up to the larger of a multiple of the room and
# a number of tokens. Half and double of the first, and twice the second, kept as much of recorded
# runs fitted before every reply; without the second, .877 instead of .910 of the values of airline
# sessions
_LOOKED_AT, _CHEAP = 2, 4_000
# share of words in the characters of the newest messages that makes them a talk; half and more
# kept as much of recorded runs
_TALK = 0.65


class RecentTurns:
    """Makes the recent part of a view for one fit. Tokens are those of the session's meter."""

    def __init__(
        self,
        thread: Thread,
        last_fit: LastFit,
        options: SessionOptions,
        budget: Budget,
        query: str | None,
        tools: object,
    ) -> None:
        self.thread, self.state = thread, thread.state
        self.last_fit, self.options = last_fit, options
        self.query, self._request = query, thread.wire.read([], tools)
        self.limit = budget.tokens(options.window)
        self.trigger, self.target = thresholds(budget, self.limit, options.trigger)
        """Tokens above which the view is compacted again, and those of a view after it at most."""
        self.size = options.meter.message
        """Counts the tokens of a message."""
        self.overhead = options.meter.overhead(self._request.envelope)
        """Tokens of the request besides its messages."""
        self.fixed = thread.read(sorted({*self.state.system, *self.state.pins}))
        """The messages that are always in the view: system messages and pins."""
        self.fixed_tokens = self.overhead + self.tokens(self.fixed.values())
        self.room = self.limit - self.fixed_tokens
        """Tokens of the limit that are left for everything else."""

    def tokens(self, found: Iterable[Kept]) -> int:
        """Tokens of the messages."""
        return sum(self.size(kept.message) for kept in found)

    def start(self, room: int, least: int = 0) -> int:
        """The position from which the recent turns fit ``room`` tokens.

        The newest exchange is always included, and so is a larger message if the newer ones have
        less than ``least``. They begin with a whole exchange: never with the result of a call, nor
        with a call whose reasoning comes before it.
        """
        taken = 0
        start = end = self.state.messages
        for kept in self.thread.backwards():
            if kept.position in self.fixed:
                continue
            before, taken = taken, taken + self.size(kept.message)
            if taken > room and start < end:
                if before < least:
                    start = kept.position
                break
            if not kept.message.results:
                start = kept.position
        return self.thread.exchanges([start])[0]

    def scope(self, last: Part | None) -> Made:
        """The messages for the next part: those that the last part had or noted, and newer ones.

        The newest of the messages that it dropped are tried again if there is room. If there are
        too many, the oldest messages go, but a user's stay. Without a last part, or if there are
        still too many, these are the newest messages of the thread.
        """
        thread, made, reach = self.thread, self.state.made, int(self.room * _FAR)
        # 0 for a short thread. A message that is larger than the reach counts if the newer ones do
        # not fill the room: what is left of it may be all that there is to show
        far = self.start(reach, self.room) if self.state.tokens > reach else 0
        newest = self.since(far, far, is_talk=self.is_talk())
        if last is None or made is None:
            return newest
        before = thread.read([*made.earlier, *range(made.start, made.end)])
        all_mentioned = before.keys() & {*last.mentioned}
        mentioned = {*all_mentioned}
        tokens = self.tokens(before[place] for place in mentioned)
        tokens += self.tokens(thread.read(range(made.end, newest.end)).values())
        for place in sorted(mentioned):
            message = before[place].message
            if tokens <= reach and not message.results:  # these go with their calls
                break
            if message.role != "user" or message.results:
                mentioned.remove(place)
                tokens -= self.size(message)
        if tokens > reach or (tokens < self.room and mentioned != all_mentioned):
            return newest
        again: list[Kept] = []
        most = max(self.room * _LOOKED_AT, _CHEAP)
        for kept in reversed([kept for place, kept in before.items() if place not in mentioned]):
            tokens += self.size(kept.message)
            if tokens > most:
                break
            again.append(kept)
        while again and again[-1].message.results:
            again.pop()
        earlier = mentioned.union(kept.position for kept in again)
        if not (self.state.exchanged or newest.is_talk):
            # the message before shows whether a user's is the output of an act or what a user said
            earlier |= {at - 1 for at in earlier if at and before[at].message.role == "user"}
        return replace(newest, start=made.end, earlier=sorted(earlier))

    def since(self, start: int, far: int = 0, *, is_talk: bool) -> Made:
        """The messages from ``start`` on, for a part whose size is not known yet."""
        end, spoke = self.state.messages, self.state.spoke
        return Made([], start, end, spoke, is_talk, self.limit, far=far)

    def is_talk(self) -> bool:
        """Whether the newest messages are mostly words, not calls and results."""
        events = events_of(list(map(_bare, self.thread.newest(LINES))), {})
        said = sum(len(each.text) for each in events if each.function == "words")
        whole = sum(len(each.text) for each in events if each.function != "instruction")
        return said >= _TALK * whole

    def extend_last(self) -> Part | None:
        """The last part with the messages since then; None if it is out of date.

        If another process made the last part, it is made again from the same messages.
        """
        last, made, wire = self.last_fit.part, self.state.made, self.thread.wire
        if made is None or made.key != self._key:
            return None
        last = last or self._part_of(made)
        new = self.thread.read(range(last.end, self.state.messages))
        fresh = self._masked([kept.message for kept in new.values()])
        beside = self.overhead - last.overhead  # the tools may have changed
        before = last.messages
        if any(message.wire.name != wire.name for message in before):  # it is known by now
            before = wire.read([message.original for message in before]).messages
        self.last_fit.part = part = replace(
            last,
            messages=[*before, *fresh],
            tokens=last.tokens + beside + sum(map(self.size, fresh)),
            overhead=self.overhead,
            places=(*last.places, *new),
            end=self.state.messages,
            mentioned=(*last.mentioned, *new),
        )
        return part

    def make(self, scope: Made, target: int, told: str) -> tuple[Part, Made]:
        """A part of ``target`` tokens, and how it was made.

        ``told`` is the view's text about the past.
        """
        made = replace(scope, target=target, told=told)
        return self._part_of(made), made

    def keep(self, part: Part, made: Made) -> None:
        """Let the next fit continue from this part, in this process or another."""
        self.state.record_part(replace(made, key=self._key))
        self.last_fit.part = part

    @property
    def _key(self) -> list[int]:
        """What decides the contents of the view, besides recalled messages."""
        return [self.state.since, self.state.rewordings, *self.fixed]

    def _part_of(self, made: Made) -> Part:
        """The part that ``made`` describes: its messages, compressed if they exceed its target."""
        # before the message about the past stand only these, as far as they come first
        leading = {*self.state.system} if made.is_talk else {*self.state.system, self.state.task}
        since = self.thread.read(range(made.start, made.end)).values()
        scope = [*self._before(made), *since]
        positions = [kept.position for kept in scope]
        past = [marked_message(self.thread, made.told)] if made.told else []
        head = sum(1 for _ in takewhile(leading.__contains__, positions))
        places: list[int | None] = [*positions]
        places[head:head] = [None] * len(past)
        messages = [kept.message for kept in scope]
        messages[head:head] = past
        # what is left: the originals, each with the index of its message
        left: list[tuple[int | None, Any]]
        result = None
        if self.overhead + sum(map(self.size, messages)) > made.target:
            result = self._compressed(messages, places, made)
            tokens = result.spent.tokens
            left = list(zip(sources(result), result.messages, strict=True))
        else:
            messages = self._masked(messages)
            tokens = self.overhead + sum(map(self.size, messages))
            left = [(i, message.original) for i, message in enumerate(messages)]
        if past:  # it only reserved its room: the view adds its own
            tokens -= self.size(past[0])
            left = [(i, original) for i, original in left if i != head]
        stands = tuple(None if i is None else places[i] for i, _ in left)
        unmentioned = {places[i] for i in _left_out(result)} if result else ()
        newest = takewhile(set(stands).__contains__, reversed(positions))
        return Part(
            self.thread.wire.read([original for _, original in left]).messages,
            tokens,
            self.overhead,
            stands,
            sum(1 for _ in takewhile(leading.__contains__, stands)),
            made.end,
            min(newest, default=positions[-1] + 1 if positions else 0),
            tuple(place for place in positions if place not in unmentioned),
            result,
        )

    def _masked(self, messages: list[Message]) -> list[Message]:
        """The messages that no compression masks, with their secrets masked if wanted.

        The masks are short, so that the messages take no more room.
        """
        if not self.options.redacts:
            return messages
        shown = replace(self._request, messages=tuple(messages))
        return [*mask_transcript(shown, brief=True).transcript.messages]

    def _before(self, made: Made) -> list[Kept]:
        """The messages before ``start`` that are included: system, pins, task, earlier ones."""
        found = dict(self.fixed) | self.thread.read(made.earlier)
        for place in (self.state.task if self.query is None else None, made.spoke):
            if place is not None and place < made.start:
                found |= self.thread.read(self.thread.exchanges([place]))
        return [found[place] for place in sorted(found) if place < made.start]

    def _compressed(
        self, messages: Sequence[Message], places: Sequence[int | None], made: Made
    ) -> CompressionResult:
        """The messages compressed. Pins stay, and so does the message of notes, without a place.

        The user's last message stays too if the target can be met with it.
        """
        pins: set[int | None] = {None, *self.state.pins}
        spoken = {
            place
            for place, message in zip(places, messages, strict=True)
            if place == made.spoke and self.size(message) <= self.room * _INPUT
        }
        asked: Options = {
            **self.options.of_compress,
            "on_failure": "fit",
            "llm": self.options.lineup.model,
            "query": self.query,
            "store": self.thread.store,
            "secret": self.thread.secret,
        }
        originals = [message.original for message in messages]
        known = replace(self._request, messages=tuple(messages))

        def keeping(stays: Container[int | None]) -> CompressionResult:
            asked["pin"] = [i for i, place in enumerate(places) if place in stays]
            found = run(fit(originals, max(1, made.target), asked, known), answers)
            self.last_fit.calls += found.model_usage.calls
            return found

        result = keeping(pins | spoken)
        return result if result.budget_met or spoken <= pins else keeping(pins)


def _bare(kept: Kept) -> Message:
    """The message without the date and the name at its head."""
    message, header = kept.message, kept.remembered.header
    return message.saying({0: kept.remembered.body}) if header and message.plain else message


def _left_out(result: CompressionResult) -> set[int]:
    """The places of the messages that are neither in the result nor in its notes."""
    gone = set[int]()
    for number, step in enumerate(result.steps):
        drops = [edit for edit in step.edits if isinstance(edit, Drop)]
        if drops:
            places = sources(replace(result, steps=result.steps[:number]))
            folds = any(isinstance(edit, Insert) for edit in step.edits)
            for edit in drops:
                if not folds or edit.reason == LEFT_OUT:
                    gone.update(place for i in edit.indices if (place := places[i]) is not None)
    return gone
