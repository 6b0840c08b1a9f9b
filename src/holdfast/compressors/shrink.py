"""Shortens tool outputs by their kind and with the question in view, the oldest first."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.messages import ToolCall
from holdfast.kernel.ports import Room, Shrunk
from holdfast.kernel.transcript import Transcript
from holdfast.text.fit import SENTENCE
from holdfast.text.visible import GLANCE, amount

from .references import key_in, note, referenced
from .summaries import REFERENCE, WorkingStore
from .tool_outputs import SHORTER_FORM, Output, brief, is_chosen, texts

Rule = Literal["lossless", "repeats", "arguments", "lossy"]
RULES: tuple[Rule, ...] = get_args(Rule)

# of its size, to which each text is cut before any is cut further: as a warm form is (V.2)
_SHARE = 0.25
_OMISSION = re.compile(r"\[[^\[\]\n]*\bleft out\b[^\[\]\n]*\]\s*\Z")


@dataclass(frozen=True, slots=True)
class Shrink(Configured):
    """Shortens tool outputs by their kind, oldest first, the newest exchange last.

    Lossless edits come first: texts that are repeated later, and shorter forms of the same value.
    Then a text keeps what answers the question and what is rare; the rest is counted and left out.
    With a store, the original is saved first, and the text names its key.
    """

    rules: tuple[Rule, ...] = RULES
    """The steps, of ``lossless``, ``repeats``, ``arguments`` and ``lossy``."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools shrink (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = ()
    """Outputs of these tools never shrink."""

    name = "shrink"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each shortened text, or an Offload if its original is kept."""
        work = _ShrinkWork(self, transcript, allowance)
        yield from work.done()
        told = work.originals.detail
        if not work.edits:
            return Plan.skip("nothing_to_shrink", told("no tool output became smaller"))
        edits = tuple(work.edits[output] for output in sorted(work.edits))
        return Plan(edits, reason="shrunk", detail=told(f"{amount(len(edits), 'text')} shrunk"))


@dataclass
class _ShrinkWork:
    """The texts that may shrink, the excess, and the edits so far."""

    knobs: Shrink
    transcript: Transcript
    allowance: Allowance

    def __post_init__(self) -> None:
        transcript, allowance = self.transcript, self.allowance
        self.edits: dict[Output, Replace | Offload] = {}
        self.originals = WorkingStore(allowance.stored)
        self._count = allowance.meter.text
        self._question = transcript.question if allowance.query is None else allowance.query
        self._excess = allowance.meter.total(transcript) - allowance.target
        self._outputs = [each for each in texts(transcript, allowance) if self._is_meant(each)]
        self._shrunk = frozenset(filter(self._was_shrunk, self._outputs))
        self._sizes: dict[Output, int] = {}
        """The present tokens of the texts that were shortened."""

    def _arguments(self) -> Iterable[Output]:
        """The arguments of the calls before the newest exchange, oldest first."""
        for i in range(self.transcript.newest.start):
            for at, part in enumerate(self.transcript.messages[i].parts):
                if isinstance(part, ToolCall):
                    told = part.arguments
                    yield Output(i, at, part.name, told, self._count(told))

    def _is_meant(self, text: Output) -> bool:
        """Whether the text is one of the chosen, and names no original that is kept."""
        if text.position in self.transcript.pinned:
            return False
        is_whole = key_in(text.text, self.transcript.seal) is None
        return is_whole and is_chosen(text.tool, self.knobs.tools, self.knobs.keep_tools)

    def _was_shrunk(self, text: Output) -> bool:
        """Whether the text says that it was shortened, which any text may."""
        return bool(_OMISSION.search(text.text[-GLANCE:]) or key_in(text.text))

    def done(self) -> Asking[None]:
        """Run the steps in order until the target is met."""
        rules = self.knobs.rules
        if "repeats" in rules:
            yield from self._repeats()
        if "lossless" in rules:
            self._lossless()
        if "arguments" in rules:
            for call in self._arguments():
                if self._excess > 0 and self._is_meant(call) and not self._was_shrunk(call):
                    yield from self._clamp(call)
        if "lossy" in rules:
            rooms = self._rooms()
            for output in self._outputs:
                if output in rooms and self._excess > 0:
                    yield from self._shrink(output, rooms[output])

    def _repeats(self) -> Asking[None]:
        """Replace each output whose exact text a later output has too."""
        fresh = [output for output in self._outputs if output not in self._shrunk]
        last = {output.text: output for output in fresh}
        for output in fresh:
            later = last[output.text]
            if later is output or self._excess <= 0:
                continue
            by = f" by {later.tool}" if later.tool else ""
            text = f"[Left out: the same text was returned again later{by}.]"
            key = yield from self.originals.save(output.text)
            if key:
                text += f"\n{self._note(output, 'text', key)}"
            self._keep(output, text, "a later output has the same text", key)

    def _lossless(self) -> None:
        """Replace outputs by their lossless forms."""
        for output in self._outputs:
            if self._excess > 0 and output not in self.edits and output not in self._shrunk:
                kind = recognise(output.text)
                short = kind.compact(output.text) or ""
                self._keep(output, short, f"{kind.name}: {SHORTER_FORM}")

    def _rooms(self) -> dict[Output, int]:
        """The room in tokens of each output that has to shrink to remove the excess.

        Outputs of the newest exchange shrink after all others, and nothing is cut below its share
        before everything else has reached it. What was shrunk gives way when all else has.
        """
        rooms: dict[Output, int] = {}
        left, newest = self._excess, self.transcript.newest
        either = (False, True)
        for again, share, last, output in product(either, (_SHARE, 0.0), either, self._outputs):
            if (output in self._shrunk, output.position in newest) != (again, last):
                continue
            now = rooms.get(output, self._sizes.get(output, output.tokens))
            room = max(SENTENCE, int(output.tokens * share), now - left)
            if room < now:
                rooms[output] = room
                left -= now - room
        return rooms

    def _shrink(self, output: Output, tokens: int) -> Asking[None]:
        """Shorten an output to its room."""
        kind = recognise(output.text)
        key = yield from self.originals.save(output.text, kind.name)
        room = Room(tokens, self._count, self._question)
        if key:
            tool = self.allowance.recall_tool
            shrunk = referenced(kind, output.text, room, key, tool)
        else:
            shrunk = kind.shrink(output.text, room)
        if shrunk is None:  # the reference leaves no room
            shrunk = Shrunk(self._note(output, kind.name, key), kind.name)
        self._keep(output, shrunk.text, f"{kind.name}: {shrunk.omitted or 'shortened'}", key)

    def _clamp(self, call: Output) -> Asking[None]:
        """Shorten the longest values of a call's arguments."""
        if REFERENCE in call.text:
            return
        room = max(SENTENCE, int(call.tokens * _SHARE), call.tokens - self._excess)
        if room >= call.tokens:
            return
        key = yield from self.originals.save(call.text, "json")
        reference = self._note(call, "arguments", key) if key else ""
        text = brief(call.text, room, self._count, SENTENCE, reference)
        if key in text:  # no value has the reference if none was cut
            self._keep(call, text, "arguments of an old call, shortened", key)

    def _note(self, text: Output, kind: str, key: str) -> str:
        return note(kind, text.tokens, key, tool=self.allowance.recall_tool)

    def _keep(self, old: Output, text: str, reason: str, key: str = "") -> None:
        """Keep the text as an edit if it is smaller than the present one."""
        tokens = self._count(text)
        saved = self._sizes.get(old, old.tokens) - tokens
        if saved > 0 and text.strip():
            self._sizes[old] = tokens
            self._excess -= saved
            self.edits[old] = old.replaced(text, key, reason)
