"""An immutable sequence of messages: its turns, its units, its rules, and where it may be cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, starmap, takewhile
from operator import attrgetter
from typing import Literal, Protocol, runtime_checkable

from .forks import cached_property
from .integrity import Rule, Rules, Violation
from .messages import Message, Messages, Parts, Role, Text, Wire

Preference = Literal["task", "newest_user"]


class Seal(Protocol):
    """Signs notes and references, and recognises those that it signed."""

    def sealed(self, text: str, role: Role) -> str:
        """The text, signed if it is a summary."""
        ...

    def knows(self, key: str) -> bool:
        """Whether a reference with this key is genuine."""
        ...


@dataclass(frozen=True)
class Transcript:
    """Messages in order, their wire and rules, and what is pinned.

    ``envelope`` is counted and never edited: the system prompt and tools of a request body.
    ``pinned`` positions may not be removed. ``prefers`` names what stays while it fits: the first
    user message (the task) and the newest one. ``seal`` recognises Holdfast's own notes.
    """

    messages: tuple[Message, ...]
    wire: Wire
    rules: Rules = ()
    envelope: Parts = ()
    pinned: frozenset[int] = field(default_factory=frozenset[int])
    prefers: tuple[Preference, ...] = ()
    seal: Seal | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.messages)

    def head(self, stop: int) -> Transcript:
        """The first ``stop`` messages, with the pins among them."""
        return replace(
            self, messages=self.messages[:stop], pinned=self.pinned.intersection(range(stop))
        )

    def reworded(self, messages: tuple[Message, ...]) -> Transcript:
        """The same conversation with other texts in the same positions; cached spans are kept."""
        after = replace(self, messages=messages)
        for name in ("units", "newest", "protected", "turns", "user_positions"):
            if name in self.__dict__:
                after.__dict__[name] = self.__dict__[name]
        return after

    @cached_property
    def units(self) -> tuple[range, ...]:
        """Spans that stay or go together: a call with its results, or one message."""
        joined, length = welds(self.rules, self.messages), len(self.messages)
        starts = [i for i in range(length) if i not in joined or i == 0]
        return tuple(starmap(range, pairwise([*starts, length])))

    @cached_property
    def newest(self) -> range:
        """The newest message with its open tool exchange, without system messages; may be empty."""
        for unit in reversed(self.units):
            if any(self.messages[i].role != "system" for i in unit):
                return unit
        return range(0)

    @cached_property
    def protected(self) -> frozenset[int]:
        """Positions that must not be dropped: system messages, pins, the newest exchange.

        Positions that a rule keeps are among them.
        """
        system = [i for i, m in enumerate(self.messages) if m.role == "system" and not m.ours]
        return self.pinned.union(system, self.newest, keeps(self.rules, self.messages))

    @cached_property
    def preferred(self) -> frozenset[int]:
        """Positions that stay while they fit."""
        found = {"task": self._asked[:1], "newest_user": self._asked[-1:]}
        return frozenset(i for name in self.prefers for i in found[name])

    @property
    def question(self) -> str:
        """The text of the newest user message, which is the default question."""
        parts = (part for i in self._asked[-1:] for part in self.messages[i].parts)
        return "\n".join(part.text for part in parts if isinstance(part, Text))

    @property
    def _asked(self) -> Sequence[int]:
        """The positions of user messages that are not summaries."""
        return [i for i in self.user_positions if not self.messages[i].ours]

    @cached_property
    def turns(self) -> tuple[range, ...]:
        """Spans from one user message to the next; what precedes the first is a turn too."""
        ends = sorted({0, *self.user_positions, len(self)})
        return tuple(starmap(range, pairwise(ends)))

    @cached_property
    def user_positions(self) -> tuple[int, ...]:
        """Positions of user messages, except those with tool results only."""
        return tuple(i for i, message in enumerate(self.messages) if message.user_speaks)


def welds(rules: Sequence[Rule], messages: Messages) -> set[int]:
    """Every position before which a rule forbids a cut."""
    return {i for rule in rules for i in rule.welds(messages)}


def keeps(rules: Sequence[Rule], messages: Messages) -> set[int]:
    """Every position that a rule keeps."""
    return {i for rule in rules for i in rule.keeps(messages)}


def violations(rules: Sequence[Rule], messages: Messages) -> list[Violation]:
    """All violations in the order of the messages."""
    found = [violation for rule in rules for violation in rule.violations(messages)]
    return sorted(found, key=lambda violation: violation.index)


def may_follow(rules: Sequence[Rule], before: Message | None, message: Message) -> bool:
    """Whether all rules allow these two messages next to each other."""
    return all(rule.may_follow(before, message) for rule in rules)


def new_violation(
    rules: Sequence[Rule], before: Messages, after: Messages, origins: Sequence[int | None]
) -> Violation | None:
    """The first violation that ``after`` has and ``before`` had not.

    ``origins`` gives the position in ``before`` of each message of ``after``, None for a new one.
    Violations that were there before are the caller's own and are allowed.
    """
    alone = [rule for rule in rules if rule.alone]
    together = [rule for rule in rules if not rule.alone]
    for i, (message, origin) in enumerate(zip(after, origins, strict=True)):
        was = [] if origin is None else [before[origin]]
        if message not in was:
            allowed = {violation.rule for violation in violations(alone, was)}
            for violation in violations(alone, [message]):
                if violation.rule not in allowed:
                    return replace(violation, index=i)
    broken = violations(together, after)
    if not broken:
        return None
    old = violations(together, before)
    known = {(violation.rule, violation.index) for violation in old}
    more = Counter(violation.rule for violation in broken) - Counter(
        violation.rule for violation in old
    )
    for violation in broken:
        origin = origins[violation.index] if origins else None
        if violation.rule in more and (violation.rule, origin) not in known:
            return violation
    return None


def unchanged(before: Transcript, after: Transcript) -> int:
    """The number of messages with which both begin."""
    pairs = zip(before.messages, after.messages, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].original == pair[1].original, pairs))


# where a conversation may be cut

NOT_ENDED = "the conversation does not end with a user's message"


def ends_with_user(transcript: Transcript) -> bool:
    """Whether the newest message is a user's."""
    return bool(transcript.messages) and transcript.messages[-1].role == "user"


def start_within(starts: Sequence[int], sizes: Sequence[int], tokens: int) -> int:
    """The earliest of the starts from which at most so many tokens follow, else the end."""
    at = len(sizes)
    for start in reversed(starts):
        tokens -= sum(sizes[start:at])
        if tokens < 0:
            break
        at = start
    return at


def start_of_newest(transcript: Transcript, count: int) -> int:
    """The position at which the newest ``count`` messages begin, without system messages."""
    others = newest(transcript, len(transcript))
    if count >= len(others):
        return 0
    return others[-count] if count else len(transcript)


def newest(transcript: Transcript, count: int) -> list[int]:
    """The positions of the newest ``count`` messages, without system messages."""
    others = [i for i, message in enumerate(transcript.messages) if message.role != "system"]
    return others[max(0, len(others) - count) :]


def oldest_first(
    transcript: Transcript, sizes: Sequence[int], excess: int, kept: AbstractSet[int]
) -> set[int]:
    """Positions of the oldest units outside ``kept`` that together free ``excess`` tokens.

    If they free less, all of them. The gap grows or shrinks if it would join two messages that may
    not follow each other.
    """
    if excess <= 0 or not sizes:
        return set()
    firm = {i for k in kept for i in unit_of(transcript, k)}
    freed = list(sizes)
    for i in firm:
        freed[i] = 0
    enough = bisect_left(list(accumulate(freed)), excess)
    last = unit_of(transcript, min(enough, len(sizes) - 1))
    return legal(transcript, set(range(last.stop)) - firm, kept)


def unit_of(transcript: Transcript, i: int) -> range:
    """The unit to which a message belongs."""
    return transcript.units[bisect_right(transcript.units, i, key=attrgetter("start")) - 1]


def legal(transcript: Transcript, going: set[int], kept: AbstractSet[int]) -> set[int]:
    """The positions nearest to ``going`` that can be dropped; units are dropped whole.

    After a drop, the messages on both sides of the gap must be allowed to follow each other. If
    they are not, the unit after the gap is dropped too, else the one before it, but nothing
    protected or in ``kept``. If neither may be dropped, the newest unit of the gap that helps
    stays, or all of it. The user's newest message stays if a rule would refuse the turns that it
    separates.
    """
    if not going:
        return going
    now = _grown(transcript, going, kept)
    user = max(transcript.user_positions, default=-1)
    answers = (i for i in range(user) if transcript.messages[i].role == "assistant")
    if user not in now or now.issuperset(answers):
        return now
    origins = [i for i in range(len(transcript)) if i not in now]
    after = [transcript.messages[i] for i in origins]
    if new_violation(transcript.rules, transcript.messages, after, origins) is None:
        return now
    words = frozenset(unit_of(transcript, user))
    return _grown(transcript, now - words, words.union(kept))


def _grown(transcript: Transcript, going: AbstractSet[int], kept: AbstractSet[int]) -> set[int]:
    now, firm = set(going), transcript.protected.union(kept)
    staying: list[range] = []
    gap = False
    for k, unit in enumerate(transcript.units):
        if unit.start in now:
            gap = True
            continue
        if transcript.messages[unit.start].role == "system" and len(unit) == 1:
            continue
        while gap:
            before = staying[-1] if staying else None
            if _may_meet(transcript, before, unit):
                break
            if firm.isdisjoint(unit):
                now.update(unit)
                break
            if before is None or not firm.isdisjoint(before):
                now.difference_update(_bridge(transcript, before, k, now))
                break
            now.update(staying.pop())
        if unit.start not in now:
            staying.append(unit)
            gap = False
    return now


def _may_meet(transcript: Transcript, before: range | None, after: range) -> bool:
    """Whether two units may follow each other; None stands for the start."""
    left, right = _speaker(transcript, reversed(before or range(0))), _speaker(transcript, after)
    return right is None or may_follow(transcript.rules, left, right)


def _speaker(transcript: Transcript, places: Iterable[int]) -> Message | None:
    """The first message at these positions that is not a system message."""
    return next(
        (transcript.messages[i] for i in places if transcript.messages[i].role != "system"), None
    )


def _bridge(transcript: Transcript, before: range | None, k: int, going: AbstractSet[int]) -> range:
    """The newest dropped unit that can fill the gap before unit ``k``; all of it if none can.

    ``before`` is the unit on the other side of the gap.
    """
    units = transcript.units
    for j in range(k - 1, -1, -1):
        if units[j] == before:
            break
        fits = _may_meet(transcript, before, units[j]) and _may_meet(transcript, units[j], units[k])
        if fits and units[j].start in going:
            return units[j]
    return range(before.stop if before else 0, units[k].start)


# what a format brings


@runtime_checkable
class Format(Wire, Protocol):
    """The message format of a vendor, with the rules of its API."""

    @property
    def rules(self) -> Rules:
        """The rules that ``read`` gives to the transcript."""
        ...

    def recognises(self, payload: object) -> bool:
        """Whether a list of messages or a request body has this format, judged by its fields."""
        ...

    def key(self, payload: object) -> str:
        """The field of a request body that holds the messages; empty for a list."""
        ...

    def read(self, payload: object, tools: object = None) -> Transcript:
        """The transcript of the payload.

        Raises FormatError or InputError, naming message and field.
        """
        ...


@runtime_checkable
class Publishing(Protocol):
    """A format whose vendor publishes the allowed fields of a message."""

    def published(self, payload: object) -> Rules:
        """The rules for these fields, given what is sent beside the messages."""
        ...


@runtime_checkable
class Continuing(Protocol):
    """A format whose requests may continue a conversation that the vendor stores."""

    def continues(self, payload: object) -> str:
        """The field that continues one; empty if the request holds the whole conversation."""
        ...
