"""Shrink what tools returned, by its kind and with the question in view."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import ConfigError, StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, ContentKind, Room, Save
from holdfast.kernel.transcript import Transcript

from .arguments import shortened
from .candidates import INSTRUCTION_FILES, INSTRUCTION_TOOLS, Candidate, Choice, strings
from .reference import key_in, note, referenced
from .rooms import Place, rooms
from .standing import Standing
from .superseded import done, repeats, superseded

RULES = ("lossless", "repeats", "superseded", "lossy", "arguments")


@dataclass(frozen=True, slots=True)
class Shrink:
    """Tool outputs become smaller by what they are, oldest first, the newest exchange last.

    First what costs nothing: a shorter form of the same value, texts that stand twice, files that were read
    again. Then what answers the question stays, and what is rare, while the rest is counted and left out; with a
    store the original is saved before the text is written, and the text names its key.
    """

    rules: tuple[str, ...] = RULES
    """What may be done, of ``lossless``, ``repeats``, ``superseded``, ``lossy`` and ``arguments``."""

    min_tokens: int = 40
    """Shorter texts are left alone."""

    shares: tuple[float, ...] = (0.5, 0.35, 0.25, 0.15, 0.0)
    """The rounds: to which share of itself a text may be cut in each, before the next round begins."""

    least_tokens: int = 24
    """No text is cut below this."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools shrink (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = INSTRUCTION_TOOLS
    """Outputs of these tools never shrink."""

    keep_paths: tuple[str, ...] = INSTRUCTION_FILES
    """Outputs of calls that name these files never shrink."""

    roles: tuple[str, ...] = ("tool",)
    """Whose texts may shrink: ``tool``, and ``assistant`` if its own words may be shortened too."""

    seconds: float | None = None
    """What is not done after so long is left as it is, and the detail says how long it took.

    Without a limit the same input always gives the same output.
    """

    name = "shrink"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if rule not in RULES:
                raise ConfigError(f"{rule!r} is no rule", place="shrink", advice=f"known are {', '.join(RULES)}")

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each text that shrinks, or an Offload where its original is kept."""
        excess = allowance.meter.total(transcript) - allowance.target
        if excess <= 0:
            return Plan.skip("within_budget", "it fits already")
        began = monotonic()
        until = None if self.seconds is None else began + self.seconds
        choice = Choice(self.min_tokens, self.tools, self.keep_tools, self.keep_paths, self.roles)
        work = _Work(self, transcript, allowance, choice.of(transcript, allowance.meter), excess, until)
        for rule in (work.repeats, work.lossless, work.superseded):
            if rule.__name__ in self.rules:
                yield from rule()
        yield from work.lossy()
        took = "" if until is None else f" in {1_000 * (monotonic() - began):,.0f} ms"
        trouble = f"; {work.trouble}" if work.trouble else ""
        if not work.edits:
            return Plan.skip("nothing_to_shrink", f"no tool output became smaller{took}{trouble}")
        detail = f"{len(work.edits)} texts shrunk{took}{trouble}"
        return Plan(tuple(work.edits[place] for place in sorted(work.edits)), reason="shrunk", detail=detail)


Asking = Generator[Ask[object], Any, None]
"""A rule at work: what it asks goes to the runtime."""


class _Work:
    """One run: what is still too much, and the edits so far."""

    def __init__(
        self,
        knobs: Shrink,
        transcript: Transcript,
        allowance: Allowance,
        candidates: Sequence[Candidate],
        excess: int,
        until: float | None,
    ) -> None:
        self.knobs, self.transcript, self.allowance, self.excess = knobs, transcript, allowance, excess
        self.candidates = [c for c in candidates if not _is_shrunk(c)]
        self.sizes: dict[Place, int] = {(c.index, c.part): c.tokens for c in self.candidates}
        self.edits: dict[Place, Replace | Offload] = {}
        self.trouble = ""
        self._kinds: dict[Place, ContentKind] = {}
        self._until = until
        self._saves = allowance.stored
        self._standing = Standing(())
        self._question = transcript.question if allowance.query is None else allowance.query

    def repeats(self) -> Asking:
        """Texts that stand again later."""
        yield from self._give_way(repeats(self._outputs()), "the same text stands later")

    def lossless(self) -> Asking:
        """Shorter forms of the same values, oldest first."""
        for candidate in self._outputs():
            if self._over():
                return
            kind = self._kind(candidate)
            compacted = kind.compact(candidate.text)
            if compacted is not None:
                self._keep(candidate, compacted, f"{kind.name}: the same value in a shorter form")
        yield from ()

    def superseded(self) -> Asking:
        """Files that were read again or changed."""
        calls = done(self.transcript.messages)
        yield from self._give_way(superseded(self._outputs(), calls), "the file was read again or changed later")

    def lossy(self) -> Asking:
        """The most useful reading of each text in the room that it has."""
        if self._over():
            return
        wanted = [c for c in self.candidates if ("arguments" if c.is_arguments else "lossy") in self.knobs.rules]
        horizon = min(self._horizon(wanted), self.transcript.newest.start)
        wanted = [c for c in wanted if c.index >= horizon]
        given = rooms(
            wanted, self.sizes, self.transcript.newest, self.excess, self.knobs.shares, self.knobs.least_tokens
        )
        self._standing = Standing(self._texts())
        for candidate in wanted:
            room = given.get((candidate.index, candidate.part))
            if room is not None:
                if self._over():
                    return
                yield from (self._clamp if candidate.is_arguments else self._shrink)(candidate, room)

    def _shrink(self, candidate: Candidate, tokens: int) -> Asking:
        meter, kind = self.allowance.meter, self._kind(candidate)
        room = Room(tokens, meter.text, self._question, self._standing.elsewhere)
        key = yield from self._saved(candidate, kind.name)
        if key:
            shrunk = referenced(kind, candidate.text, room, key, self.allowance.recall_tool)
            text = shrunk.text if shrunk else self._note(candidate, kind.name, key)
        else:
            shrunk = kind.shrink(candidate.text, room)
            text = shrunk.text
        told = shrunk.omitted if shrunk else ""
        self._keep(candidate, text, f"{kind.name}: {told or 'shortened'}", key)

    def _clamp(self, candidate: Candidate, tokens: int) -> Asking:
        key = yield from self._saved(candidate, "json")
        reference = self._note(candidate, "arguments", key) if key else ""
        text = shortened(candidate.text, tokens, self.allowance.meter.text, reference)
        if text is not None:
            self._keep(candidate, text, "long arguments of an old call: their middle is left out", key)

    def _give_way(self, found: Iterable[tuple[Candidate, str]], reason: str) -> Asking:
        for candidate, told in found:
            if self._over():
                return
            key = yield from self._saved(candidate, "text")
            text = f"{told}\n{self._note(candidate, 'text', key)}" if key else told
            self._keep(candidate, text, reason, key)

    def _note(self, candidate: Candidate, kind: str, key: str) -> str:
        return note(kind, candidate.tokens, key, tool=self.allowance.recall_tool)

    def _saved(self, candidate: Candidate, kind: str) -> Generator[Ask[object], Any, str]:
        """The key under which the original is kept; empty where there is no store, or none that works."""
        if not self._saves:
            return ""
        try:
            return (yield from ask(Save(candidate.text, kind)))
        except StoreError as fault:
            self._saves = False
            self.trouble = f"no original was saved from then on: {fault}"
            return ""

    def _keep(self, candidate: Candidate, text: str, reason: str, key: str = "") -> None:
        """Take the text if it is smaller than what stands there now."""
        place = candidate.index, candidate.part
        saved = self.sizes[place] - self.allowance.meter.text(text)
        if saved <= 0 or not text.strip():
            return
        self.sizes[place] -= saved
        self.excess -= saved
        before = self.edits.get(place)
        self._standing.replaced(before.text if before else candidate.text, text)
        edit = Replace(candidate.index, candidate.part, text, reason)
        self.edits[place] = Offload(edit.index, edit.part, text, key, reason) if key else edit

    def _texts(self) -> Iterator[str]:
        """Every text of the conversation as it stands now."""
        for i, message in enumerate(self.transcript.messages):
            for at, part in enumerate(message.parts):
                edit = self.edits.get((i, at))
                yield edit.text if edit else part.text

    def _outputs(self) -> list[Candidate]:
        return [c for c in self.candidates if not c.is_arguments and (c.index, c.part) not in self.edits]

    def _kind(self, candidate: Candidate) -> ContentKind:
        place = candidate.index, candidate.part
        if place not in self._kinds:
            self._kinds[place] = recognise(candidate.text)
        return self._kinds[place]

    def _horizon(self, wanted: Sequence[Candidate]) -> int:
        """The first position that can still be there in the end, when everything has shrunk as far as it may.

        What is older will be dropped by a later step, whatever is done to it.
        """
        meter = self.allowance.meter
        least = list(meter.sizes(self.transcript))
        for candidate in wanted:
            least[candidate.index] -= max(0, candidate.tokens - self.knobs.least_tokens)
        left = self.allowance.target - meter.overhead(self.transcript.envelope)
        kept = self.transcript.protected | self.transcript.preferred
        left -= sum(least[i] for i in kept)
        start = len(least)
        for unit in reversed(self.transcript.units):
            left -= sum(least[i] for i in unit if i not in kept)
            if left < 0:
                break
            start = unit.start
        return start

    def _over(self) -> bool:
        """Whether there is nothing left to do, or no time to do it."""
        if self.excess <= 0:
            return True
        if self._until is None or monotonic() < self._until:
            return False
        self.trouble = "the time was up before all was done"
        return True


def _is_shrunk(candidate: Candidate) -> bool:
    """Whether the text names an original already."""
    if candidate.is_arguments:
        return any(key_in(text) for text in strings(candidate.text))
    return key_in(candidate.text) is not None
