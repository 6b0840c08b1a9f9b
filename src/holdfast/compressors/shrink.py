"""Shrink what tools returned, by its kind and with the question in view.

The oldest texts shrink first and furthest, the newest last. Rooms come in few sizes for each text,
so that a text meets the same room again when the conversation has grown a little, and what was
worked out for it, kept by the text itself, need not be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

from holdfast.compressors.cuts import preferred
from holdfast.compressors.knobs import Configured, check_knobs
from holdfast.compressors.output_summaries import OldOutput, OutputSummaries
from holdfast.compressors.references import note, referenced
from holdfast.compressors.shrink_candidates import (
    INSTRUCTION_FILES,
    INSTRUCTION_TOOLS,
    Eligible,
    Place,
    Shrinkable,
    repeats,
    shortened,
    superseded,
)
from holdfast.compressors.summaries import WorkingStore
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import Ask, Room, Shrunk
from holdfast.kernel.transcript import Transcript
from holdfast.text.memo import Memo
from holdfast.text.question import Question

RULES = ("lossless", "repeats", "superseded", "lossy", "arguments")


# of the budget: an old output of any size is cut to that before messages go for it
_ENOUGH = 1 / 16


@dataclass(frozen=True, slots=True)
class Shrink(Configured):
    """Tool outputs become smaller by what they are, oldest first, the newest exchange last.

    First what costs nothing: a shorter form of the same value, texts that stand twice, files that
    were read again. Then what answers the question stays, and what is rare, while the rest is
    counted and left out; with a store the original is saved before the text is written, and the
    text names its key.
    """

    rules: tuple[str, ...] = RULES
    """What may be done, of ``lossless``, ``repeats``, ``superseded``, ``lossy`` and
    ``arguments``."""

    min_tokens: int = 40
    """Shorter texts are left alone."""

    shares: tuple[float, ...] = (0.6, 0.25)
    """The rounds: to which share of itself a text may be cut in each, before the next round begins.

    Messages that do not fit with their outputs at the last share are left to the steps that follow.
    """

    least_tokens: int = 24
    """No text is cut below this."""

    recent_share: float = 0.25
    """The newest messages that take this share of the budget stay whole while older ones can
    shrink."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools shrink (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = INSTRUCTION_TOOLS
    """Outputs of these tools never shrink."""

    keep_paths: tuple[str, ...] = INSTRUCTION_FILES
    """Outputs of calls that name these files never shrink."""

    roles: tuple[str, ...] = ("tool",)
    """Whose texts may shrink: ``tool``, and ``assistant`` if its own words may be shortened too."""

    summary_tokens: int = 0
    """Tokens that a model's summary of an old output may take, where an excerpt would stand; 0 asks
    for none."""

    seconds: float | None = None
    """What is not done after so long is left as it is, and the detail says how long it took.

    Without a limit the same input always gives the same output.
    """

    name = "shrink"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if rule not in RULES:
                raise ConfigError(
                    f"{rule!r} is no rule", place="shrink", advice=f"known are {', '.join(RULES)}"
                )
        if not self.shares or not all(0 <= share <= 1 for share in self.shares):
            advice = "give one or more from 0 to 1"
            raise ConfigError(
                f"{self.shares!r} are no shares", place="Shrink.shares", advice=advice
            )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each text that shrinks, or an Offload where its original is kept."""
        if allowance.meter.total(transcript) <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        began = monotonic()
        until = None if self.seconds is None else began + self.seconds
        rooms = Rooms(self.shares, self.least_tokens, max(1, int(allowance.target * _ENOUGH)))
        view = view_of(transcript, allowance, rooms.floor, self.roles, self.recent_share)
        choice = Eligible(
            self.min_tokens,
            self.tools,
            self.keep_tools,
            self.keep_paths,
            self.roles,
            self.summary_tokens,
        )
        candidates = choice.of(transcript, allowance.meter, view.start)
        work = Work(transcript, allowance, candidates, view, until, self.summary_tokens)
        yield from work.done(self.rules, rooms)
        took = "" if until is None else f" in {1_000 * (monotonic() - began):,.0f} ms"
        trouble = f"; {work.trouble}" if work.trouble else ""
        if not work.edits:
            return Plan.skip("nothing_to_shrink", f"no tool output became smaller{took}{trouble}")
        texts = f"{len(work.edits):,} text{'s' if len(work.edits) > 1 else ''}"
        detail = f"{texts} shrunk{took}{trouble}"
        return Plan(
            tuple(work.edits[place] for place in sorted(work.edits)), reason="shrunk", detail=detail
        )


_SAVED_WITHOUT_LOSS = 0.35  # of the outputs: more than their shorter forms usually save in all


_SHORTEST_FORM = 0.4  # of a text: no shorter form is looked for in less room


Asking = Generator[Ask[object], Any, None]
"""A rule at work: what it asks goes to the runtime."""


class Work:
    """What is still too much, and the edits so far."""

    def __init__(
        self,
        transcript: Transcript,
        allowance: Allowance,
        candidates: Sequence[Shrinkable],
        view: ShrinkView,
        until: float | None,
        summary_tokens: int = 0,
    ) -> None:
        self.edits: dict[Place, Replace | Offload] = {}
        self._troubles: list[str] = []
        self._transcript, self._allowance, self._view, self._until = (
            transcript,
            allowance,
            view,
            until,
        )
        self._candidates, self._excess = candidates, view.excess
        self._sizes: dict[Place, int] = {c.place: c.tokens for c in candidates}
        self._originals = WorkingStore(allowance.stored)
        self._summaries = OutputSummaries(summary_tokens, allowance)
        self._question = transcript.question if allowance.query is None else allowance.query

    @property
    def trouble(self) -> str:
        """What failed, or was not done in time, each once; empty if nothing was."""
        return "; ".join(
            dict.fromkeys(
                filter(None, [*self._summaries.troubles, *self._troubles, self._originals.trouble])
            )
        )

    def done(self, rules: Collection[str], rooms: Rooms) -> Asking:
        """The rules, in order, until enough has gone."""
        if "repeats" in rules:
            yield from self._give_way(repeats(self._outputs()), "the same text stands later")
        lossy = bool({"lossy", "arguments"}.intersection(rules))
        if "lossless" in rules and not (lossy and self._is_beyond_lossless()):
            self._lossless()
        if "superseded" in rules:
            old = superseded(self._outputs(), self._transcript.messages)
            yield from self._give_way(old, "the file was read again or changed later")
        if lossy:
            yield from self._lossy(rules, rooms)

    def _is_beyond_lossless(self) -> bool:
        """Whether shorter forms will hardly be enough.

        Readings, too, begin with them where they fit.
        """
        return self._excess > _SAVED_WITHOUT_LOSS * sum(
            self._sizes[c.place] for c in self._outputs()
        )

    def _lossless(self) -> None:
        """Shorter forms of the same values, oldest first."""
        for candidate in self._outputs():
            if self._is_over():
                return
            self._compact(candidate)

    def _compact(self, candidate: Shrinkable, room: int | None = None) -> bool:
        """Whether the text has a shorter form that fits the room; then it stands in its place."""
        short = compacted(candidate.text)
        if short is None or (room is not None and self._allowance.meter.text(short) > room):
            return False
        kind = recognise(candidate.text).name
        self._keep(candidate, short, f"{kind}: the same value in a shorter form")
        return True

    def _lossy(self, rules: Collection[str], rooms: Rooms) -> Asking:
        """The most useful reading of each text in the room that it has."""
        if self._is_over():
            return
        wanted = [
            c for c in self._candidates if ("arguments" if c.is_arguments else "lossy") in rules
        ]
        given = rooms.given(wanted, self._sizes, self._excess, self._view.recent)
        for candidate in wanted:
            room = given.get(candidate.place)
            if room is not None:
                if self._is_over():
                    return
                yield from (self._clamp if candidate.is_arguments else self._shrink)(
                    candidate, room
                )

    def _shrink(self, candidate: Shrinkable, tokens: int) -> Asking:
        if tokens >= _SHORTEST_FORM * candidate.tokens and self._compact(candidate, tokens):
            return
        if self._summaries.may_ask and (yield from self._summarized(candidate, tokens)):
            return
        text, kind = candidate.text, recognise(candidate.text).name
        key = yield from self._originals.save(candidate.text, kind)
        question = question_for(candidate.text, candidate.tokens, self._question)
        room = Room(tokens, self._allowance.meter.text, question)
        shrunk = read((text, room, key, self._allowance.recall_tool if key else ""))
        if shrunk is None:
            self._keep(candidate, self._note(candidate, kind, key), f"{kind}: shortened", key)
        else:
            self._keep(candidate, shrunk.text, f"{kind}: {shrunk.omitted or 'shortened'}", key)

    def _summarized(self, candidate: Shrinkable, tokens: int) -> Generator[Ask[object], Any, bool]:
        """Whether a model's summary of an old output stands in its place.

        One of the newest is none.
        """
        if candidate.position >= self._view.recent:
            return False
        tool = candidate.call.name if candidate.call else ""
        old = OldOutput(candidate.position, tool, candidate.text, candidate.tokens)
        told = yield from self._summaries.of(old, tokens)
        if told is None:
            return False
        self._keep(candidate, told.text, "told by the model", told.key)
        return True

    def _clamp(self, candidate: Shrinkable, tokens: int) -> Asking:
        key = yield from self._originals.save(candidate.text, "json")
        reference = self._note(candidate, "arguments", key) if key else ""
        text = clamped((candidate.text, tokens, self._allowance.meter.text, reference))
        if text is not None:
            self._keep(
                candidate, text, "long arguments of an old call: their middle is left out", key
            )

    def _give_way(self, found: Iterable[tuple[Shrinkable, str]], reason: str) -> Asking:
        for candidate, told in found:
            if self._is_over():
                return
            key = yield from self._originals.save(candidate.text, "text")
            text = f"{told}\n{self._note(candidate, 'text', key)}" if key else told
            self._keep(candidate, text, reason, key)

    def _note(self, candidate: Shrinkable, kind: str, key: str) -> str:
        return note(kind, candidate.tokens, key, tool=self._allowance.recall_tool)

    def _keep(self, candidate: Shrinkable, text: str, reason: str, key: str = "") -> None:
        """Take the text if it is smaller than what stands there now."""
        place = candidate.place
        saved = self._sizes[place] - self._allowance.meter.text(text)
        if saved <= 0 or not text.strip():
            return
        self._sizes[place] -= saved
        self._excess -= saved
        index, part = place
        self.edits[place] = (
            Offload(index, part, text, key, reason) if key else Replace(index, part, text, reason)
        )

    def _outputs(self) -> list[Shrinkable]:
        return [c for c in self._candidates if not c.is_arguments and c.place not in self.edits]

    def _is_over(self) -> bool:
        """Whether there is nothing left to do, or no time to do it."""
        if self._excess <= 0:
            return True
        if self._until is None or monotonic() < self._until:
            return False
        self._troubles.append("the time was up before all was done")
        return True


_FINE = 1_000  # tokens; a shorter text takes just what a round leaves it
# the rooms of a longer one lie so far apart: half a step, 2.4 %, of a room is lost on average
_STEP = 61, 64


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rounds in which texts are cut.

    To each of ``shares`` of what they were, the last round to ``floor``.
    """

    shares: Sequence[float]
    least: int
    """Tokens below which no text is cut."""

    enough: int
    """Tokens that the last share need not exceed, however long a text is."""

    def floor(self, tokens: int) -> int:
        """The least that a text of so many tokens has while older messages can go instead."""
        share = int(tokens * self.shares[-1])
        least = max(self.least, min(share, self.enough))
        return min(tokens, least)

    def given(
        self, candidates: Sequence[Shrinkable], sizes: Mapping[Place, int], excess: int, recent: int
    ) -> dict[Place, int]:
        """Tokens for each text that has to shrink, so that ``excess`` tokens go, or as many as can.

        Messages from position ``recent`` on come after all others, and below the floor nothing goes
        before everything else has come to it.
        """
        given: dict[Place, int] = {}
        left = excess
        older = [c for c in candidates if c.position < recent]
        newer = [c for c in candidates if c.position >= recent]
        rounds = [(among, share) for among in (older, newer) for share in (*self.shares[:-1], None)]
        for among, share in (*rounds, (older, 0.0), (newer, 0.0)):
            for candidate in among:
                if left <= 0:
                    return given
                place, tokens = candidate.place, candidate.tokens
                now = given.get(place, sizes[place])
                floor = (
                    self.floor(tokens) if share is None else max(self.least, int(tokens * share))
                )
                room = _stepped(tokens, max(floor, now - left), floor)
                if room < now:
                    given[place] = room
                    left -= now - room
        return given


def _stepped(tokens: int, room: int, floor: int) -> int:
    """The largest of a text's rooms that is no larger than what it may take."""
    if tokens < _FINE:
        return floor
    stepped, (numerator, denominator) = tokens, _STEP
    while stepped > room:
        stepped = stepped * numerator // denominator
    return max(stepped, floor)


_NEWEST = 0.5  # of the room: a newest exchange up to that stays whole before any history stays


class ShrinkView(NamedTuple):
    """From ``start`` on messages can stay, from ``recent`` on whole while others can shrink.

    ``excess``: tokens by which what can stay is too long.
    """

    start: int
    recent: int
    excess: int


def view_of(
    transcript: Transcript,
    allowance: Allowance,
    floor: Callable[[int], int],
    roles: Container[str],
    recent_share: float,
) -> ShrinkView:
    """As many new messages as fit if outputs are cut to the floor and recent ones stay whole."""
    sizes, messages = allowance.meter.sizes(transcript), transcript.messages
    kept = transcript.protected | preferred(transcript)

    def least(i: int) -> int:
        message = messages[i]
        shrinks = (
            message.role in roles
            if message.is_speech
            else message.role != "user" or message.results
        )
        return floor(sizes[i]) if shrinks and i not in transcript.pinned else sizes[i]

    left = allowance.target - allowance.meter.overhead(transcript.envelope) - sum(map(least, kept))
    newest = sum(sizes[transcript.newest.start : transcript.newest.stop])
    whole = max(int(left * recent_share), newest if newest <= left * _NEWEST else 0)
    start, recent = len(transcript), transcript.newest.start
    for unit in reversed(transcript.units):
        size = cost = paid = 0
        for i in unit:
            size += sizes[i]
            if i in kept:
                paid += least(i)
            else:
                cost += least(i)
        whole -= size
        if whole >= 0:
            recent, cost = min(recent, unit.start), size - paid
        left -= cost
        if left < 0:
            break
        start = unit.start
    staying = sum(sizes[start:]) + sum(sizes[i] for i in kept if i < start)
    excess = staying + allowance.meter.overhead(transcript.envelope) - allowance.target
    return ShrinkView(min(start, transcript.newest.start), recent, excess)


_SMALL = 1_000  # tokens: of a shorter text a question without names or numbers sets little apart
_CHARACTERS = 32_000_000  # that each memo holds


def _read(reading: tuple[str, Room, str, str]) -> Shrunk | None:
    text, room, key, tool = reading
    kind = recognise(text)
    return referenced(kind, text, room, key, tool) if key else kind.shrink(text, room)


def _clamped(arguments: tuple[str, int, Callable[[str], int], str]) -> str | None:
    return shortened(*arguments)


def _compacted(text: str) -> str | None:
    return recognise(text).compact(text)


def question_for(text: str, tokens: int, question: str) -> str:
    """What the question asks of this text: nothing, if the text says nothing of it.

    So another question that asks the same of it meets the same reading.
    """
    return _asked((text, question, tokens < _SMALL)) if question else ""


def _asked_of(key: tuple[str, str, bool]) -> str:
    text, question, is_small = key
    held = [
        term.needle for term in Question.of(question).held_by(text) if not (is_small and term.plain)
    ]
    if is_small:
        return " ".join(f'"{needle}"' for needle in sorted(held))
    return question if held else ""


compacted = Memo(_compacted, lambda text, short: len(text) + len(short or ""), _CHARACTERS)
"""The shorter form of the same value, or None."""

read = Memo(
    _read, lambda reading, shrunk: len(reading[0]) + len(shrunk.text if shrunk else ""), _CHARACTERS
)
"""The text as it fits the room with the key of its original, which the tool gives back; None where there is no
room for that."""

clamped = Memo(_clamped, lambda arguments, short: len(arguments[0]) + len(short or ""), _CHARACTERS)
"""The arguments, still JSON, with their long texts clamped to so many tokens; None where there are none."""

_asked = Memo(_asked_of, lambda key, _: len(key[0]) + len(key[1]), _CHARACTERS)
