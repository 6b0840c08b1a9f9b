"""The strategy that keeps the most useful pieces of a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.compressors.references import save_messages
from holdfast.compressors.summaries import WorkingStore
from holdfast.compressors.tool_outputs import SHORTER_FORM, texts
from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Configured, Flow, Plan
from holdfast.kernel.edits import Edit
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import Fraction

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
        store = WorkingStore(works=not trouble)
        while store.works and (cut := view.without_reference(plan)):
            for place, text, kind in cut:
                key = yield from store.save(text, kind)
                if store.works:
                    view.name_original(place, kind, key)
            plan = view.plan(references if store.works else (), store.trouble)
        return plan


_MOST_SAVED = 0.6  # share of the outputs that lossless forms save at most


def without_loss(transcript: Transcript, allowance: Allowance) -> tuple[Edit, ...]:
    """Lossless shorter forms of outputs, the oldest first, if together they meet the target."""
    count = allowance.meter.text
    excess = allowance.meter.total(transcript) - allowance.target
    found = [one for one in texts(transcript, allowance) if one.position not in transcript.pinned]
    if excess > _MOST_SAVED * sum(output.tokens for output in found):
        return ()
    edits: list[Edit] = []
    for output in reversed(found):
        kind = recognise(output.text)
        short = kind.compact(output.text)
        saved = 0 if short is None else output.tokens - count(short)
        if short is not None and saved > 0:
            edits.append(output.replaced(short, reason=f"{kind.name}: {SHORTER_FORM}"))
            excess -= saved
            if excess <= 0:
                return tuple(edits)
    return ()
