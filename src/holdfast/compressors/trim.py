"""The last step: meets the budget, or reports that it cannot be met."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Configured, Plan
from holdfast.kernel.edits import Drop, Edit, Replace
from holdfast.kernel.messages import Media, Message, Part, Text, ToolCall, ToolResult
from holdfast.kernel.transcript import (
    NOT_ENDED,
    Transcript,
    ends_with_user,
    legal,
    newest,
    oldest_first,
    unit_of,
)
from holdfast.selection import typed_of
from holdfast.text.fit import SENTENCE, water_level

from .references import Place, parted
from .summaries import REFERENCE, body_of, mark, preferred
from .tool_outputs import brief, cut, cut_around_answers, left_out, text_of

# Shares of the target, as divisors.
# The middle of a longer message is cut out before anything is dropped for it: a fourth kept .511 of
# recorded runs, and half .486. As much is left for older messages when the rest must stay; half and
# double of that kept .485.
_LARGE = 4
# Lengths of cut texts are multiples of it, so that they seldom change between calls, and no text is
# cut below it while something else can be cut or dropped. Half and double kept as much.
_SMALL = 16
# tokens of a mark and a few words: the rest of a text if the budget cannot be met; half and double
# kept as much
_LAST = 16

_MIDDLE = "too long for the budget: its middle is left out"
_WORDS = "the words of a user are too long for the budget: their middle is left out"


@dataclass(frozen=True, slots=True)
class Trim(Configured):
    """Drops the oldest messages until the target is met, then shortens what must stay.

    System messages, pins and the newest message with its open exchange always stay. Messages that
    the profile prefers, and a summary of dropped messages, stay while the rest can be shortened.
    User messages are shortened only with ``clamp_users_last``. Summaries and the
    arguments of answered calls are shortened when only user messages are left; arguments stay a
    JSON object with the same keys.
    """

    keep_recent: int = 0
    """The newest messages, system messages not counted, that stay under any budget."""

    only_when_last_is_user: bool = False
    """Whether a conversation that does not end with a user's message is left alone."""

    threshold: Share | None = None
    """Tokens, or share of the budget, to aim at in place of the target."""

    clamp: bool = True
    """Whether the middle of tool results and assistant texts that are too long is cut out."""

    clamp_users_last: bool = False
    """Whether user messages may be shortened when nothing else can; the profiles set this."""

    name = "trim"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """One Drop of the oldest messages, and a Replace for each shortened part."""
        if self.only_when_last_is_user and not ends_with_user(transcript):
            return Plan.skip("last_is_not_user", NOT_ENDED)
        target = allowance.target if self.threshold is None else allowance.share(self.threshold)
        work = _TrimWork(self, transcript, replace(allowance, target=target))
        if work.excess <= 0:
            return Plan.skip("within_budget", "it fits already")
        firm = transcript.protected.union(newest(transcript, self.keep_recent))
        work.fit(firm)
        edits = tuple(work.edits())
        if not edits:
            return Plan.skip("nothing_may_go", "every message must stay")
        clamps_words = any(edit.reason == _WORDS for edit in edits)
        detail, smallest = _WORDS if clamps_words else "", None
        if work.excess > max(0, allowance.limit - target):
            smallest = self._smallest(work, firm)
        return Plan(edits, reason="trimmed", detail=detail, smallest=smallest)

    def _smallest(self, missed: _TrimWork, firm: frozenset[int]) -> int:
        """The smallest budget that would do, which leaves hardly a word of what may be cut."""
        least, most = missed.shortest(missed.everything(), 1), missed.target + missed.excess
        while least < most:
            allowance = replace(missed.allowance, limit=least, target=least)
            work = _TrimWork(self, missed.transcript, allowance)
            work.fit(firm)
            if work.excess <= 0:
                break
            least += work.excess
        return min(least, most)


@dataclass
class _TrimWork:
    """The decisions so far, and the remaining excess."""

    knobs: Trim
    transcript: Transcript
    allowance: Allowance

    def __post_init__(self) -> None:
        meter = self.allowance.meter
        self.target, self.count = self.allowance.target, meter.text
        self.sizes = list(meter.sizes(self.transcript))
        self.overhead = meter.overhead(self.transcript.envelope)
        self.going = set[int]()
        self.clamped = defaultdict[int, dict[int, str]](dict)
        """The shortened texts, by message and part."""
        self._lengths: dict[Place, int] = {}

    @property
    def excess(self) -> int:
        """Tokens over the target."""
        gone = sum(self.sizes[i] for i in self.going)
        return self.overhead + sum(self.sizes) - gone - self.target

    @property
    def staying(self) -> frozenset[int]:
        """The positions that have not been dropped."""
        return frozenset(range(len(self.sizes))) - self.going

    def fit(self, firm: frozenset[int]) -> None:
        """Remove what is least costly first; ``firm`` messages are never dropped.

        In order: the middle of oversize messages, the middle of what is to stay, the oldest
        messages, the middle of what has stayed, preferred messages, and at last the middle of
        everything.
        """
        kept = firm | preferred(self.transcript)
        floor, most = max(SENTENCE, self.target // _SMALL), self.target // _LARGE
        oversize = self.clampable(i for i, size in enumerate(self.sizes) if size > most)
        step = max(1, self.target // _SMALL)
        self.clamp(oversize, max(floor, most), step)
        history = sum(size for i, size in enumerate(self.sizes) if i not in kept)
        # what must stay leaves some room for the history
        self.clamp(self.clampable(kept), floor, spare=max(0, history - most))
        # A rule may bring the oldest back, because the message after it may not be the first. Then
        # twice the excess is requested.
        wanted = self.excess
        while self.excess > 0:
            self.going = oldest_first(self.transcript, self.sizes, wanted, kept)
            if wanted >= history:
                break
            wanted *= 2
        self.clamp(self.clampable(self.staying), floor)
        if self.excess <= 0:
            return
        self.drop_preferred(firm, kept)
        everything = self.everything()
        least = 1 if self.shortest(everything, 1) <= self.allowance.limit else _LAST
        for parts in (self.clampable(self.staying, last=True), everything):
            # Repeated only if the counts of parts do not add up to the count of their message.
            while self.clamp(parts, least):
                pass

    def clampable(
        self, among: Iterable[int], *, last: bool = False, users: bool = False
    ) -> dict[Place, Part]:
        """The parts of these messages that may be shortened.

        ``last`` adds summaries and the arguments of answered calls, ``users`` user messages. A
        summary is not shortened earlier, since it would no longer be one; as the newest message it
        is shortened like any other.
        """
        found: dict[Place, Part] = {}
        transcript = self.transcript
        for i in among if self.knobs.clamp else ():
            message = transcript.messages[i]
            summary = message.ours and i not in transcript.newest
            if i in transcript.pinned or message.role == "system" or (summary and not last):
                continue
            unit = unit_of(transcript, i) if last and message.calls else ()
            answered = {each.call_id for n in unit for each in transcript.messages[n].results}
            may_cut = summary or users or message.role != "user"
            for at, part in enumerate(message.parts):
                if isinstance(part, ToolCall):
                    may_go = part.id in answered and bool(brief(part.arguments, 0, len))
                else:
                    may_go = isinstance(part, ToolResult) or (may_cut and isinstance(part, Text))
                if may_go:
                    found[i, at] = part
        return found

    def everything(self) -> dict[Place, Part]:
        """The parts that may be shortened when nothing else can."""
        return self.clampable(self.staying, last=True, users=self.knobs.clamp_users_last)

    def shortest(self, parts: Mapping[Place, Part], level: int) -> int:
        """Tokens of the remaining messages if each of these parts had at most ``level``."""
        saved = [max(0, self._length(at, part) - level) for at, part in parts.items()]
        return self.excess + self.target - sum(saved)

    def drop_preferred(self, firm: frozenset[int], kept: frozenset[int]) -> None:
        """Drop the oldest preferred messages until the rest can be shortened to the target."""
        for i in sorted(kept - firm):
            if self.shortest(self.everything(), _LAST) <= self.target:
                return
            kept -= {i}
            unit = unit_of(self.transcript, i)
            if firm.isdisjoint(unit):
                self.going = legal(self.transcript, self.going.union(unit), kept)

    def clamp(self, parts: Mapping[Place, Part], floor: int, step: int = 1, spare: int = 0) -> bool:
        """Cut the longest parts to one length so that together they lose the excess over ``spare``.

        The length is a multiple of ``step``, and at least ``floor`` tokens. Returns whether a part
        became shorter.
        """
        excess = self.excess - spare
        if excess <= 0 or not parts:
            return False
        lengths = [self._length(at, part) for at, part in parts.items()]
        level = water_level(lengths, sum(lengths) - excess)
        level = max(level - level % step, floor)
        changed = {at[0] for at, part in parts.items() if self._shorten(at, part, level)}
        for i in changed:
            now = self.transcript.messages[i].saying(self.clamped[i])
            self.sizes[i] = self.allowance.meter.message(now)
        return bool(changed)

    def _length(self, at: Place, part: Part) -> int:
        """The present size of a part that can be shortened, in tokens."""
        if at not in self._lengths:
            media = sum(map(self.allowance.meter.media, _media(part)))
            self._lengths[at] = self.count(text_of(part)) + media - self._frame(part)
        return self._lengths[at]

    def _frame(self, part: Part) -> int:
        """Tokens of the brackets and keys in the arguments of a call."""
        if not isinstance(part, ToolCall):
            return 0
        return self.count(brief(part.arguments, 0, self.count)) - 1

    def _shorten(self, at: Place, part: Part, level: int) -> bool:
        """Shorten the part if it is longer than the level; whether it became shorter."""
        length = self._length(at, part)
        if length <= level:
            return False
        frame = self._frame(part)
        if isinstance(part, ToolCall):
            text = brief(part.arguments, frame + level, self.count)
        else:
            message = self.transcript.messages[at[0]]
            text = ""
            if isinstance(part, Text) and message.role == "user" and not message.ours:
                question = self.allowance.query or typed_of(self.transcript.question)
                text = cut_around_answers(part.text, question, level, self.count).rstrip()
            text = text or self._around_gap(message, part, level)
        now = self.count(text) - frame
        if now >= length:
            return False
        self.clamped[at[0]][at[1]], self._lengths[at] = text, now
        return True

    def _around_gap(self, message: Message, part: Part, level: int) -> str:
        """The start and end of the text of a part, in about ``level`` tokens.

        The mark of a summary is renewed, because it depends on the text. The media of a result are
        dropped when its text changes, and a line names them. The reference at the end stays whole
        or is dropped: half of one cannot be resolved, and one alone says nothing.
        """
        body, media = body_of(message), _media(part)
        if body is not None:
            room = level - self.count(mark("", message.role))
            return mark(self._cut(body, room), message.role)
        if not media:
            return self._cut(part.text, level)
        note = left_out(media)
        room = level - self.count(note)
        text = cut(part.text, room - 1, self.count) if room > 1 else ""
        return f"{text}\n{note}".lstrip("\n") if room >= 0 else "…"

    def _cut(self, text: str, level: int) -> str:
        said, reference = parted(text, self.transcript.seal)
        room = level - self.count(f"\n{reference}")
        if reference and room >= level // 2:
            return f"{cut(said, room, self.count)}\n{reference}"
        kept = cut(said, level, self.count)
        whole, begun, rest = kept.rpartition(REFERENCE)  # of several, this may be half of one
        return kept if not reference or not begun or "]" in rest else f"{whole}…"

    def edits(self) -> Iterator[Edit]:
        """The decisions as edits."""
        if self.going:
            yield Drop(tuple(sorted(self.going)), "the oldest, to meet the budget")
        for i in sorted(self.clamped.keys() - self.going):
            message = self.transcript.messages[i]
            asked = message.role == "user"
            for at, text in sorted(self.clamped[i].items()):
                spoken = asked and not message.ours and isinstance(message.parts[at], Text)
                yield Replace(i, at, text, _WORDS if spoken else _MIDDLE, asked)


def _media(part: Part) -> tuple[Media, ...]:
    return part.media if isinstance(part, ToolResult) else ()
