"""Lossless shorter forms of tool outputs, used alone if they are enough."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.content import recognise
from holdfast.kernel.budget import Allowance
from holdfast.kernel.edits import Edit, Replace
from holdfast.kernel.messages import ToolResult
from holdfast.kernel.transcript import Transcript

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
