"""The tiers of a thread: the least important segments move from hot to warm, to cold, and out.

The log has the original of each segment, so nothing is lost. Messages evicted from cold are not in
views until they are found or recalled.
"""

import json
from array import array
from collections import Counter
from collections.abc import Collection, Container, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from operator import mul
from secrets import token_hex
from typing import Any, NamedTuple

from holdfast.calls.lineup import Lineup
from holdfast.formats.payloads import compact
from holdfast.kernel.errors import CorruptError, StoreError, problem_of
from holdfast.kernel.ports import Embed
from holdfast.kernel.typed import attributes, check_type
from holdfast.memory.forms import FACTORS, HEAVY, VERBATIM, Condenser, Form
from holdfast.memory.relevance import Context, Relevance, importances
from holdfast.memory.tiers import (
    TIERS,
    Maintenance,
    Move,
    Segment,
    Tier,
    Tiers,
    TierStatistics,
    original_of,
    record_access,
    use_form,
)
from holdfast.runtime import Runtime
from holdfast.stores.protocols import set_all, settled
from holdfast.text.fit import Count
from holdfast.text.importance import has_importance_marker
from holdfast.text.similarity import unit
from holdfast.text.visible import amount

from .arguments import SessionOptions
from .log import Thread
from .state import Span, fields_of, holds
from .turns import TurnCondenser, Turns, covered, ends

_AT_ONCE = 512  # texts of one request, which take local vectors 0.1 s; the newest come first


@dataclass(slots=True)
class Likeness:
    """How similar segments are to the current topic, by vectors of an embedder.

    Without an embedder there are no vectors, and shared words are compared instead.
    """

    lineup: Lineup
    redacts: bool
    _talk: str = ""
    vectors: dict[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    """By text, each of length 1."""

    def unknown(self, segments: Iterable[Segment], talk: str) -> list[str]:
        """The texts without a vector: ``talk``, the newest text, and new or changed segments."""
        if self.lineup.embedder is None:
            return []
        self._talk = talk
        newest = sorted(segments, key=lambda each: -each.created)
        texts = dict.fromkeys(filter(str.strip, (talk, *(each.content for each in newest))))
        self.vectors = {text: self.vectors[text] for text in texts if text in self.vectors}
        return [text for text in texts if text not in self.vectors][:_AT_ONCE]

    def vectors_of(self, texts: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The vectors of the texts. Raises the HoldfastError that prevents it."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        rows: Sequence[Sequence[float]] = runtime.answer_or_raise(Embed(tuple(texts)))
        return {text: array("f", unit(row) or ()) for text, row in zip(texts, rows, strict=True)}

    def of(self, segments: Collection[Segment]) -> dict[str, float]:
        """Cosines to the talk by segment id; unknown ones have the mean.

        Empty if most are not known.
        """
        talk = self.vectors.get(self._talk, ())
        known = {
            each.id: sum(map(mul, self.vectors[each.content], talk))
            for each in segments
            if talk and each.content in self.vectors
        }
        if len(known) < len(segments) / 2:
            return {}
        mean = sum(known.values()) / len(known)
        return {each.id: known.get(each.id, mean) for each in segments}


@dataclass(frozen=True, slots=True)
class SavedTiers:
    """The tiers, and how much of the thread is in them."""

    tiers: Tiers = field(default_factory=Tiers)
    next: int = 0
    """The first message that is in none of them yet."""

    events: int = 0
    tokens: int = 0
    """The tokens of all messages at the last maintenance."""


def _segment(data: Mapping[str, Any]) -> Segment:
    fields: dict[str, Any] = {**data, "span": tuple(data["span"]) if data["span"] else None}
    return Segment(**fields)


# multiple of the size of hot that one run adds while somebody waits, which takes about 10 ms; half
# takes 4, and double 30
_TAKEN_IN = 2

RULE = "rule"
"""The writer of a form made by rules."""

FormKey = tuple[str, int]
"""A segment's id, and the level of the form."""


class WantedForm(NamedTuple):
    """A segment whose form was made by rules, and for which a model may be asked."""

    key: FormKey
    """Identifies the form without its text, which may be long."""

    text: str


@dataclass
class CondenserOrRules:
    """The caller's condenser; where it fails, rules make the form."""

    condenser: Condenser
    fault: str = ""
    """The newest failure that nobody has recorded yet."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form at the level."""
        try:
            form = self.condenser.condense(text, level, count)
            check_type(form, str, "condense")
        except Exception as fault:  # noqa: BLE001 - anyone's condenser
            self.fault = problem_of(fault)
            return TurnCondenser().condense(text, level, count)
        return form


class ThreadTiers:
    """Keeps the tiers of one thread up to date, each under a key of its own in the store.

    Hot is written each time, and so identifies the last writer.
    """

    def __init__(self, thread: Thread, options: SessionOptions) -> None:
        own = options.own
        self.thread, self.sizes, self._relevance = thread, own.tiers, own.relevance
        self.likeness = Likeness(options.lineup, options.redacts)
        self.behind = False
        self._loaded: SavedTiers | None = None
        self._last: str | None = ""
        """Hot as it was last read or written here."""
        self._turns = Turns(thread, own.segmentation)
        self.condenser = CondenserOrRules(own.condenser)
        self._maintenance = Maintenance(
            own.tiers, thread.meter.text, self._turns.text, self.condenser, self._turns.before
        )
        self._tokens_seen = 0
        """The tokens of the thread when new turns were last looked for."""

    @property
    def _saved(self) -> SavedTiers:
        """The tiers; read at the first use, because they may be large."""
        if self._loaded is None:
            self._loaded = SavedTiers()
            with suppress(StoreError):  # the next run tries again, and raises it
                self._reload()
        return self._loaded

    @property
    def tiers(self) -> Tiers:
        """The segments of each tier."""
        return self._saved.tiers

    def _put(self, tiers: Tiers, moves: Sequence[Move] = ()) -> None:
        self._loaded = replace(self._saved, tiers=tiers)
        self._moves += moves

    def due(self, *, patient: bool) -> bool:
        """Whether enough is new since the last run: half of the size of hot.

        Views lack nothing meanwhile, since they have the newest turns. Nothing of an agent's long
        run can be added before its turn ends; so an append that waits for the work, and is not
        ``patient``, does it only then.
        """
        state, saved = self.thread.state, self._saved
        if 2 * (state.tokens - max(self._tokens_seen, saved.tokens)) < self.sizes.hot:
            return False
        return patient or not state.calls or (state.spoke or 0) > saved.next

    def found(self, positions: Iterable[int]) -> None:
        """Record that messages were found.

        Their segments move up one tier at the next run; evicted ones are added back at once.
        """
        wanted = set(positions)
        out = {position for position in wanted if holds(self.thread.state.evicted, position)}
        self.thread.record_found(wanted - out)
        if out:
            with self._changing():
                self._readmit(sorted(out))

    def wanted_forms(self, most: int, given_up: Container[FormKey]) -> list[WantedForm]:
        """The newest segments whose form was made by rules, at most ``most``."""
        newest = sorted((*self.tiers.warm, *self.tiers.cold), key=lambda each: -each.created)
        fresh = (
            each
            for each in newest
            if "written_by" not in each.metadata and (each.id, each.level) not in given_up
        )
        # texts are read from the store, so only those of the chosen segments
        return [
            WantedForm((each.id, each.level), self._turns.condensed_of(each))
            for each in islice(fresh, most)
        ]

    def note_of(self, position: int) -> Segment | None:
        """The segment with the message at this position; None without one, or if it was deleted."""
        if position in self.thread.state.deleted:
            return None
        return next((each for each in self.tiers.all() if position in covered(each)), None)

    def unknown(self) -> list[str]:
        """The texts whose vectors are needed for the next run."""
        return self.likeness.unknown(self.tiers.all(), self._turns.newest())

    def run(self, *, force: bool = False, some: bool = False, brief: bool = False) -> None:
        """Bring the tiers up to date and within their sizes.

        With ``some``, only a part of a large backlog is added, with ``brief`` nothing from a very
        large message on, and ``behind`` says whether there is more. Raises StoreError if the tiers
        cannot be saved; the next run repeats the work.
        """
        now = self.thread.now()
        with self._changing():
            self._add_changed()
            self._put(self.tiers.adding(*self._new_turns(some=some, brief=brief)))
            self._promote(now)
            self._put(*self._maintenance.run(self.tiers, self._importances, now, force=force))

    def statistics(self) -> dict[Tier, TierStatistics]:
        """The size and capacity of each tier."""
        return self.tiers.statistics(self.sizes)

    def writers(self) -> dict[str, int]:
        """The number of warm and cold forms by writer."""
        forms = (*self.tiers.warm, *self.tiers.cold)
        return dict(Counter(str(segment.metadata.get("written_by", RULE)) for segment in forms))

    def _reload(self) -> None:
        """Read the tiers again if another session has maintained them.

        They are empty if they cannot be read.
        """
        hot = self._text("hot")
        if hot == self._last:
            return
        texts = {tier: hot if tier == "hot" else self._text(tier) for tier in TIERS}
        self._last, self._loaded = hot, SavedTiers()
        with suppress(ValueError, KeyError, TypeError):
            kept = {tier: json.loads(text) for tier, text in texts.items() if text}
            held = {tier: tuple(map(_segment, data["segments"])) for tier, data in kept.items()}
            newest = max(kept.values(), key=lambda data: data["next"], default={"next": 0})
            tokens = min(newest.get("tokens", 0), self.thread.state.tokens)
            self._loaded = SavedTiers(
                Tiers(**held), newest["next"], newest.get("events", 0), tokens
            )

    def _save(self, before: Tiers) -> None:
        """Save the tiers that differ from before. Raises StoreError if that fails."""
        run = token_hex(16)  # distinguishes another session's writes, even with the same hot tier
        head, now = attributes(self._saved, "next events tokens") | {"run": run}, self.tiers
        changed = {
            self._key(tier): compact({**head, "segments": now.of(tier)}, otherwise=fields_of)
            for tier in TIERS
            if tier == "hot" or now.of(tier) != before.of(tier)
        }
        set_all(self.thread.store, changed)
        self._last = changed[self._key("hot")]

    def _text(self, tier: Tier) -> str | None:
        try:
            return settled(self.thread.store.get(self._key(tier)))
        except CorruptError:
            return "damaged"  # treated as any text that cannot be read

    def _key(self, tier: Tier) -> str:
        return f"tier:{tier}:{self.thread.name}"

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Save the block's changes of the tiers, and append an event with its moves.

        If that fails, everything stays as it was.
        """
        self._reload()
        before = self._saved
        self._moves: list[Move] = []
        try:
            yield
            if (self.tiers, self._saved.next) != (before.tiers, before.next):
                self._save(before.tiers)
            if self._moves:
                reason = f"{amount(len(self._moves), 'segment')} changed tiers"
                self.thread.record("tiers", reason, self._facts())
        except BaseException:
            self._loaded = before
            raise

    def _facts(self) -> dict[str, Any]:
        """The facts of an event about the moves; the state uses ``evicted`` and ``readmitted``."""
        left = {segment.origin for segment in self.tiers.all()}
        out = {move.before.origin for move in self._moves if move.to is None} - left
        return {
            "moves": [
                [
                    move.before.id,
                    move.source,
                    move.to,  # null for an evicted segment
                    move.reason,
                    move.before.tokens,
                    move.after.tokens if move.after else 0,
                ]
                for move in self._moves
            ],
            "sizes": {tier: figures.size for tier, figures in self.statistics().items()},
            "evicted": sorted(map(ends, out)),
            "readmitted": sorted(
                span for span in map(ends, left) if holds(self.thread.state.evicted, span[0])
            ),
        }

    def take(self, forms: Mapping[WantedForm, Form]) -> None:
        """Replace forms made by rules with those of a model that are still wanted.

        Raises StoreError if the tiers cannot be saved.
        """
        with self._changing():
            for wanted, form in forms.items():
                name, level = wanted.key
                found = self.tiers.find(name)
                if found is None:
                    continue
                tier, segment = found
                if (
                    segment.level != level
                    or "written_by" in segment.metadata
                    or self._turns.condensed_of(segment) != wanted.text
                ):
                    continue
                taken = not form.refused and form.text != segment.content
                writer, now = self.likeness.lineup.writer if taken else RULE, self.thread.now()
                after = use_form(segment, wanted.text, form, writer, self.thread.meter.text, now)
                moves = [Move(segment, after, tier, tier, "rewritten")] if taken else []
                self._put(self.tiers.placing(tier, after), moves)

    def _add_changed(self) -> None:
        """Add the turns again whose messages were edited or deleted since the last run."""
        touched = self._turns.reworded(self._saved.events)
        self._loaded = replace(self._saved, events=self.thread.state.events)
        for segment in self.tiers.all() if touched else ():
            found = self.tiers.find(segment.id)
            if found is None or touched.isdisjoint(covered(segment)):
                continue
            pieces = [piece.id for piece in self.tiers.all() if piece.origin == segment.origin]
            tiers = self.tiers.without(*pieces)
            fresh = self._turns.segment(ends(segment.origin))
            if fresh is not None:
                used = segment.access_count
                fresh = replace(fresh, accessed=segment.accessed, access_count=used)
                tiers = tiers.placing("hot", fresh)
            to: Tier | None = "hot" if fresh else None
            self._put(tiers, [Move(segment, fresh, found[0], to, "reworded")])
        self._readmit(sorted(touched))

    def _readmit(self, positions: Sequence[int]) -> None:
        """Add the evicted turns with these positions to warm again."""
        back: list[Span] = []
        for position in positions:
            span = self._turns.evicted(position)
            if span is None or holds(back, position):
                continue
            segment = self._turns.segment(span)
            if segment is not None:
                self._put(*self._maintenance.readmit(self.tiers, segment, self.thread.now()))
                back = sorted([*back, span])

    def _promote(self, now: float) -> None:
        """Move segments found since the last run up one tier, or to hot if marked as important."""
        found = self.thread.state.take_found()
        for segment in self.tiers.all() if found else ():
            times = max(found.get(position, 0) for position in covered(segment))
            if not times:
                continue
            if segment.level == VERBATIM:
                self._put(self.tiers.placing("hot", record_access(segment, now, times)))
                continue
            whole = original_of(segment, self._turns.text(segment.origin))
            critical = segment.pinned or has_importance_marker(whole)
            promote = self._maintenance.promote
            self._put(*promote(self.tiers, segment.id, now, critical=critical, times=times))

    def _new_turns(self, *, some: bool, brief: bool) -> list[Segment]:
        """The finished turns that are in no tier yet, or some of them."""
        said, room = self.thread.state.tokens, sum(self.sizes.of(tier) for tier in TIERS)
        most = int(room * FACTORS[HEAVY][0])  # older messages would have been evicted
        start, tokens = self._saved.next, self._saved.tokens
        if said - tokens > most:
            start, tokens = self._turns.start(start, most), said - most
        portion = self.sizes.hot * _TAKEN_IN
        segments, end, self.behind = self._turns.finished(
            start, portion if some else inf, portion if brief else inf
        )
        self._tokens_seen = said
        if self.behind:
            tokens += sum(segment.tokens for segment in segments)
        elif segments:
            tokens = said
        self._loaded = replace(self._saved, next=end, tokens=tokens)
        return segments

    def _importances(self, segments: Sequence[Segment]) -> list[float]:
        """The importance of each segment for the current topic."""
        created = [segment.created for segment in self.tiers.all()]
        relevance = self._relevance or Relevance.for_span(max(created) - min(created))
        context = replace(Context.of(self._turns.newest()), meaning=self.likeness.of(segments))
        return [each.score for each in importances(segments, context, max(created), relevance)]
