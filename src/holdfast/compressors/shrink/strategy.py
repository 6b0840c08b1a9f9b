"""Shrink what tools returned, by its kind and with the question in view."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from holdfast.compressors.describing import knobs
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Edit, Offload, Replace
from holdfast.kernel.errors import ConfigError, StoreError
from holdfast.kernel.flow import ask
from holdfast.kernel.ports import Ask, ContentKind, Room, Save, Shrunk
from holdfast.kernel.transcript import Transcript

from .arguments import shortened
from .candidates import INSTRUCTION_FILES, INSTRUCTION_TOOLS, Candidate, Choice
from .reference import key_in, note, referenced
from .rooms import Place, rooms
from .superseded import repeats, superseded

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

    min_tokens: int = 60
    """Shorter texts are left alone."""

    shares: tuple[float, ...] = (0.5, 0.2, 0.0)
    """The rounds: to which share of itself a text may be cut in each, before the next round begins."""

    least_tokens: int = 40
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
    """What is not done after so long is left as it is; with none, the same input always gives the same output."""

    name = "shrink"

    def __post_init__(self) -> None:
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
        choice = Choice(self.min_tokens, self.tools, self.keep_tools, self.keep_paths, self.roles)
        work = _Work(self, transcript, allowance, choice.of(transcript, allowance.meter), excess)
        for rule in (work.lossless, work.repeats, work.superseded):
            if rule.__name__ in self.rules and work.excess > 0:
                yield from rule()
        if work.excess > 0:
            yield from work.lossy()
        if not work.edits:
            return Plan.skip("nothing_to_shrink", "no tool output is left that would become smaller")
        detail = f"{len(work.edits)} texts shrunk" + (f"; {work.trouble}" if work.trouble else "")
        return Plan(tuple(work.edits[place] for place in sorted(work.edits)), reason="shrunk", detail=detail)


class _Work:
    """One run: what is still too much, and the edits so far."""

    def __init__(
        self,
        knobs: Shrink,
        transcript: Transcript,
        allowance: Allowance,
        candidates: Sequence[Candidate],
        excess: int,
    ) -> None:
        self.knobs, self.transcript, self.allowance, self.excess = knobs, transcript, allowance, excess
        self.candidates = [c for c in candidates if key_in(c.text) is None]
        self.sizes: dict[Place, int] = {(c.index, c.part): c.tokens for c in self.candidates}
        self.edits: dict[Place, Edit] = {}
        self.trouble = ""
        self._kinds: dict[Place, ContentKind] = {}
        self._until = None if knobs.seconds is None else monotonic() + knobs.seconds

    def lossless(self) -> Iterable[Ask[object]]:
        """Shorter forms of the same values, oldest first, until it fits."""
        for candidate in self._outputs():
            if self.excess <= 0 or self._late():
                return
            kind = self._kind(candidate)
            compacted = kind.compact(candidate.text)
            if compacted is not None:
                self._keep(candidate, compacted, f"{kind.name}: the same value in a shorter form")
        yield from ()

    def repeats(self) -> Generator[Ask[object], Any, None]:
        """Texts that stand again later."""
        yield from self._give_way(repeats(self._outputs()), "the same text stands later")

    def superseded(self) -> Generator[Ask[object], Any, None]:
        """Files that were read again or changed."""
        calls = [(i, call) for i, message in enumerate(self.transcript.messages) for call in message.calls]
        yield from self._give_way(superseded(self._outputs(), calls), "the file was read again or changed later")

    def lossy(self) -> Generator[Ask[object], Any, None]:
        """The most useful reading of each text in the room that it has."""
        wanted = [c for c in self.candidates if ("arguments" if c.is_arguments else "lossy") in self.knobs.rules]
        wanted = [c for c in wanted if c.index >= self._horizon(wanted)]
        given = rooms(
            wanted, self.sizes, self.transcript.newest, self.excess, self.knobs.shares, self.knobs.least_tokens
        )
        for candidate in wanted:
            room = given.get((candidate.index, candidate.part))
            if room is None or self._late():
                continue
            if candidate.is_arguments:
                text = shortened(candidate.text, room, self.allowance.meter.text)
                if text is not None:
                    self._keep(candidate, text, "long arguments of an old call: their middle is left out")
            else:
                yield from self._shrink(candidate, room)

    def _shrink(self, candidate: Candidate, room: int) -> Generator[Ask[object], Any, None]:
        count = self.allowance.meter.text
        kind = self._kind(candidate)
        key = yield from self._saved(candidate, kind.name)
        tool = self.allowance.recall_tool
        beside = count("\n" + note(Shrunk("", kind.name, "x" * 60), key, candidate.tokens, tool)) if key else 0
        inside = Room(max(1, room - beside), count, self.allowance.question)
        shrunk = kind.shrink(candidate.text, inside)
        text = referenced(shrunk, key, candidate.tokens, tool) if key else shrunk.text
        if text:
            self._keep(candidate, text, f"{kind.name}: {shrunk.omitted or 'shortened'}", key)

    def _give_way(self, found: Iterable[tuple[Candidate, str]], reason: str) -> Generator[Ask[object], Any, None]:
        for candidate, told in found:
            if self.excess <= 0:
                return
            key = yield from self._saved(candidate, "text")
            text = (
                f"{told}\n{note(Shrunk('', 'text'), key, candidate.tokens, self.allowance.recall_tool)}"
                if key
                else told
            )
            self._keep(candidate, text, reason, key)

    def _saved(self, candidate: Candidate, kind: str) -> Generator[Ask[object], Any, str]:
        """The key under which the original is kept; empty where there is no store, or none that works."""
        if not self.allowance.stored or self.trouble:
            return ""
        try:
            return (yield from ask(Save(candidate.text, kind)))
        except StoreError as fault:
            self.trouble = f"no original was saved: {fault}"
            return ""

    def _keep(self, candidate: Candidate, text: str, reason: str, key: str = "") -> None:
        """Take the text if it is smaller than what stands there now."""
        place = candidate.index, candidate.part
        saved = self.sizes[place] - self.allowance.meter.text(text)
        if saved <= 0:
            return
        self.sizes[place] -= saved
        self.excess -= saved
        edit = Replace(candidate.index, candidate.part, text, reason)
        self.edits[place] = Offload(edit.index, edit.part, text, key, reason) if key else edit

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

    def _late(self) -> bool:
        if self._until is None or monotonic() < self._until:
            return False
        self.trouble = "the time was up before all was done"
        return True
