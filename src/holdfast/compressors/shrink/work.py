"""One run of Shrink: what is still too much, and the edits so far."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from time import monotonic
from typing import Any

from holdfast.compressors.output_summaries import OldOutput, OutputSummaries
from holdfast.compressors.references import note
from holdfast.compressors.shrink.candidates import Candidate, Place
from holdfast.compressors.shrink.readings import Arguments, Reading, clamped, compacted, question_for, read
from holdfast.compressors.shrink.rooms import Rooms
from holdfast.compressors.shrink.superseded import repeats, superseded
from holdfast.compressors.shrink.view import View
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, Room, Save
from holdfast.kernel.transcript import Transcript

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
        candidates: Sequence[Candidate],
        view: View,
        until: float | None,
        summary_tokens: int = 0,
    ) -> None:
        self.edits: dict[Place, Replace | Offload] = {}
        self._troubles: list[str] = []
        self._transcript, self._allowance, self._view, self._until = transcript, allowance, view, until
        self._candidates, self._excess = candidates, view.excess
        self._sizes: dict[Place, int] = {c.place: c.tokens for c in candidates}
        self._saves = allowance.stored
        self._summaries = OutputSummaries(summary_tokens, allowance)
        self._question = transcript.question if allowance.query is None else allowance.query

    @property
    def trouble(self) -> str:
        """What failed, or was not done in time, each once; empty if nothing was."""
        return "; ".join(dict.fromkeys([*self._summaries.troubles, *self._troubles]))

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
        """Whether shorter forms will hardly be enough: readings, too, begin with them where they fit."""
        return self._excess > _SAVED_WITHOUT_LOSS * sum(self._sizes[c.place] for c in self._outputs())

    def _lossless(self) -> None:
        """Shorter forms of the same values, oldest first."""
        for candidate in self._outputs():
            if self._is_over():
                return
            self._compact(candidate)

    def _compact(self, candidate: Candidate, room: int | None = None) -> bool:
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
        wanted = [c for c in self._candidates if ("arguments" if c.is_arguments else "lossy") in rules]
        given = rooms.given(wanted, self._sizes, self._excess, self._view.recent)
        for candidate in wanted:
            room = given.get(candidate.place)
            if room is not None:
                if self._is_over():
                    return
                yield from (self._clamp if candidate.is_arguments else self._shrink)(candidate, room)

    def _shrink(self, candidate: Candidate, tokens: int) -> Asking:
        if tokens >= _SHORTEST_FORM * candidate.tokens and self._compact(candidate, tokens):
            return
        if self._summaries.may_ask and (yield from self._summarized(candidate, tokens)):
            return
        text, kind = candidate.text, recognise(candidate.text).name
        key = yield from self._saved(candidate, kind)
        question = question_for(candidate.text, candidate.tokens, self._question)
        room = Room(tokens, self._allowance.meter.text, question)
        shrunk = read(Reading(text, room, key, self._allowance.recall_tool if key else ""))
        if shrunk is None:
            self._keep(candidate, self._note(candidate, kind, key), f"{kind}: shortened", key)
        else:
            self._keep(candidate, shrunk.text, f"{kind}: {shrunk.omitted or 'shortened'}", key)

    def _summarized(self, candidate: Candidate, tokens: int) -> Generator[Ask[object], Any, bool]:
        """Whether a model's summary of an old output stands in its place; one of the newest is none."""
        if candidate.position >= self._view.recent:
            return False
        tool = candidate.call.name if candidate.call else ""
        old = OldOutput(candidate.position, tool, candidate.text, candidate.tokens)
        told = yield from self._summaries.of(old, tokens)
        if told is None:
            return False
        self._keep(candidate, told.text, "told by the model", told.key)
        return True

    def _clamp(self, candidate: Candidate, tokens: int) -> Asking:
        key = yield from self._saved(candidate, "json")
        reference = self._note(candidate, "arguments", key) if key else ""
        text = clamped(Arguments(candidate.text, tokens, self._allowance.meter.text, reference))
        if text is not None:
            self._keep(candidate, text, "long arguments of an old call: their middle is left out", key)

    def _give_way(self, found: Iterable[tuple[Candidate, str]], reason: str) -> Asking:
        for candidate, told in found:
            if self._is_over():
                return
            key = yield from self._saved(candidate, "text")
            text = f"{told}\n{self._note(candidate, 'text', key)}" if key else told
            self._keep(candidate, text, reason, key)

    def _note(self, candidate: Candidate, kind: str, key: str) -> str:
        return note(kind, candidate.tokens, key, tool=self._allowance.recall_tool)

    def _saved(self, candidate: Candidate, kind: str) -> Generator[Ask[object], Any, str]:
        """The key under which the original is kept; empty where there is no store, or none that works."""
        if not self._saves:
            return ""
        try:
            return (yield from ask(Save(candidate.text, kind)))
        except StoreError as fault:
            self._saves = False
            self._troubles.append(f"no original was saved from then on: {fault}")
            return ""

    def _keep(self, candidate: Candidate, text: str, reason: str, key: str = "") -> None:
        """Take the text if it is smaller than what stands there now."""
        place = candidate.place
        saved = self._sizes[place] - self._allowance.meter.text(text)
        if saved <= 0 or not text.strip():
            return
        self._sizes[place] -= saved
        self._excess -= saved
        index, part = place
        self.edits[place] = Offload(index, part, text, key, reason) if key else Replace(index, part, text, reason)

    def _outputs(self) -> list[Candidate]:
        return [c for c in self._candidates if not c.is_arguments and c.place not in self.edits]

    def _is_over(self) -> bool:
        """Whether there is nothing left to do, or no time to do it."""
        if self._excess <= 0:
            return True
        if self._until is None or monotonic() < self._until:
            return False
        self._troubles.append("the time was up before all was done")
        return True
