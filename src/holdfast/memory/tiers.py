"""Hot, warm, cold: where segments stand, and how they move. Values in, values out."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from holdfast.kernel.errors import ConfigError

from .changing import demoted, original_of, read, recalled, split
from .clauses import Count
from .condensing import Condenser, RuleCondenser
from .segments import HEAVY, LIGHT, VERBATIM, Segment

Tier = Literal["hot", "warm", "cold"]
TIERS: tuple[Tier, ...] = ("hot", "warm", "cold")
_LEVELS: Mapping[Tier, int] = {"warm": LIGHT, "cold": HEAVY}


@dataclass(frozen=True, slots=True)
class TierSizes:
    """What the tiers hold, in tokens, and when they are emptied (V.4 to V.7)."""

    hot: int = 4_000
    warm: int = 16_000
    cold: int = 64_000
    trigger: float = 0.9
    """A tier that holds more than this share of its size is emptied,"""
    target: float = 0.7
    """until it holds at most this share."""
    protect_last: int = 10
    """Of hot the newest segments that stay, as long as the size is kept."""

    def __post_init__(self) -> None:
        for name, least in (("hot", 1), ("warm", 1), ("cold", 1), ("protect_last", 0)):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                what = "number of segments" if name == "protect_last" else "positive number of tokens"
                raise ConfigError(f"{value!r} is not a {what}", place=f"TierSizes.{name}")
        shares: list[object] = [self.target, self.trigger]
        if not all(isinstance(share, int | float) for share in shares) or not 0 < self.target <= self.trigger <= 1:
            advice = "give 0 < target <= trigger <= 1"
            raise ConfigError("the tiers cannot be emptied to this", place="TierSizes.target", advice=advice)

    def of(self, tier: Tier) -> int:
        """The size of the tier."""
        return {"hot": self.hot, "warm": self.warm, "cold": self.cold}[tier]


@dataclass(frozen=True, slots=True)
class Move:
    """One segment from tier to tier, as it was and as it is now; None stands for out of all tiers."""

    before: Segment
    after: Segment | None
    source: Tier | None
    to: Tier | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tiers:
    """What each tier holds, oldest first."""

    hot: tuple[Segment, ...] = ()
    warm: tuple[Segment, ...] = ()
    cold: tuple[Segment, ...] = ()

    def of(self, tier: Tier) -> tuple[Segment, ...]:
        """The segments of the tier. Raises ConfigError for one that there is not."""
        try:
            return {"hot": self.hot, "warm": self.warm, "cold": self.cold}[tier]
        except (KeyError, TypeError):
            advice = f"known are {', '.join(TIERS)}"
            raise ConfigError(f"there is no tier named {tier!r}", place="tier", advice=advice) from None

    def find(self, segment_id: str) -> tuple[Tier, Segment] | None:
        """The tier and the segment of this id, or None."""
        return next(((tier, each) for tier in TIERS for each in self.of(tier) if each.id == segment_id), None)

    def tokens(self, tier: Tier) -> int:
        """What the segments of the tier take."""
        return sum(segment.tokens for segment in self.of(tier))

    def adding(self, *segments: Segment) -> Tiers:
        """With the segments at the end of hot."""
        return replace(self, hot=(*self.hot, *segments))

    def without(self, segment_id: str) -> Tiers:
        """Without the segment of this id."""
        return Tiers(*(tuple([each for each in self.of(tier) if each.id != segment_id]) for tier in TIERS))

    def placing(self, tier: Tier, segment: Segment) -> Tiers:
        """With the segment in this tier by its time, and in no other place."""
        bare = self.without(segment.id)
        placed = list(bare.of(tier))
        insort(placed, segment, key=lambda each: each.created)
        return replace(bare, **{tier: tuple(placed)})

    def statistics(self, sizes: TierSizes) -> dict[Tier, TierStatistics]:
        """What V.23 tells of each tier."""
        return {tier: TierStatistics(self.tokens(tier), sizes.of(tier), len(self.of(tier))) for tier in TIERS}


@dataclass(frozen=True, slots=True)
class TierStatistics:
    """How full a tier is, in tokens."""

    size: int
    capacity: int
    segment_count: int

    @property
    def utilization(self) -> float:
        """The share of the capacity that is taken, in percent."""
        return 100 * self.size / self.capacity


@dataclass(frozen=True, slots=True)
class Maintained:
    """The tiers after maintenance, and every move in its order."""

    tiers: Tiers
    moves: tuple[Move, ...]


Importance = Callable[[Sequence[Segment]], Sequence[float]]
"""How much each of the segments matters, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Empties the tiers that are too full, hot first (V.5): what matters least goes one tier down.

    ``original`` gives the whole text of a segment's ``origin`` by its id: every form is made of that. A segment
    that is too long for hot is cut at shifts of the topic.
    """

    sizes: TierSizes
    count: Count
    original: Callable[[str], str]
    condenser: Condenser = field(default_factory=RuleCondenser)
    before: Callable[[Segment], str] = field(default=lambda _: "")
    """What a piece of a split segment goes on with, such as the name of who speaks: a condenser reads it first."""

    def run(self, tiers: Tiers, importance: Importance, now: float, *, force: bool = False) -> Maintained:
        """Every tier within its trigger; ``force`` empties to the target whatever the trigger says."""
        moves: list[Move] = []
        hot = [piece for segment in tiers.hot for piece in self._fitting(segment)]
        warm, cold = list(tiers.warm), list(tiers.cold)
        steps: tuple[tuple[Tier, list[Segment], list[Segment] | None], ...]
        steps = (("hot", hot, warm), ("warm", warm, cold), ("cold", cold, None))
        for tier, held, below in steps:
            leaving = self._leaving(tier, held, importance, force=force)
            gone = set(map(id, leaving))
            held[:] = [segment for segment in held if id(segment) not in gone]
            moves += [self._moved(segment, tier, below, now) for segment in leaving]
        return Maintained(Tiers(tuple(hot), tuple(warm), tuple(cold)), tuple(moves))

    def _fitting(self, segment: Segment) -> list[Segment]:
        if segment.tokens <= self.sizes.hot * self.sizes.trigger:
            return [segment]
        return split(segment, max(1, int(self.sizes.hot * self.sizes.target)), self.count)

    def _leaving(
        self, tier: Tier, held: Sequence[Segment], importance: Importance, *, force: bool
    ) -> list[Segment]:
        """Those that go, the least important first; of hot the newest few only while its size is not kept."""
        capacity = self.sizes.of(tier)
        high, low = capacity * self.sizes.trigger, capacity * self.sizes.target
        size = sum(segment.tokens for segment in held)
        if size <= (low if force else high):
            return []
        kept = len(held) - self.sizes.protect_last if tier == "hot" else len(held)
        scores = importance(held)
        open_to_all = range(len(held) - (tier == "hot"))  # the newest is what the talk is about
        leaving: list[Segment] = []
        for at in sorted(open_to_all, key=lambda at: (at >= kept, held[at].pinned, scores[at], at)):
            if size <= (high if at >= kept else low):
                break
            leaving.append(held[at])
            size -= held[at].tokens
        return leaving

    def _moved(self, segment: Segment, source: Tier, below: list[Segment] | None, now: float) -> Move:
        if below is None:
            return Move(segment, None, source, None, "evicted")
        to: Tier = "warm" if source == "hot" else "cold"
        after = self._demoted(segment, segment, _LEVELS[to], now)
        insort(below, after, key=lambda each: each.created)
        return Move(segment, after, source, to, "demoted")

    def promote(self, tiers: Tiers, segment_id: str, now: float, *, critical: bool = False) -> Maintained:
        """One tier up for what was found, from cold straight to hot if it is ``critical`` (V.20)."""
        found = tiers.find(segment_id)
        if found is None:
            return Maintained(tiers, ())
        source, segment = found
        if source == "cold" and not critical:
            to: Tier = "warm"
            after = self._demoted(segment, read(segment, now), LIGHT, now)
        else:
            to, after = "hot", recalled(segment, self._whole(segment), self.count, now)
        return Maintained(tiers.placing(to, after), (Move(segment, after, source, to, "promoted"),))

    def _demoted(self, segment: Segment, marked: Segment, level: int, now: float) -> Segment:
        whole, before = self._whole(segment), self.before(segment)
        return demoted(marked, whole, level, self.condenser, self.count, now, before)

    def _whole(self, segment: Segment) -> str:
        """What the segment said at first."""
        if segment.level == VERBATIM:
            return segment.content
        return original_of(segment, self.original(segment.origin))

    def readmit(self, tiers: Tiers, segment: Segment, now: float) -> Maintained:
        """To warm, for what was evicted and is wanted again; the segment is verbatim."""
        after = demoted(read(segment, now), segment.content, LIGHT, self.condenser, self.count, now)
        return Maintained(tiers.placing("warm", after), (Move(segment, after, None, "warm", "readmitted"),))
