"""The tiers of a thread: what matters least moves from hot to warm, to cold, and out.

The original of a segment is the log itself, so that nothing is lost whatever a tier forgets. What
was evicted from cold is no candidate of a fit any more, until somebody finds or recalls it.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from operator import mul
from typing import Any, cast
from uuid import uuid4

from holdfast.calls.lineup import Lineup
from holdfast.kernel.errors import CorruptError, HoldfastError, StoreError
from holdfast.kernel.ports import Embed
from holdfast.memory.forms import HEAVY, VERBATIM, Condenser, Form
from holdfast.memory.relevance import Context, Relevance, importances
from holdfast.memory.tiers import (
    TIERS,
    Maintenance,
    Move,
    Segment,
    Tier,
    Tiers,
    TierSizes,
    TierStatistics,
    original_of,
    read,
    reformed,
)
from holdfast.runtime import Runtime
from holdfast.stores.protocols import SetsMany
from holdfast.text.importance import has_importance_marker
from holdfast.text.similarity import unit
from holdfast.text.visible import amount

from .log import Thread, settled
from .state import Span, holds
from .turns import Turns, covered, ends

_AT_ONCE = 512  # texts of one request; the newest come first


@dataclass(slots=True)
class Likeness:
    """Holds the vectors of the segments.

    Without an embedder there are none, and their words stand in.
    """

    lineup: Lineup
    redacts: bool = False
    _talk: str = ""
    _vectors: dict[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    """By text, each of length 1."""

    def unknown(self, segments: Iterable[Segment], talk: str) -> list[str]:
        """The texts whose vectors are missing: of the talk, and of new or changed segments."""
        if self.lineup.embedder is None:
            return []
        self._talk = talk
        newest = sorted(segments, key=lambda each: -each.created)
        texts = dict.fromkeys(
            text for text in (talk, *(each.content for each in newest)) if text.strip()
        )
        self._vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        return [text for text in texts if text not in self._vectors][:_AT_ONCE]

    def asked(self, texts: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The vectors of the texts. Raises ModelError, or what else stands in the way."""
        answer = Runtime(self.lineup, redacts=self.redacts).answer(Embed(tuple(texts)))
        if isinstance(answer, HoldfastError):
            raise answer
        rows = cast("Sequence[Sequence[float]]", answer)
        return {text: array("f", unit(row) or ()) for text, row in zip(texts, rows, strict=True)}

    def take(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Know these from now on."""
        self._vectors |= vectors

    def of(self, segments: Collection[Segment]) -> dict[str, float]:
        """Cosines to the talk by the segment's id; of what is not known yet their mean.

        Empty if that is most.
        """
        talk = self._vectors.get(self._talk, ())
        known = {
            each.id: sum(map(mul, self._vectors[each.content], talk))
            for each in segments
            if talk and each.content in self._vectors
        }
        if len(known) < len(segments) / 2:
            return {}
        mean = sum(known.values()) / len(known)
        return {each.id: known.get(each.id, mean) for each in segments}


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_FIELDS = tuple(each.name for each in fields(Segment))


@dataclass(frozen=True, slots=True)
class Shelved:
    """The tiers, and how much of the thread they take into account."""

    tiers: Tiers = field(default_factory=Tiers)
    next: int = 0
    """The first message that is in none of them yet."""

    events: int = 0
    tokens: int = 0
    """Of all messages, when the tiers were tended last."""


class Shelf:
    """Reads and writes the tiers of one thread.

    Hot is written each time, and tells by that who wrote last.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._last: str | None = ""
        self._written: dict[int, tuple[Segment, str]] = {}
        """The segments that were written last, by their identity, with their JSON: most stay what
        they are."""

    def load(self) -> Shelved | None:
        """What was kept, if it is not what this shelf read or wrote last.

        Empty tiers for what cannot be read.
        """
        hot = self._text("hot")
        if hot == self._last:
            return None
        self._last = hot
        texts = {tier: self._text(tier) for tier in TIERS if tier != "hot"}
        try:
            kept = {tier: json.loads(text) for tier, text in ({"hot": hot} | texts).items() if text}
            held = {
                tier: tuple(_segment(each) for each in data["segments"])
                for tier, data in kept.items()
            }
            newest = max(kept.values(), key=lambda data: data["next"], default={"next": 0})
            return Shelved(
                Tiers(**held), newest["next"], newest.get("events", 0), newest.get("tokens", 0)
            )
        except (ValueError, KeyError, TypeError):
            return Shelved()

    def save(self, before: Tiers, now: Shelved) -> None:
        """Keep what differs from before. Raises StoreError if it cannot be kept."""
        run = uuid4().hex  # what another session wrote is told by it, even if its hot is the same
        head = _json({"next": now.next, "events": now.events, "tokens": now.tokens, "run": run})
        written = {id(each): self._line(each) for tier in TIERS for each in now.tiers.of(tier)}
        changed: dict[str, str] = {}
        for tier in TIERS:
            held = now.tiers.of(tier)
            if held != before.of(tier) or tier == "hot":
                lines = ",".join(written[id(each)][1] for each in held)
                changed[self._key(tier)] = f'{head[:-1]},"segments":[{lines}]}}'
        store = self._thread.store
        if isinstance(store, SetsMany):
            settled(store.set_many(changed))
        else:
            for key, value in changed.items():
                settled(store.set(key, value))
        self._last, self._written = changed[self._key("hot")], written

    def _line(self, segment: Segment) -> tuple[Segment, str]:
        known = self._written.get(id(segment))
        return known or (segment, _json({name: getattr(segment, name) for name in _FIELDS}))

    def _text(self, tier: Tier) -> str | None:
        try:
            return settled(self._thread.store.get(self._key(tier)))
        except CorruptError:
            return "damaged"  # as good as any text that cannot be read

    def _key(self, tier: Tier) -> str:
        return f"tier:{tier}:{self._thread.name}"


def _segment(data: Mapping[str, Any]) -> Segment:
    fields: dict[str, Any] = {**data, "span": tuple(data["span"]) if data["span"] else None}
    return Segment(**fields)


_DUE = 0.5  # of hot: what has been said since the last run, before it is worth another
_TAKEN_IN = 2  # sizes of hot that one run takes in, if it is not to have an append wait for all
_BACKLOG = 12  # sizes of everything: what is older would have been evicted

RULE = "rule"
"""The writer of a form where none that was asked for is better."""

Asked = tuple[str, int]
"""A segment's id, and the level of the form."""


@dataclass(frozen=True, slots=True)
class Owed:
    """A segment whose form is by rule, and for which a model may be asked for a better one."""

    id: str
    level: int
    text: str


class Tending:
    """Keeps the tiers of one thread."""

    def __init__(
        self, thread: Thread, sizes: TierSizes, condenser: Condenser, likeness: Likeness
    ) -> None:
        self.thread, self.sizes, self._likeness = thread, sizes, likeness
        self.tiers = Tiers()
        self.behind = False
        self._turns = Turns(thread)
        self._maintenance = Maintenance(
            sizes, thread.meter.text, self._turns.text, condenser, self._turns.before
        )
        self._shelf = Shelf(thread)
        self._next = self._events = self._tokens = self._looked = 0
        self._wanted = Counter[int]()
        self._forms: dict[Owed, tuple[str, Form]] = {}
        with suppress(StoreError):  # the next run looks again, and tells it
            self._look()

    def due(self, *, patient: bool = False) -> bool:
        """Whether enough was said since the last run.

        What waits is missed by nobody: the newest turns stand in every view as they were said. Of
        an agent more may wait, unless one is patient: a long run is one turn that still goes on,
        and views tell it in notes.
        """
        state = self.thread.state
        enough = state.tokens - max(self._looked, self._tokens) >= self.sizes.hot * _DUE
        return enough and (
            patient or not state.calls or state.tokens - self._tokens <= self.sizes.hot * _TAKEN_IN
        )

    def found(self, positions: Iterable[int]) -> None:
        """Count the access.

        At the next run what was found goes one tier up, and at once what was evicted.
        """
        wanted = set(positions)
        out = {position for position in wanted if holds(self.thread.state.evicted, position)}
        self._wanted.update(wanted - out)
        if out:
            with self._changing() as moves:
                moves.extend(self._readmitted(sorted(out)))

    def owed(self, most: int, given_up: AbstractSet[Asked]) -> list[Owed]:
        """The newest segments whose form is by rule alone, and what to ask for in its place."""
        known = {*given_up, *((owed.id, owed.level) for owed in self._forms)}
        found = [
            segment
            for segment in sorted(
                (*self.tiers.warm, *self.tiers.cold), key=lambda each: -each.created
            )
            if "written_by" not in segment.metadata and (segment.id, segment.level) not in known
        ]
        return [Owed(each.id, each.level, self._turns.condensed_of(each)) for each in found[:most]]

    def note_of(self, position: int) -> Segment | None:
        """The segment with a message that the store has lost.

        None where none is left, or it was deleted.
        """
        if position in self.thread.state.deleted:
            return None
        return next(
            (each for tier in TIERS for each in self.tiers.of(tier) if position in covered(each)),
            None,
        )

    def take(self, forms: Mapping[Owed, Form], writer: str) -> None:
        """Keep the forms that came.

        The next run puts each in its place, if it is still wanted there.
        """
        self._forms |= {owed: (writer, form) for owed, form in forms.items()}

    def unknown(self) -> list[str]:
        """The texts whose vectors are wanted before the next run."""
        segments = [segment for tier in TIERS for segment in self.tiers.of(tier)]
        return self._likeness.unknown(segments, self._turns.newest())

    @property
    def has_forms(self) -> bool:
        """Whether forms came that no run has put in their place yet."""
        return bool(self._forms)

    def run(self, *, force: bool = False, some: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date, and within their sizes; how full they are then.

        With ``some``, a larger backlog is taken in portions: ``behind`` says whether there is more
        of it. Raises StoreError where they cannot be kept; the next run does it again.
        """
        now = self.thread.now()
        with self._changing() as moves:
            moves.extend([*self._formed(now), *self._reworded(), *self._promoted(now)])
            self.tiers = self.tiers.adding(*self._fresh(some=some))
            done = self._maintenance.run(self.tiers, self._importances, now, force=force)
            self.tiers = done.tiers
            moves.extend(done.moves)
        return self.statistics()

    def statistics(self) -> dict[Tier, TierStatistics]:
        """How full the tiers are."""
        return self.tiers.statistics(self.sizes)

    def writers(self) -> dict[str, int]:
        """How many forms of warm and cold are by whom."""
        forms = (*self.tiers.warm, *self.tiers.cold)
        return dict(Counter(str(segment.metadata.get("written_by", RULE)) for segment in forms))

    @property
    def _shelved(self) -> Shelved:
        return Shelved(self.tiers, self._next, self._events, self._tokens)

    @_shelved.setter
    def _shelved(self, shelved: Shelved) -> None:
        self.tiers, self._next = shelved.tiers, shelved.next
        self._events, self._tokens = shelved.events, min(shelved.tokens, self.thread.state.tokens)

    def _look(self) -> None:
        """Take the tiers as another session left them, if one has tended them since."""
        self._shelved = self._shelf.load() or self._shelved

    @contextmanager
    def _changing(self) -> Generator[list[Move]]:
        """Keeps the tiers as they end, and tells the moves that are put into the list.

        Or all is as before.
        """
        self._look()
        before = self._shelved
        moves: list[Move] = []
        try:
            yield moves
            if (self.tiers, self._next) != (before.tiers, before.next):
                self._shelf.save(before.tiers, self._shelved)
            if moves:
                self.thread.record(
                    "tiers", f"{amount(len(moves), 'segment')} changed tiers", self._facts(moves)
                )
        except BaseException:
            self._shelved = before
            raise

    def _facts(self, moves: Sequence[Move]) -> dict[str, Any]:
        """What an event tells of the moves.

        The thread's state follows ``evicted`` and ``readmitted``.
        """
        left = {segment.origin for tier in TIERS for segment in self.tiers.of(tier)}
        out = {move.before.origin for move in moves if move.to is None} - left
        return {
            "moves": [_told(move) for move in moves],
            "sizes": {tier: figures.size for tier, figures in self.statistics().items()},
            "evicted": sorted(map(ends, out)),
            "readmitted": sorted(
                span for span in map(ends, left) if holds(self.thread.state.evicted, span[0])
            ),
        }

    def _formed(self, now: float) -> list[Move]:
        """The forms that were asked for take the place of those by rule."""
        moves: list[Move] = []
        forms, self._forms = self._forms, {}
        for owed, (writer, form) in forms.items():
            found = self.tiers.find(owed.id)
            if found is None or found[1].level != owed.level or "written_by" in found[1].metadata:
                continue
            tier, segment = found
            if self._turns.condensed_of(segment) != owed.text:
                continue
            taken = not form.refused and form.text != segment.content
            after = reformed(
                segment, owed.text, form, writer if taken else RULE, self.thread.meter.text, now
            )
            self.tiers = self.tiers.placing(tier, after)
            if taken:
                moves.append(Move(segment, after, tier, tier, "rewritten"))
        return moves

    def _original(self, segment: Segment) -> str:
        return original_of(segment, self._turns.text(segment.origin))

    def _reworded(self) -> list[Move]:
        """Turns with a message edited or deleted since the last run are taken in again."""
        touched = self._turns.reworded(self._events)
        self._events = self.thread.state.events
        moves: list[Move] = []
        for tier in TIERS if touched else ():
            for segment in self.tiers.of(tier):
                if touched.isdisjoint(covered(segment)) or self.tiers.find(segment.id) is None:
                    continue
                for piece in self._pieces(segment.origin):
                    self.tiers = self.tiers.without(piece.id)
                fresh = self._turns.segment(ends(segment.origin))
                if fresh is not None:
                    fresh = replace(
                        fresh, accessed=segment.accessed, access_count=segment.access_count
                    )
                    self.tiers = self.tiers.placing("hot", fresh)
                moves.append(Move(segment, fresh, tier, "hot" if fresh else None, "reworded"))
        return moves + self._readmitted(sorted(touched))

    def _pieces(self, origin: str) -> list[Segment]:
        return [each for tier in TIERS for each in self.tiers.of(tier) if each.origin == origin]

    def _readmitted(self, positions: Sequence[int]) -> list[Move]:
        """Of what was evicted, the turns with these positions are in warm again."""
        moves: list[Move] = []
        back: list[Span] = []
        for position in positions:
            span = self._turns.evicted(position)
            if span is None or holds(back, position):
                continue
            segment = self._turns.segment(span)
            if segment is not None:
                done = self._maintenance.readmit(self.tiers, segment, self.thread.now())
                self.tiers = done.tiers
                moves += done.moves
                back = sorted([*back, span])
        return moves

    def _promoted(self, now: float) -> list[Move]:
        """What was found since the last run goes one tier up; what is marked important goes to hot.

        Of what is in hot only the access is counted.
        """
        moves: list[Move] = []
        wanted, self._wanted = self._wanted, Counter[int]()
        for segment in (*self.tiers.hot, *self.tiers.warm, *self.tiers.cold) if wanted else ():
            times = max(
                (wanted[position] for position in covered(segment) if position in wanted), default=0
            )
            if times and segment.level == VERBATIM:
                used = replace(read(segment, now), access_count=segment.access_count + times)
                self.tiers = self.tiers.placing("hot", used)
            elif times:
                critical = segment.pinned or (
                    segment.level == HEAVY and has_importance_marker(self._original(segment))
                )
                done = self._maintenance.promote(self.tiers, segment.id, now, critical=critical)
                self.tiers = done.tiers
                moves += done.moves
        return moves

    def _fresh(self, *, some: bool) -> list[Segment]:
        """The finished turns that are in no tier yet, or some of them."""
        said, most = self.thread.state.tokens, _BACKLOG * sum(self.sizes.of(tier) for tier in TIERS)
        if said - self._tokens > most:
            self._next, self._tokens = self._turns.start(self._next, most), said - most
        portion = self.sizes.hot * _TAKEN_IN if some else None
        segments, self._next, self.behind = self._turns.finished(self._next, portion)
        self._looked = said
        if self.behind:
            self._tokens += sum(segment.tokens for segment in segments)
        elif segments:
            self._tokens = said
        return segments

    def _importances(self, segments: Sequence[Segment]) -> list[float]:
        """How much each matters beside what is being talked about now."""
        created = [segment.created for segment in segments]
        relevance = Relevance.for_span(max(created) - min(created))
        context = replace(Context.of(self._turns.newest()), meaning=self._likeness.of(segments))
        return [each.score for each in importances(segments, context, max(created), relevance)]


def _told(move: Move) -> list[Any]:
    """Segment, from, to (null for out of all tiers), why, tokens before and after."""
    after = move.after.tokens if move.after else 0
    return [move.before.id, move.source, move.to, move.reason, move.before.tokens, after]
