"""Where a conversation may be cut, and where a digest of the dropped messages may stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain
from operator import attrgetter
from typing import Literal, NamedTuple, TypeVar

from holdfast.compressors.summaries import PLAIN, SKIPPED
from holdfast.kernel.budget import Meter
from holdfast.kernel.edits import Insert
from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import Transcript, may_follow, new_violation, speaks

T = TypeVar("T")


def preferred(transcript: Transcript) -> frozenset[int]:
    """Positions that stay while they fit: preferred messages, and summaries of dropped ones."""
    return transcript.preferred.union(
        i for i, message in enumerate(transcript.messages) if message.ours
    )


NOT_ENDED = "the conversation does not end with a user's message"


def ends_with_user(transcript: Transcript) -> bool:
    """Whether the newest message is a user's."""
    return bool(transcript.messages) and transcript.messages[-1].role == "user"


def start_of_newest(transcript: Transcript, count: int) -> int:
    """The position at which the newest ``count`` messages begin, without system messages."""
    others = _without_system(transcript)
    if count >= len(others):
        return 0
    return others[-count] if count else len(transcript)


def newest(transcript: Transcript, count: int) -> list[int]:
    """The positions of the newest ``count`` messages, without system messages."""
    others = _without_system(transcript)
    return others[max(0, len(others) - count) :]


def start_within(starts: Sequence[int], sizes: Sequence[int], tokens: int) -> int:
    """The earliest of the starts from which at most so many tokens follow, else the end."""
    at = len(sizes)
    for start in reversed(starts):
        tokens -= sum(sizes[start:at])
        if tokens < 0:
            break
        at = start
    return at


def _without_system(transcript: Transcript) -> list[int]:
    return [i for i, message in enumerate(transcript.messages) if message.role != "system"]


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
    going = set(range(last.stop))
    going -= firm
    return legal(transcript, going, kept)


def unit_of(transcript: Transcript, i: int) -> range:
    """The unit to which a message belongs."""
    number = bisect_right(transcript.units, i, key=attrgetter("start")) - 1
    return transcript.units[number]


def legal(transcript: Transcript, going: set[int], kept: AbstractSet[int]) -> set[int]:
    """The positions nearest to ``going`` that can be dropped; units are dropped whole.

    After a drop, the messages on both sides of the gap must be allowed to follow each other. If
    they are not, the unit after the gap is dropped too, else the one before it, but nothing
    protected or in ``kept``. If neither may be dropped, the newest unit of the gap that helps
    stays. The user's newest message stays if a rule would refuse the turns that it separates.
    """
    if not going:
        return going
    now = _grown(transcript, going, kept)
    newest_first = range(len(transcript) - 1, -1, -1)
    user = next((i for i in newest_first if speaks(transcript.messages[i])), -1)
    others = {i for i in range(user) if transcript.messages[i].role == "assistant"}
    if user not in now or others <= now:
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
        while gap and not _may_meet(transcript, staying[-1] if staying else None, unit):
            if firm.isdisjoint(unit):
                now.update(unit)
                break
            if not staying or not firm.isdisjoint(staying[-1]):
                now.difference_update(_bridge(transcript, staying[-1] if staying else None, k, now))
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
    """The newest dropped unit that can fill the gap before unit ``k``; empty if there is none.

    ``before`` is the unit on the other side of the gap.
    """
    units = transcript.units
    for j in range(k - 1, -1, -1):
        if units[j] == before:
            break
        fits = _may_meet(transcript, before, units[j]) and _may_meet(transcript, units[j], units[k])
        if fits and units[j].start in going:
            return units[j]
    return range(0)


class Placed(NamedTuple):
    """Where a digest is inserted, and its role."""

    at: int
    role: Role
    in_turn: Literal["", "before", "after"] = ""
    """Where an empty assistant message is inserted beside it, so that roles alternate."""

    def tokens(self, meter: Meter) -> int:
        """Tokens of the inserted messages beside their text."""
        count = meter.tariff.message
        return count + meter.text(SKIPPED) + meter.tariff.message if self.in_turn else count

    def inserts(self, text: str, reason: str, covers: tuple[int, int]) -> tuple[Insert, ...]:
        """The edits that insert the text."""
        told = Insert(self.at, self.role, text, reason, covers=covers)
        return self.beside(told, Insert(self.at, "assistant", SKIPPED, reason))

    def beside(self, told: T, skipped: T) -> tuple[T, ...]:
        """The digest, and what is inserted beside it, in their order."""
        pair = (skipped, told) if self.in_turn == "before" else (told, skipped)
        return pair if self.in_turn else (told,)


def placed(transcript: Transcript, going: Sequence[int], role: Role) -> Placed | None:
    """A valid place for a digest of the dropped messages, or None if there is none.

    ``going`` are their positions, ascending.
    """
    places = (going[-1] + 1, going[0])
    alone = (Placed(at, each) for at in places for each in (role, *_SPEAKERS))
    in_turn = (Placed(at, "user", side) for side in _SIDES for at in places)
    legal_ones = (each for each in chain(alone, in_turn) if _is_legal(transcript, going, each))
    return next(legal_ones, None)


_SPEAKERS: tuple[Role, ...] = ("user", "assistant")
_SIDES: tuple[Literal["before", "after"], ...] = ("before", "after")


def voice(transcript: Transcript, role: Role) -> Role:
    """The role of a digest whose wanted role is ``role``.

    Some formats have no system messages, and without a secret a digest in the assistant's role
    could not be recognised later.
    """
    bare = f"{PLAIN}\n"
    if role == "assistant" and transcript.seal and transcript.seal.sealed(bare, role) == bare:
        return "user"
    return transcript.wire.role(transcript.wire.compose(role, "notes"))


def _is_legal(transcript: Transcript, going: Sequence[int], place: Placed) -> bool:
    """Whether the new messages, and those around each gap, may follow each other."""
    roles: tuple[Role, ...] = place.beside(place.role, "assistant")
    wire, before, gone = transcript.wire, transcript.messages, frozenset(going)
    after = [message for i, message in enumerate(before) if i not in gone]
    at = place.at - bisect_left(going, place.at)
    after[at:at] = [Message(role, wire.compose(role, "notes"), wire) for role in roles]
    known = set(_neighbours(before))
    met = (pair for pair in _neighbours(after) if pair not in known)
    return all(may_follow(transcript.rules, *pair) for pair in met)


def _neighbours(messages: Iterable[Message]) -> Iterator[tuple[Message | None, Message]]:
    """Each message with the one before it, without system messages."""
    before = None
    for message in messages:
        if message.role != "system":
            yield before, message
            before = message
