"""The strategy that keeps the most useful pieces of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.compressors.knobs import Configured, Fraction
from holdfast.compressors.references import kept, save_messages
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Edit, Replace
from holdfast.kernel.messages import ToolResult
from holdfast.kernel.transcript import Transcript

from .view import LEFT_OUT, Selection

__all__ = ["HEADING", "LEFT_OUT", "Select"]


HEADING = "Notes on the conversation so far (… marks what is left out):"


@dataclass(frozen=True, slots=True)
class Select(Configured):
    """Ranks the pieces of all that was said, done and returned, and keeps the best that fit.

    The task and the newest exchange stay in place, and as many exchanges before it as ``recent``
    allows. Of older messages, and of outputs too large to stay whole, the pieces are kept whose
    names the next steps are likely to use and no kept piece has yet.
    """

    recent: Fraction = 0.15
    """Share of the room for the newest exchanges that stay unchanged."""

    task: Fraction = 0.4
    """Share of the room for the user's first message; the middle of a longer one is cut out."""

    heading: str = HEADING
    """The first line of the notes."""

    told: Fraction = 0.5
    """Share of the tokens of older messages that notes may have. Room beyond it keeps more
    exchanges unchanged, so that a conversation just over its budget changes little."""

    name = "select"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """A Drop of older messages, an Insert of notes on them, a Replace of shortened outputs."""
        if allowance.meter.total(transcript) <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        edits = without_loss(transcript, allowance)
        if edits:
            return Plan(edits, reason="lossless")
        view = Selection(self, transcript, allowance)
        if not view.may_shrink:
            return Plan.skip("nothing_old", "there is nothing to shorten")
        return self._kept(view) if allowance.stored else view.plan()

    def _kept(self, view: Selection) -> Flow:
        """The plan with the originals saved and named, or without references if the store fails.

        A reference takes room, so that more outputs may be cut; their originals are saved next.
        """
        references, trouble = yield from save_messages(view.transcript, view.going, view.allowance)
        plan = view.plan(references, trouble)
        while not trouble and (cut := view.without_reference(plan)):
            trouble = yield from kept(cut, view.name_original)
            plan = view.plan(() if trouble else references, trouble)
        return plan


_MOST_SAVED = 0.6  # share of the outputs that lossless forms save at most
_WORTH = 64  # characters; shorter texts are left alone


def without_loss(transcript: Transcript, allowance: Allowance) -> tuple[Edit, ...]:
    """Lossless shorter forms of outputs, the oldest first, if together they meet the target."""
    meter = allowance.meter
    excess = meter.total(transcript) - allowance.target
    outputs = list(_outputs(transcript))
    if excess > _MOST_SAVED * sum(meter.text(part.text) for _, _, part in outputs):
        return ()
    found: list[tuple[int, Edit]] = []
    for i, at, part in outputs:
        if excess <= 0:
            break
        kind = recognise(part.text)
        short = kind.compact(part.text)
        saved = 0 if short is None else meter.text(part.text) - meter.text(short)
        if short is not None and saved > 0:
            found.append(
                (saved, Replace(i, at, short, f"{kind.name}: the same value in a shorter form"))
            )
            excess -= saved
    if excess > 0:
        return ()
    edits: list[Edit] = []
    for saved, edit in found:  # the last may have made earlier ones unnecessary
        if excess + saved <= 0:
            excess += saved
        else:
            edits.append(edit)
    return tuple(edits)


def _outputs(transcript: Transcript) -> Iterator[tuple[int, int, ToolResult]]:
    for i, message in enumerate(transcript.messages):
        if i in transcript.pinned or message.role == "system":
            continue
        for at, part in enumerate(message.parts):
            if isinstance(part, ToolResult) and not part.media and len(part.text) >= _WORTH:
                yield i, at, part
