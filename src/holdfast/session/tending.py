"""The tiers of a thread: turns become segments, and what matters least goes from hot to warm to cold and out.

The original of a segment is the log itself, so that nothing is lost whatever a tier forgets. The tiers stand in
the store under keys of their own; without them, they are made anew of the newest messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from holdfast.memory.changing import read
from holdfast.memory.condensing import Condenser
from holdfast.memory.relevance import Context, Relevance, importances
from holdfast.memory.segments import Segment, by_turns
from holdfast.memory.tiers import TIERS, Maintenance, Move, Tier, Tiers, TierSizes, TierStatistics
from holdfast.stores.capabilities import SetsMany
from holdfast.text.scoring import has_importance_marker

from .past import Recalled
from .thread import Thread, settled

_DUE = 0.2  # of hot: what has been said since the last run, before it is worth another
_AT_ONCE = 2  # sizes of hot: a larger backlog waits until somebody wants to know
_BACKLOG = 12  # sizes of everything: what is older would have been evicted
_PROMOTED = 10  # messages whose segments one recall lifts, as many as V.18 retrieves
_CONTEXT = 8  # newest messages that segments are held against
_READ = 256


class Tending:
    """Keeps the tiers of one thread."""

    def __init__(self, thread: Thread, sizes: TierSizes, condenser: Condenser) -> None:
        self.thread, self.sizes, self.condenser = thread, sizes, condenser
        self.moves = 0
        self._pending = 0
        self._seen = thread.state.messages
        self._wanted: dict[str, int] = {}
        self._tiers, self._next = self._kept()

    def noticed(self) -> None:
        """Run if enough was said since the last run, and not so much that an append would wait for it."""
        fresh = self.thread.read(range(self._seen, self.thread.state.messages))
        self._pending += sum(self.thread.meter.message(kept.message) for kept in fresh.values())
        self._seen = self.thread.state.messages
        if self.sizes.hot * _DUE <= self._pending <= self.sizes.hot * _AT_ONCE:
            self.run()

    def recalled(self, chosen: Iterable[Recalled]) -> None:
        """Count the access; at the next run what answered best goes one tier up."""
        best = sorted(chosen, key=lambda each: -each.score)[:_PROMOTED]
        found = {each.position for each in best}
        for tier in TIERS:
            for segment in self._tiers.of(tier):
                if not found.isdisjoint(_span(segment)):
                    self._wanted[segment.id] = self._wanted.get(segment.id, 0) + 1

    def run(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date, and within their sizes; how full they are then."""
        moves = self._promoted()
        fresh = self._fresh()
        now = self.thread.now()
        done = self._maintenance.run(self._tiers.adding(*fresh), self._importances, now, force=force)
        moves += done.moves
        if moves or fresh:
            before, self._tiers, self._pending = self._tiers, done.tiers, 0
            self._save(before)
        if moves:
            sizes = {tier: figures.size for tier, figures in self.statistics().items()}
            facts = {"moves": [_told(move) for move in moves], "sizes": sizes}
            self.thread.record("tiers", f"{len(moves)} segments changed their tier", facts)
        return self.statistics()

    def statistics(self) -> dict[Tier, TierStatistics]:
        """How full the tiers are."""
        return self._tiers.statistics(self.sizes)

    @property
    def _maintenance(self) -> Maintenance:
        return Maintenance(self.sizes, self.thread.meter.text, self._original, self.condenser)

    def _original(self, origin: str) -> str:
        return _text(self.thread, *_ends(origin))

    def _promoted(self) -> list[Move]:
        """What was recalled since the last run goes one tier up, and to hot what says itself that it matters.

        Of what is in hot only the access is counted.
        """
        moves: list[Move] = []
        now = self.thread.now()
        for name, times in self._wanted.items():
            found = self._tiers.find(name)
            if found is None:
                continue
            tier, segment = found
            if tier == "hot":
                used = replace(read(segment, now), access_count=segment.access_count + times)
                hot = tuple(used if each.id == name else each for each in self._tiers.hot)
                self._tiers = replace(self._tiers, hot=hot)
            else:
                critical = segment.pinned or has_importance_marker(self._original(segment.origin))
                done = self._maintenance.promote(self._tiers, name, now, critical=critical)
                self._tiers = done.tiers
                moves += done.moves
        self._wanted = {}
        return moves

    def _fresh(self) -> list[Segment]:
        """The finished turns that are in no tier yet; the newest turn is still going on."""
        end = self.thread.state.messages
        most = _BACKLOG * sum(self.sizes.of(tier) for tier in TIERS)
        start = end
        for kept in self.thread.backwards():
            if kept.position < self._next or most < 0:
                break
            most -= self.thread.meter.message(kept.message)
            start = kept.position
        messages = [kept.remembered for kept in self.thread.forwards(start) if kept.message.role != "system"]
        turns = by_turns(messages)[:-1]
        self._next = turns[-1][-1].position + 1 if turns else max(self._next, start)
        pins = set(self.thread.state.pins)
        segments: list[Segment] = []
        for turn in turns:
            text = "\n".join(message.told for message in turn)
            name = f"{turn[0].position}-{turn[-1].position}"
            pinned = not pins.isdisjoint(range(turn[0].position, turn[-1].position + 1))
            tokens = self.thread.meter.text(text)
            segments.append(Segment(name, text, turn[0].said or 0.0, tokens, pinned=pinned))
        return segments

    def _importances(self, segments: Sequence[Segment]) -> list[float]:
        """How much each matters beside what is being talked about now."""
        end = self.thread.state.messages
        text = _text(self.thread, max(0, end - _CONTEXT), end - 1)
        created = [segment.created for segment in segments]
        relevance = Relevance.for_span(max(created) - min(created))
        return [each.score for each in importances(segments, Context.of(text), max(created), relevance)]

    def _kept(self) -> tuple[Tiers, int]:
        """The tiers as they stand in the store, and the first message that is in none of them."""
        held: dict[Tier, tuple[Segment, ...]] = {}
        start = 0
        try:
            for tier in TIERS:
                data = json.loads(settled(self.thread.store.get(self._key(tier))) or '{"next": 0, "segments": []}')
                held[tier] = tuple(_segment(each) for each in data["segments"])
                start = max(start, data["next"])
        except (ValueError, KeyError, TypeError):
            return Tiers(), 0
        return Tiers(**held), start

    def _save(self, before: Tiers) -> None:
        changed: dict[str, str] = {}
        for tier in TIERS:
            if self._tiers.of(tier) != before.of(tier) or tier == "hot":
                segments = [asdict(segment) for segment in self._tiers.of(tier)]
                changed[self._key(tier)] = json.dumps({"next": self._next, "segments": segments})
        store = self.thread.store
        if isinstance(store, SetsMany):
            settled(store.set_many(changed))
        else:
            for key, value in changed.items():
                settled(store.set(key, value))

    def _key(self, tier: Tier) -> str:
        return f"tier:{tier}:{self.thread.name}"


def _segment(data: Mapping[str, Any]) -> Segment:
    fields: dict[str, Any] = {**data, "span": tuple(data["span"]) if data["span"] else None}
    return Segment(**fields)


def _ends(origin: str) -> tuple[int, int]:
    first, _, last = origin.partition("-")
    return int(first), int(last)


def _span(segment: Segment) -> range:
    first, last = _ends(segment.origin)
    return range(first, last + 1)


def _text(thread: Thread, first: int, last: int) -> str:
    found = thread.read(range(first, last + 1)).values()
    return "\n".join(kept.remembered.told for kept in found if kept.message.role != "system")


def _told(move: Move) -> list[Any]:
    """Segment, from, to (null for out), why, tokens before and after."""
    after = move.after.tokens if move.after else 0
    return [move.before.id, move.source, move.to, move.reason, move.before.tokens, after]
