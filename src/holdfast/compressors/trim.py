"""The last step: the budget is met, or it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from holdfast.compressors.cuts import legal, newest, oldest_first, preferred
from holdfast.compressors.knobs import Configured
from holdfast.compressors.references import parted
from holdfast.compressors.summaries import body_of, mark
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.messages import Media, Message, Part, Text, ToolResult
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
_LAST = 16  # nor below these when the budget cannot be met anyway: a marker and a few words


@dataclass(frozen=True, slots=True)
class Trim(Configured):
    """Drop the oldest units until the target is met.

    Clamp what is oversize among those that must stay.

    System messages, pins and the newest message with its open exchange always stay; what the
    profile prefers and a summary of what has left stay while they fit. What a user or the system
    said is never clamped unless ``clamp_users`` asks for it, and a summary is not either.
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
        if self.only_when_last_is_user and not _ends_with_user(transcript):
            return Plan.skip("last_is_not_user", "the conversation does not end with a user's message")
        target = allowance.target if self.threshold is None else allowance.share(self.threshold)
        work = _Work(transcript, allowance, target)
        if work.excess <= 0:
            return Plan.skip("within_budget", "it fits already")
        firm = transcript.protected.union(newest(transcript, self.keep_recent))
        self._fit(work, firm, firm | preferred(transcript))
        edits = work.edits()
        if not edits:
            return Plan.skip("nothing_may_go", "everything that is there must stay")
        return Plan(edits, reason="trimmed")

    def _fit(self, work: _Work, firm: frozenset[int], kept: frozenset[int]) -> None:
        """What costs least first.

        The middle of what is oversize, the oldest, the preferred, the middle of all.
        """
        floor = max(_LEAST, work.target // _FLOOR)
        oversize = self._clampable(work.transcript, work.oversize)
        half, step = work.target // _OVERSIZE, max(1, work.target // _STEPS)
        work.clamp(oversize, work.staying, work.target, max(floor, half), step)
        work.clamp(self._clampable(work.transcript, kept), kept, work.room_beside_history(kept), floor)
        work.drop_oldest(kept)
        if work.excess > 0:
            work.clamp(self._clampable(work.transcript, work.staying), work.staying, work.target, floor)
        if work.excess > 0 and kept != firm:
            work.drop_oldest(firm)
        last = self._clampable(work.transcript, work.staying, summaries=True) if work.excess > 0 else {}
        least = 1 if work.shortest(last) <= work.target else _LAST
        while work.excess > 0 and work.clamp(last, work.staying, work.target, least):
            # once, but for counters whose counts of parts do not add up to that of their message
            pass
        asked = self.clamp_users_last and work.excess > 0
        words = self._clampable(work.transcript, work.staying, users=True) if asked else {}
        while work.excess > 0 and work.clamp(words, work.staying, work.target, _LAST):
            pass  # a user's own words, last of all

    def _clampable(
        self, transcript: Transcript, among: AbstractSet[int], *, summaries: bool = False, users: bool = False
    ) -> dict[tuple[int, int], Part]:
        """(message, part) -> the part, for every text of these messages that may lose its middle.

        With ``summaries`` also those of what has left, which say less then.
        """
        found: dict[tuple[int, int], Part] = {}
        for i in among if self.clamp else ():
            message = transcript.messages[i]
            summary = self._is_summary(transcript, i)
            if i in transcript.pinned or message.role == "system" or (summary and not summaries):
                continue
            for at, part in enumerate(message.parts):
                if isinstance(part, ToolResult) or (
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

    def __post_init__(self) -> None:
        self.sizes = list(self.allowance.meter.sizes(self.transcript))
        self.overhead = self.allowance.meter.overhead(self.transcript.envelope)

    @property
    def excess(self) -> int:
        """Tokens over the target."""
        return self.overhead + sum(self.sizes) - sum(self.sizes[i] for i in self.going) - self.target

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

    def shortest(self, parts: Mapping[tuple[int, int], Part]) -> int:
        """Tokens of what stays if each of these parts had one."""
        return self.excess + self.target - sum(self._length(at, part) - 1 for at, part in parts.items())

    def drop_oldest(self, kept: AbstractSet[int]) -> None:
        """Drop the oldest units that are not kept until the target is met.

        The oldest may have to come back, where the next may not be the first: then more is asked
        for.
        """
        left = [0 if i in self.going else size for i, size in enumerate(self.sizes)]
        gone, wanted, most = self.going, self.excess, sum(size for i, size in enumerate(left) if i not in kept)
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
            self.sizes[i] = self.allowance.meter.message(self.transcript.messages[i].saying(self.clamped[i]))
        return bool(changed)

    def _length(self, at: tuple[int, int], part: Part) -> int:
        meter = self.allowance.meter
        clamped = self.clamped.get(at[0], {}).get(at[1])
        if clamped is not None:
            return meter.text(clamped)
        return meter.text(part.text) + sum(map(meter.media, _media(part)))

    def _shorten(self, at: tuple[int, int], part: Part, level: int) -> bool:
        length = self._length(at, part)
        count, message = self.allowance.meter.text, self.transcript.messages[at[0]]
        text = (
            (_briefer(message, level, count) or _clamped(part, level, count, self.transcript.seal))
            if length > level
            else ""
        )
        if not text or count(text) >= length:
            return False
        self.clamped.setdefault(at[0], {})[at[1]] = text
        return True

    def edits(self) -> tuple[Edit, ...]:
        """What was decided, as edits."""
        found: list[Edit] = []
        if self.going:
            found.append(Drop(tuple(sorted(self.going)), "the oldest, to meet the budget"))
        for i in sorted(self.clamped.keys() - self.going):
            asked = self.transcript.messages[i].role == "user"
            for at, text in sorted(self.clamped[i].items()):
                found.append(Replace(i, at, text, "too long for the budget: its middle is left out", asked))
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
    text = head_tail(part.text, room - 1, count).rstrip() if room > 1 else ""
    return f"{text}\n{note}".lstrip("\n") if room >= 0 else "…"


def _briefer(message: Message, level: int, count: Callable[[str], int]) -> str:
    """A summary that says less, marked anew: it is known by what it says.

    Empty for what is none.
    """
    body = body_of(message)
    if body is None:
        return ""
    room = level - count(mark("", message.role))
    return mark(head_tail(body, room, count).rstrip() if room > 0 else "…", message.role)


def _shortened(text: str, level: int, count: Callable[[str], int], seal: Seal | None) -> str:
    """Beginning and end of the text.

    The reference at its end stays whole or goes: half of one leads nowhere.
    """
    said, reference = parted(text, seal)
    if not reference:
        return head_tail(text, level, count).rstrip() or "…"
    room = level - count(f"\n{reference}")
    body = head_tail(said, room, count).rstrip() if room > 0 else ""
    whole = f"{body}\n{reference}".lstrip("\n")
    return whole if count(whole) <= level else "…"


def _media(part: Part) -> tuple[Media, ...]:
    return part.media if isinstance(part, ToolResult) else ()


def _ends_with_user(transcript: Transcript) -> bool:
    return bool(transcript.messages) and transcript.messages[-1].role == "user"
