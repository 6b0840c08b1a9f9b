"""The tiers of a thread: turns become segments, and what matters least goes from hot to warm to cold and out.

The original of a segment is the log itself, so that nothing is lost whatever a tier forgets. What was evicted from
cold is no candidate of a fit any more, until somebody finds or recalls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from holdfast.kernel.errors import StoreError
from holdfast.memory.changing import original_of, read, reformed
from holdfast.memory.condensing import Condenser, Form
from holdfast.memory.relevance import Context, Relevance, importances
from holdfast.memory.segments import HEAVY, VERBATIM, Segment
from holdfast.memory.tiers import TIERS, Maintenance, Move, Tier, Tiers, TierSizes, TierStatistics
from holdfast.reports.visible import amount
from holdfast.text.scoring import has_importance_marker

from .likeness import Likeness
from .shelf import Shelf, Shelved
from .spans import Span, holds
from .thread import Thread
from .turns import Turns, covered, ends

_DUE = 0.5  # of hot: what has been said since the last run, before it is worth another
_AT_ONCE = 2  # sizes of hot that one run takes in, if it is not to have an append wait for all
_BACKLOG = 12  # sizes of everything: what is older would have been evicted

RULE = "rule"
"""The writer of a form where none that was asked for is better."""

Asked = tuple[str, int]
"""A segment's id, and the level of the form."""


@dataclass(frozen=True, slots=True)
class Owed:
    """A segment whose form is by rule, where another one may be asked for: of this text, for this level."""

    id: str
    level: int
    text: str


class Tending:
    """Keeps the tiers of one thread."""

    def __init__(self, thread: Thread, sizes: TierSizes, condenser: Condenser, likeness: Likeness) -> None:
        self.thread, self.sizes, self._likeness = thread, sizes, likeness
        self.tiers = Tiers()
        self.behind = False
        self._turns = Turns(thread)
        self._maintenance = Maintenance(sizes, thread.meter.text, self._turns.text, condenser, self._turns.before)
        self._shelf = Shelf(thread)
        self._next = self._events = self._tokens = self._looked = 0
        self._wanted = Counter[int]()
        self._forms: dict[Owed, tuple[str, Form]] = {}
        with suppress(StoreError):  # the next run looks again, and tells it
            self._look()

    def due(self, *, patient: bool = False) -> bool:
        """Whether enough was said since the last run.

        What waits is missed by nobody: the newest turns stand in every view as they were said. Of an agent more
        may wait, unless one is patient: a long run is one turn that still goes on, and views tell it in notes.
        """
        state = self.thread.state
        enough = state.tokens - max(self._looked, self._tokens) >= self.sizes.hot * _DUE
        return enough and (patient or not state.calls or state.tokens - self._tokens <= self.sizes.hot * _AT_ONCE)

    def found(self, positions: Iterable[int]) -> None:
        """Count the access; at the next run what was found goes one tier up, and at once what was evicted."""
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
            for segment in sorted((*self.tiers.warm, *self.tiers.cold), key=lambda each: -each.created)
            if "written_by" not in segment.metadata and (segment.id, segment.level) not in known
        ]
        return [Owed(each.id, each.level, self._turns.condensed_of(each)) for each in found[:most]]

    def note_of(self, position: int) -> Segment | None:
        """The segment with a message that the store has lost; None where none is left, or it was deleted."""
        if position in self.thread.state.deleted:
            return None
        return next((each for tier in TIERS for each in self.tiers.of(tier) if position in covered(each)), None)

    def take(self, forms: Mapping[Owed, Form], writer: str) -> None:
        """Keep the forms that came; the next run puts each in its place, if it is still wanted there."""
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

        With ``some``, a larger backlog is taken in portions: ``behind`` says whether there is more of it.
        Raises StoreError where they cannot be kept; the next run does it again.
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
        """Keeps the tiers as they end, and tells the moves that are put into the list; or all is as before."""
        self._look()
        before = self._shelved
        moves: list[Move] = []
        try:
            yield moves
            if (self.tiers, self._next) != (before.tiers, before.next):
                self._shelf.save(before.tiers, self._shelved)
            if moves:
                self.thread.record("tiers", f"{amount(len(moves), 'segment')} changed tiers", self._facts(moves))
        except BaseException:
            self._shelved = before
            raise

    def _facts(self, moves: Sequence[Move]) -> dict[str, Any]:
        """What an event tells of the moves; the thread's state follows ``evicted`` and ``readmitted``."""
        left = {segment.origin for tier in TIERS for segment in self.tiers.of(tier)}
        out = {move.before.origin for move in moves if move.to is None} - left
        return {
            "moves": [_told(move) for move in moves],
            "sizes": {tier: figures.size for tier, figures in self.statistics().items()},
            "evicted": sorted(map(ends, out)),
            "readmitted": sorted(span for span in map(ends, left) if holds(self.thread.state.evicted, span[0])),
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
            after = reformed(segment, owed.text, form, writer if taken else RULE, self.thread.meter.text, now)
            self.tiers = self.tiers.placing(tier, after)
            if taken:
                moves.append(Move(segment, after, tier, tier, "rewritten"))
        return moves

    def _original(self, segment: Segment) -> str:
        return original_of(segment, self._turns.text(segment.origin))

    def _reworded(self) -> list[Move]:
        """Turns of which a message was edited or deleted since the last run are new again, as they stand now."""
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
                    fresh = replace(fresh, accessed=segment.accessed, access_count=segment.access_count)
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
        """What was found since the last run goes one tier up, and to hot what says itself that it matters.

        Of what is in hot only the access is counted.
        """
        moves: list[Move] = []
        wanted, self._wanted = self._wanted, Counter[int]()
        for segment in (*self.tiers.hot, *self.tiers.warm, *self.tiers.cold) if wanted else ():
            times = max((wanted[position] for position in covered(segment) if position in wanted), default=0)
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
        portion = self.sizes.hot * _AT_ONCE if some else None
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
