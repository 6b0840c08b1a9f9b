"""Segments of the past, and the tiers that hold them: hot, warm and cold. Values only.

Joining the pieces of a split text gives the text again. A segment that is shortened, brought back
or split keeps its id, and its metadata record what happened.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from typing import Literal, NamedTuple

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.typed import Fraction, Positive, check_fields, check_type
from holdfast.text.fit import LONG_TOKEN, Count, clip
from holdfast.text.pieces import end_of_clause
from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS, reads_as_words, words

from .entities import entities, glimpsed, relations
from .forms import HEAVY, LIGHT, VERBATIM, Condenser, Form, RuleCondenser, room_for
from .messages import Remembered

# seconds of silence after which a new conversation begins: about an hour, in "User Session
# Identification Based on Strong Regularities in Inter-activity Time" (Halfaker et al., 2015)
_PAUSE = 3_600.0
# sentences on each side of a possible cut that are compared; with ten .920 of the names were kept
# in warm forms of recorded runs instead of .930
_AROUND = 4
# one of so many sentences or lines is tested for words, which bounds the time. Rows and code have
# none, and no topic: cut by size, .58 of the kinds of real logs are kept in cold forms instead of
# .50
_LOOKED_AT = 8
# share of the largest size that a piece has at least; with half, .929 of the names were kept in
# warm forms of recorded runs instead of .930
_LEAST_SHARE = 0.25
# characters that are searched for the end of a word; a longer run is data, and all of a long piece
# takes thirteen times as long
_LONGEST_WORD = 200


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the past, with the fields of V.3. Times are in seconds since 1970 UTC.

    ``tokens`` is the size of the content. A piece of a split segment has that segment's id as
    ``origin``, and its first and last character in it as ``span``.
    """

    id: str
    content: str
    created: float
    tokens: int
    importance: float = 0.5
    level: int = VERBATIM
    accessed: float = -1.0
    access_count: int = 0
    pinned: bool = False
    origin: str = ""
    span: tuple[int, int] | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        if self.accessed < 0:
            object.__setattr__(self, "accessed", self.created)
        if not self.origin:
            object.__setattr__(self, "origin", self.id)


Talk = Sequence[Remembered]


def by_turns(messages: Talk) -> list[list[Remembered]]:
    """One piece for each turn, which begins with a user's message."""
    return _cut(messages, lambda _, after: after.role == "user")


def by_time(messages: Talk, pause: float = _PAUSE) -> list[list[Remembered]]:
    """A new piece after each pause of more than ``pause`` seconds; unknown times do not cut."""

    def apart(before: Remembered, after: Remembered) -> bool:
        if before.said is None or after.said is None:
            return False
        return abs(after.said - before.said) > pause

    return _cut(messages, apart)


def by_entities(messages: Talk) -> list[list[Remembered]]:
    """A new piece at a message whose names do not appear in the piece so far."""
    pieces: list[list[Remembered]] = []
    known: set[str] = set()
    for message in messages:
        named = {entity.text for entity in entities(message.body)}
        if not pieces or (named and known and not named & known):
            pieces.append([])
            known = set()
        pieces[-1].append(message)
        known |= named
    return pieces


Segmentation = Literal["turns", "time", "entities"]
CUTS: Mapping[Segmentation, Callable[[Talk], list[list[Remembered]]]] = {
    "turns": by_turns,
    "time": by_time,
    "entities": by_entities,
}


def _cut(messages: Talk, apart: Callable[[Remembered, Remembered], bool]) -> list[list[Remembered]]:
    pieces = [[message] for message in messages[:1]]
    for message in messages[1:]:
        if apart(pieces[-1][-1], message):
            pieces.append([])
        pieces[-1].append(message)
    return pieces


def at_topic_shifts(text: str, most: int, count: Count) -> list[str]:
    """Cut the text between sentences where words change most, into pieces of ``most`` tokens.

    A longer sentence is cut after one of its lines, or after a word, and what does not read as
    words is cut by its size. Neighbouring blocks of sentences are compared as in TextTiling
    (Hearst, "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages", 1997).
    """
    rate = count(text) / max(1, len(text))
    pieces = [
        part for sentence in sentences(text) for part in _cut_to_size(sentence, most, count, rate)
    ]
    # the tokens before each place, about
    reach = list(accumulate((rate * len(piece) for piece in pieces), initial=0.0))

    @cache
    def said(number: int) -> frozenset[str]:
        return frozenset(words("".join(pieces[number : number + 1]))) - STOP_WORDS

    found: list[str] = []
    start = 0
    while start < len(pieces):
        end = max(start + 1, bisect_right(reach, reach[start] + most) - 1)
        if end < len(pieces) and any(map(reads_as_words, pieces[start:end:_LOOKED_AT])):
            least = min(end, bisect_left(reach, reach[start] + most * _LEAST_SHARE))
            end = _at_largest_change(range(least, end + 1), said)
        while end > start + 1 and (size := count("".join(pieces[start:end]))) > most:
            end = start + max(1, min(end - start - 1, (end - start) * most // size))
        found.append("".join(pieces[start:end]))
        start = end
    return found


def _at_largest_change(places: range, said: Callable[[int], frozenset[str]]) -> int:
    """The last of the places between sentences where their words change most."""
    nothing = frozenset[str]()

    def likeness(place: int) -> float:
        """The share of common words of both sides of a place, relative to the smaller side."""
        before = nothing.union(*map(said, range(max(0, place - _AROUND), place)))
        after = nothing.union(*map(said, range(place, place + _AROUND)))
        return len(before & after) / max(1, min(len(before), len(after)))

    return min(reversed(places), key=likeness)


def _cut_to_size(text: str, most: int, count: Count, rate: float) -> list[str]:
    """The text in parts of at most ``most`` tokens; ``rate`` is the tokens of a character."""
    if len(text.encode("utf-8", "replace")) <= most:  # a token has at least one byte
        return [text]
    parts: list[str] = []
    at = 0
    while at < len(text):
        rest = text[at : at + LONG_TOKEN * most]
        head = clip(rest, most, count, rate=rate) or rest[:1]
        if at + len(head) < len(text):
            head = head[: _joint(head)]
        parts.append(head)
        at += len(head)
    return parts


def _joint(text: str) -> int:
    """Where to cut near the end of the text: after its last line, else after a clause or a word."""
    size = len(text)
    line = text.rfind("\n", size // 2) + 1  # half of the piece is left
    return line or end_of_clause(text, max(0, size - _LONGEST_WORD), size)


def demote(
    segment: Segment,
    original: str,
    level: int,
    condenser: Condenser,
    count: Count,
    now: float,
    before: str = "",
) -> Segment:
    """Shorten the segment to the level, from its original (V.10); id, times and counts stay.

    ``before`` is text before the original, such as the speaker's name, which the condenser also
    reads. If the form is then longer than the original, the original is kept.
    """
    content = condenser.condense(before + original, level, count)
    if before and count(content) > count(original):
        content = original
    return _formed(segment, original, level, content, count, now)


def use_form(
    segment: Segment, original: str, form: Form, writer: str, count: Count, now: float
) -> Segment:
    """The segment with a form for which a model was asked.

    Its metadata have the writer (``written_by``), and why the model's form was refused, if it was.
    """
    after = _formed(segment, original, segment.level, form.text, count, now)
    told = {**after.metadata, "written_by": writer}
    return replace(after, metadata=told | ({"refused": form.refused} if form.refused else {}))


def _formed(
    segment: Segment, original: str, level: int, content: str, count: Count, now: float
) -> Segment:
    tokens, whole, seen = count(content), count(original), glimpsed(original)
    named = entities(seen, None)
    low = content.lower()
    metadata: dict[str, object] = {
        "original_length": whole,
        "compressed_length": tokens,
        "compression_ratio": whole / max(1, tokens),
        "original_entities": [entity.text for entity in named],
        "retained_entities": [
            entity.text
            for entity in named
            if entity.text in (low if entity.kind == "phrase" else content)
        ],
        "compression_level": level,
        "compression_timestamp": now,
    }
    if level == HEAVY:
        metadata["original_relationships"] = relations(seen)
    return replace(segment, content=content, tokens=tokens, level=level, metadata=metadata)


def expand(segment: Segment, original: str, count: Count, now: float, **told: object) -> Segment:
    """The segment in full again, with one more access (V.19): usually from the stored original.

    Its metadata have what is ``told`` too.
    """
    metadata = segment.metadata
    if segment.level != VERBATIM:
        metadata = {
            "was_compressed": True,
            "original_compression_level": segment.level,
            "expansion_timestamp": now,
            **told,
        }
    return replace(
        record_access(segment, now),
        content=original,
        tokens=count(original),
        level=VERBATIM,
        metadata=metadata,
    )


def record_access(segment: Segment, now: float, times: int = 1) -> Segment:
    """The segment with so many accesses more."""
    last = max(now, segment.accessed)
    return replace(segment, accessed=last, access_count=segment.access_count + times)


def split(segment: Segment, most: int, count: Count) -> list[Segment]:
    """Segments of at most ``most`` tokens whose joined contents are this one's."""
    pieces: list[Segment] = []
    start = segment.span[0] if segment.span else 0
    for number, content in enumerate(at_topic_shifts(segment.content, most, count), 1):
        span, name = (start, start + len(content)), f"{segment.id}.{number}"
        pieces.append(replace(segment, id=name, content=content, tokens=count(content), span=span))
        start = span[1]
    return pieces


def original_of(segment: Segment, whole: str) -> str:
    """The original text of the segment, given its origin's whole text."""
    return whole if segment.span is None else whole[segment.span[0] : segment.span[1]]


Tier = Literal["hot", "warm", "cold"]
TIERS: tuple[Tier, ...] = ("hot", "warm", "cold")


@dataclass(frozen=True, slots=True)
class TierSizes:
    """The sizes of the tiers in tokens, and when they are emptied (V.4 to V.7)."""

    hot: Positive = 4_000
    warm: Positive = 16_000
    cold: Positive = 64_000
    trigger: Fraction = 0.9
    """A tier that holds more than this share of its size is emptied."""
    target: Fraction = 0.7
    """A tier is emptied until it holds at most this share of its size."""
    protect_last: int = 10
    """The number of newest segments that stay in hot while they fit."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.target <= self.trigger:
            raise ConfigError(
                "the tiers cannot be emptied to this",
                place="TierSizes.target",
                advice="give 0 < target <= trigger <= 1",
            )

    def of(self, tier: Tier) -> int:
        """The size of the tier. Raises ConfigError for an unknown tier."""
        check_type(tier, Tier, "tier")
        size: int = getattr(self, tier)
        return size


class Move(NamedTuple):
    """The move of one segment, before and after; None means in no tier."""

    before: Segment
    after: Segment | None
    source: Tier | None
    to: Tier | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tiers:
    """The segments of each tier, oldest first."""

    hot: tuple[Segment, ...] = ()
    warm: tuple[Segment, ...] = ()
    cold: tuple[Segment, ...] = ()

    def of(self, tier: Tier) -> tuple[Segment, ...]:
        """The segments of the tier. Raises ConfigError for an unknown tier."""
        check_type(tier, Tier, "tier")
        held: tuple[Segment, ...] = getattr(self, tier)
        return held

    def all(self) -> tuple[Segment, ...]:
        """The segments of all tiers, hot first."""
        return (*self.hot, *self.warm, *self.cold)

    def find(self, segment_id: str) -> tuple[Tier, Segment] | None:
        """The tier and the segment with this id, or None."""
        for tier in TIERS:
            for segment in self.of(tier):
                if segment.id == segment_id:
                    return tier, segment
        return None

    def tokens(self, tier: Tier) -> int:
        """The tokens of the tier's segments."""
        return sum(segment.tokens for segment in self.of(tier))

    def adding(self, *segments: Segment) -> Tiers:
        """The tiers with these segments added at the end of hot."""
        return replace(self, hot=(*self.hot, *segments))

    def without(self, *ids: str) -> Tiers:
        """The tiers without the segments with these ids."""
        return Tiers(
            *(tuple([each for each in self.of(tier) if each.id not in ids]) for tier in TIERS)
        )

    def placing(self, tier: Tier, segment: Segment) -> Tiers:
        """The tiers with the segment in this one, ordered by time, and in no other."""
        bare = self.without(segment.id)
        placed = sorted((*bare.of(tier), segment), key=lambda each: each.created)
        return replace(bare, **{tier: tuple(placed)})

    def statistics(self, sizes: TierSizes) -> dict[Tier, TierStatistics]:
        """How full each tier is (V.23)."""
        return {
            tier: TierStatistics(self.tokens(tier), sizes.of(tier), len(self.of(tier)))
            for tier in TIERS
        }


@dataclass(frozen=True, slots=True)
class TierStatistics:
    """How full a tier is, in tokens."""

    size: int
    capacity: int
    segment_count: int

    @property
    def utilization(self) -> float:
        """The used share of the capacity, in percent."""
        return 100 * self.size / self.capacity


class Maintained(NamedTuple):
    """The tiers after maintenance, and every move in its order."""

    tiers: Tiers
    moves: tuple[Move, ...]


Importance = Callable[[Sequence[Segment]], Sequence[float]]
"""Returns the importance of each segment, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Empties tiers that are too full, hot first: the least important segments go down (V.5).

    ``original`` returns the whole text of the segment with this id, from which every form is made.
    A segment that is too long for hot is split where the topic changes.
    """

    sizes: TierSizes
    count: Count
    original: Callable[[str], str]
    condenser: Condenser = field(default_factory=RuleCondenser)
    before: Callable[[Segment], str] = field(default=lambda _: "")
    """Returns text before a piece of a split segment, such as the speaker's name."""

    def run(
        self, tiers: Tiers, importance: Importance, now: float, *, force: bool = False
    ) -> Maintained:
        """Empty each tier above its trigger; with ``force``, each above its target."""
        hot = [piece for segment in tiers.hot for piece in self._fitting(segment)]
        held = [hot, list(tiers.warm), list(tiers.cold), []]
        moves: list[Move] = []
        emptied = set(TIERS if force else ())
        while sunk := self._sink(held, importance, emptied):
            for level, segments in enumerate(held):
                for at, segment in enumerate(segments):
                    if segment.id not in sunk:
                        continue
                    before, source = sunk[segment.id]
                    if level < len(TIERS):
                        segments[at] = after = self._demoted(before, level, now)
                        moves.append(Move(before, after, source, TIERS[level], "demoted"))
                    else:
                        moves.append(Move(before, None, "cold", None, "evicted"))
            held[-1].clear()
        return Maintained(Tiers(*map(tuple, held[:-1])), tuple(moves))

    def _sink(
        self, held: Sequence[list[Segment]], importance: Importance, emptied: set[Tier]
    ) -> dict[str, tuple[Segment, Tier]]:
        """Move segments out of their tiers, not yet shortened.

        Each counts with the largest size of its form until it is known in which tier it stays: only
        that form is made. Tiers in ``emptied``, to which each tier above its trigger is added, are
        emptied to their target. Returns by id what each moved segment was, and the tier that it
        left.
        """
        sunk: dict[str, tuple[Segment, Tier]] = {}
        sizes: dict[str, int] = {}
        for level, tier in enumerate(TIERS, 1):
            for segment in self._leaving(tier, held[level - 1], importance, sizes, emptied):
                sunk.setdefault(segment.id, (segment, tier))
                size = self.count(self._whole(segment))
                sizes[segment.id] = room_for(size, min(level, HEAVY))
                insort(held[level], segment, key=lambda each: each.created)
        return sunk

    def _fitting(self, segment: Segment) -> list[Segment]:
        if segment.tokens <= self.sizes.hot * self.sizes.trigger:
            return [segment]
        return split(segment, max(1, int(self.sizes.hot * self.sizes.target)), self.count)

    def _leaving(
        self,
        tier: Tier,
        held: list[Segment],
        importance: Importance,
        arrived: Mapping[str, int],
        emptied: set[Tier],
    ) -> list[Segment]:
        """Take the segments out that go down, the least important first; record importances.

        Those that ``arrived`` from above, with the largest sizes of their forms, keep the
        importance they had there. The protected ones of hot go last, and only until it is below its
        trigger.
        """
        capacity = self.sizes.of(tier)
        trigger, target = capacity * self.sizes.trigger, capacity * self.sizes.target
        sizes = [arrived.get(segment.id, segment.tokens) for segment in held]
        size = sum(sizes)
        if size <= (target if tier in emptied else trigger):
            return []
        emptied.add(tier)
        fresh = [at for at, segment in enumerate(held) if segment.id not in arrived]
        scores = importance([held[at] for at in fresh]) if fresh else ()
        for at, score in zip(fresh, scores, strict=True):
            held[at] = replace(held[at], importance=score)
        # from here on they are protected; the newest of hot never leaves: it is still discussed
        protected = len(held) - self.sizes.protect_last if tier == "hot" else len(held)
        order = sorted(
            range(len(held) - (tier == "hot")),
            key=lambda at: (at >= protected, held[at].pinned, held[at].importance, at),
        )
        leaving: dict[int, Segment] = {}
        for at in order:
            if size <= (trigger if at >= protected else target):
                break
            leaving[at] = held[at]
            size -= sizes[at]
        held[:] = [segment for at, segment in enumerate(held) if at not in leaving]
        return list(leaving.values())

    def promote(
        self, tiers: Tiers, segment_id: str, now: float, *, critical: bool = False, times: int = 1
    ) -> Maintained:
        """Move a segment found so many ``times`` one tier up, a ``critical`` one to hot (V.20)."""
        found = tiers.find(segment_id)
        if found is None:
            return Maintained(tiers, ())
        source, segment = found
        segment = record_access(segment, now, times - 1)
        if source == "cold" and not critical:
            to: Tier = "warm"
            after = self._demoted(record_access(segment, now), LIGHT, now)
        else:
            to, after = "hot", expand(segment, self._whole(segment), self.count, now)
        return Maintained(tiers.placing(to, after), (Move(segment, after, source, to, "promoted"),))

    def _demoted(self, segment: Segment, level: int, now: float) -> Segment:
        whole, before = self._whole(segment), self.before(segment)
        return demote(segment, whole, level, self.condenser, self.count, now, before)

    def _whole(self, segment: Segment) -> str:
        """The original text of the segment."""
        if segment.level == VERBATIM:
            return segment.content
        return original_of(segment, self.original(segment.origin))

    def readmit(self, tiers: Tiers, segment: Segment, now: float) -> Maintained:
        """Put an evicted segment, which is in full, back into warm."""
        after = self._demoted(record_access(segment, now), LIGHT, now)
        return Maintained(
            tiers.placing("warm", after), (Move(segment, after, None, "warm", "readmitted"),)
        )
