"""The last step: the budget is met, or it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from holdfast.compressors.cuts import (
    NOT_ENDED,
    ends_with_user,
    legal,
    newest,
    oldest_first,
    preferred,
    unit_of,
)
from holdfast.compressors.knobs import Configured
from holdfast.compressors.references import parted
from holdfast.compressors.summaries import body_of, mark
from holdfast.content.structured.values import dump, parse
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.messages import Media, Message, Part, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import Seal, Transcript
from holdfast.text.fit import head_tail, water_level

# a text longer than the target divided by this loses of its middle before anything goes for it
_OVERSIZE = 2
# in parts of this size of the target, so that what was sent before stays the same for a while
_STEPS = 16
# what must stay leaves the target divided by this to older messages, where there are any
_HISTORY = 4
_FLOOR = 8  # while something else can go, no text is clamped below the target divided by this,
_LEAST = 64  # nor below these tokens;
_SHORT = 4  # a value among arguments that takes no more stays: a mark in quotes takes as much
_LAST = 16  # nor below these when the budget cannot be met anyway: a marker and a few words

_MIDDLE = "too long for the budget: its middle is left out"
_WORDS = "the words of a user are too long for the budget: their middle is left out"


@dataclass(frozen=True, slots=True)
class Trim(Configured):
    """Drop the oldest messages until the target is met, then shorten what must stay but is too long.

    System messages, pins and the newest message with its open exchange always stay; what the
    profile prefers and a summary of what has left stay while the rest can be clamped. What a user
    said is never clamped unless ``clamp_users`` or ``clamp_users_last`` asks for it. Summaries, and
    what calls say that were answered, are clamped where nothing else but a user's words can give
    way: arguments stay a JSON object with the same keys.
    """

    keep_recent: int = 0
    """The newest messages (system messages not counted) that stay whatever the budget."""

    only_when_last_is_user: bool = False
    """Whether a conversation that does not end with a user's message is left alone."""

    threshold: Share | None = None
    """Aim at this many tokens, or this share of the budget, instead of at the target."""

    clamp: bool = True
    """Whether tool results and assistant texts that are too long for the budget lose their
    middle."""

    clamp_users: bool = False
    """Whether user messages may lose their middle too."""

    clamp_users_last: bool = False
    """Whether they may where nothing else can give way any more; the profiles ask for that."""

    name = "trim"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """One Drop of all that goes, and a Replace for each part that is clamped."""
        if self.only_when_last_is_user and not ends_with_user(transcript):
            return Plan.skip("last_is_not_user", NOT_ENDED)
        target = allowance.target if self.threshold is None else allowance.share(self.threshold)
        work = _Work(transcript, allowance, target)
        if work.excess <= 0:
            return Plan.skip("within_budget", "it fits already")
        firm = transcript.protected.union(newest(transcript, self.keep_recent))
        self._fit(work, firm, firm | preferred(transcript))
        edits = work.edits()
        if not edits:
            return Plan.skip("nothing_may_go", "everything that is there must stay")
        detail = (
            _WORDS
            if any(isinstance(edit, Replace) and edit.reason == _WORDS for edit in edits)
            else ""
        )
        return Plan(edits, reason="trimmed", detail=detail)

    def _fit(self, work: _Work, firm: frozenset[int], kept: frozenset[int]) -> None:
        """What costs least first.

        The middle of what is oversize, the oldest, the middle of what stays, the preferred, the
        middle of all.
        """
        floor = max(_LEAST, work.target // _FLOOR)
        oversize = self._clampable(work.transcript, work.oversize)
        half, step = work.target // _OVERSIZE, max(1, work.target // _STEPS)
        work.clamp(oversize, work.staying, work.target, max(floor, half), step)
        work.clamp(
            self._clampable(work.transcript, kept), kept, work.room_beside_history(kept), floor
        )
        work.drop_oldest(kept)
        if work.excess > 0:
            work.clamp(
                self._clampable(work.transcript, work.staying), work.staying, work.target, floor
            )
        if work.excess <= 0:
            return
        self._drop_preferred(work, firm, kept)
        everything = self._clampable(
            work.transcript, work.staying, last=True, users=self.clamp_users_last
        )
        least = 1 if work.shortest(everything, 1) <= work.target else _LAST
        for parts in (self._clampable(work.transcript, work.staying, last=True), everything):
            while work.excess > 0 and work.clamp(parts, work.staying, work.target, least):
                # once, but for counters whose counts of parts do not add up to that of their
                # message
                pass

    def _drop_preferred(self, work: _Work, firm: frozenset[int], kept: frozenset[int]) -> None:
        """Drop the oldest of what is preferred, until the rest can be clamped to the target."""
        transcript = work.transcript
        for i in sorted(kept - firm):
            parts = self._clampable(
                transcript, work.staying, last=True, users=self.clamp_users_last
            )
            if work.shortest(parts, _LAST) <= work.target:
                return
            kept -= {i}
            if firm.isdisjoint(unit_of(transcript, i)):
                work.going = legal(transcript, work.going.union(unit_of(transcript, i)), kept)

    def _clampable(
        self,
        transcript: Transcript,
        among: AbstractSet[int],
        *,
        last: bool = False,
        users: bool = False,
    ) -> dict[tuple[int, int], Part]:
        """(message, part) -> the part, for every text of these messages that may lose its middle.

        At ``last`` also summaries of what has left, and what calls that were answered say.
        """
        found: dict[tuple[int, int], Part] = {}
        for i in among if self.clamp else ():
            message = transcript.messages[i]
            summary = self._is_summary(transcript, i)
            if i in transcript.pinned or message.role == "system" or (summary and not last):
                continue
            answered = _answered(transcript, i) if last and message.calls else ()
            for at, part in enumerate(message.parts):
                if isinstance(part, ToolCall):
                    if part.id in answered and brief(part.arguments, 0, len):
                        found[i, at] = part
                elif isinstance(part, ToolResult) or (
                    isinstance(part, Text) and (summary or users or self._may_clamp(message))
                ):
                    found[i, at] = part
        return found

    def _is_summary(self, transcript: Transcript, i: int) -> bool:
        """Whether it is a summary of what has left: cut short it would be none.

        As the newest it must give way.
        """
        return i not in transcript.newest and body_of(transcript.messages[i]) is not None

    def _may_clamp(self, message: Message) -> bool:
        return message.role != "user" or self.clamp_users


@dataclass(slots=True)
class _Work:
    """What has been decided so far, and how far it is from the target."""

    transcript: Transcript
    allowance: Allowance
    target: int
    sizes: list[int] = field(init=False)
    overhead: int = field(init=False)
    going: set[int] = field(default_factory=set[int])
    clamped: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    """Message -> part -> what is left of its text."""
    frames: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """Tokens of a call's arguments that say nothing: brackets and keys."""

    def __post_init__(self) -> None:
        self.sizes = list(self.allowance.meter.sizes(self.transcript))
        self.overhead = self.allowance.meter.overhead(self.transcript.envelope)

    @property
    def excess(self) -> int:
        """Tokens over the target."""
        return (
            self.overhead + sum(self.sizes) - sum(self.sizes[i] for i in self.going) - self.target
        )

    def room_beside_history(self, kept: AbstractSet[int]) -> int:
        """What the messages that must stay may take, so that some history stays beside them."""
        history = sum(size for i, size in enumerate(self.sizes) if i not in kept)
        return self.target - min(self.target // _HISTORY, history)

    @property
    def staying(self) -> frozenset[int]:
        """What has not been dropped so far."""
        return frozenset(range(len(self.sizes))) - self.going

    @property
    def oversize(self) -> frozenset[int]:
        """Messages longer than what one text may take."""
        return frozenset(i for i, size in enumerate(self.sizes) if size > self.target // _OVERSIZE)

    def shortest(self, parts: Mapping[tuple[int, int], Part], level: int) -> int:
        """Tokens of what stays if each of these parts had so many at most."""
        saved = [max(0, self._length(at, part) - level) for at, part in parts.items()]
        return self.excess + self.target - sum(saved)

    def drop_oldest(self, kept: AbstractSet[int]) -> None:
        """Drop the oldest units that are not kept until the target is met.

        The oldest may have to come back, where the next may not be the first: then more is asked
        for.
        """
        left = [0 if i in self.going else size for i, size in enumerate(self.sizes)]
        gone, wanted, most = (
            self.going,
            self.excess,
            sum(size for i, size in enumerate(left) if i not in kept),
        )
        while self.excess > 0:
            more = oldest_first(self.transcript, left, wanted, kept)
            self.going = legal(self.transcript, gone | more, kept)
            if wanted >= most:
                break
            wanted *= 2

    def clamp(
        self,
        parts: Mapping[tuple[int, int], Part],
        among: AbstractSet[int],
        room: int,
        floor: int,
        step: int = 1,
    ) -> bool:
        """Clamp the longest parts to one length, ``floor`` or more, so that ``among`` fit.

        The length is a multiple of the ``step``, or the floor.
        """
        whole = self.overhead + sum(self.sizes[i] for i in among)
        lengths = {at: self._length(at, part) for at, part in parts.items()}
        if whole <= room or not lengths:
            return False
        level = water_level(list(lengths.values()), room - whole + sum(lengths.values()))
        return self.clamp_to(parts, max(level - level % step, floor))

    def clamp_to(self, parts: Mapping[tuple[int, int], Part], level: int) -> bool:
        """Clamp every part that is longer than the level, in tokens; whether one became shorter."""
        changed = {at[0] for at, part in parts.items() if self._shorten(at, part, level)}
        for i in changed:
            self.sizes[i] = self.allowance.meter.message(
                self.transcript.messages[i].saying(self.clamped[i])
            )
        return bool(changed)

    def _length(self, at: tuple[int, int], part: Part) -> int:
        meter = self.allowance.meter
        clamped = self.clamped.get(at[0], {}).get(at[1])
        if isinstance(part, ToolCall):
            return meter.text(clamped or part.arguments) - self._frame(at, part)
        if clamped is not None:
            return meter.text(clamped)
        return meter.text(part.text) + sum(map(meter.media, _media(part)))

    def _frame(self, at: tuple[int, int], call: ToolCall) -> int:
        if at not in self.frames:
            count = self.allowance.meter.text
            self.frames[at] = count(brief(call.arguments, 0, count)) - 1
        return self.frames[at]

    def _shorten(self, at: tuple[int, int], part: Part, level: int) -> bool:
        length = self._length(at, part)
        if length <= level:
            return False
        count, message, frame = self.allowance.meter.text, self.transcript.messages[at[0]], 0
        if isinstance(part, ToolCall):
            frame = self._frame(at, part)
            text = brief(part.arguments, frame + level, count)
        else:
            text = _briefer(message, level, count) or _clamped(
                part, level, count, self.transcript.seal
            )
        if count(text) - frame >= length:
            return False
        self.clamped.setdefault(at[0], {})[at[1]] = text
        return True

    def edits(self) -> tuple[Edit, ...]:
        """What was decided, as edits."""
        found: list[Edit] = []
        if self.going:
            found.append(Drop(tuple(sorted(self.going)), "the oldest, to meet the budget"))
        for i in sorted(self.clamped.keys() - self.going):
            message = self.transcript.messages[i]
            asked = message.role == "user"
            for at, text in sorted(self.clamped[i].items()):
                spoken = asked and not message.ours and isinstance(message.parts[at], Text)
                found.append(Replace(i, at, text, _WORDS if spoken else _MIDDLE, asked))
        return tuple(found)


def _clamped(part: Part, level: int, count: Callable[[str], int], seal: Seal | None) -> str:
    """Beginning and end of the text.

    A line stands for the media of a result, which go with a change of its text.

    No white space at the end: some vendors refuse it in the last message.
    """
    media = _media(part)
    if not media:
        return _shortened(part.text, level, count, seal)
    noun = "image" if all(medium.kind == "image" for medium in media) else "attachment"
    note = f"[… {len(media)} {noun}{'s' if len(media) > 1 else ''} left out …]"
    room = level - count(note)
    text = _cut(part.text, room - 1, count) if room > 1 else ""
    return f"{text}\n{note}".lstrip("\n") if room >= 0 else "…"


def _briefer(message: Message, level: int, count: Callable[[str], int]) -> str:
    """A summary that says less, marked anew: it is known by what it says.

    Empty for what is none.
    """
    body = body_of(message)
    if body is None:
        return ""
    room = level - count(mark("", message.role))
    return mark(_cut(body, room, count), message.role)


def _shortened(text: str, level: int, count: Callable[[str], int], seal: Seal | None) -> str:
    """Beginning and end of the text.

    The reference at its end stays whole or goes: half of one leads nowhere, and one alone says
    nothing.
    """
    said, reference = parted(text, seal)
    if not reference:
        return _cut(text, level, count)
    room = level - count(f"\n{reference}")
    if room < level // 2:
        return _cut(said, level, count)
    return f"{_cut(said, room, count)}\n{reference}"


def brief(arguments: str, tokens: int, count: Callable[[str], int]) -> str:
    """The JSON object of a call's arguments with its longest values clamped, under the same keys.

    A value that is no text is clamped as the text that it is written as. Empty where there is no
    object.
    """
    try:
        found = parse(arguments)
    except ValueError:
        return ""
    values = found[0] if len(found) == 1 else None
    if not isinstance(values, dict) or not values:
        return ""
    lengths = {key: count(dump(value)) for key, value in values.items()}

    def told(level: int) -> str:
        room = level if level > _SHORT else 0
        return dump(
            {
                key: value
                if lengths[key] <= level
                else _cut(value if isinstance(value, str) else dump(value), room, count)
                for key, value in values.items()
            }
        )

    low, high = _SHORT, max(tokens, _SHORT)
    while low < high:
        level = (low + high + 1) // 2
        if count(told(level)) <= tokens:
            low = level
        else:
            high = level - 1
    return told(low)


def _answered(transcript: Transcript, i: int) -> set[str]:
    """The ids of the calls with results in the exchange of a message."""
    return {
        result.call_id for n in unit_of(transcript, i) for result in transcript.messages[n].results
    }


def _cut(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """Beginning and end of the text, or the beginning alone, with a mark; where none fits, the mark."""
    cut = head_tail(text, tokens, count) if tokens > 0 else ""
    return cut.rstrip() if "…" in cut or cut == text else "…"


def _media(part: Part) -> tuple[Media, ...]:
    return part.media if isinstance(part, ToolResult) else ()
