"""Masking secrets in a conversation before anything is stored, summarised or referred to.

Text of the model and its tools is masked in place. Text of users and the system is masked when it
leaves the view, since it is then stored or summarised. So are parts that must not be changed in the
view, such as signed thinking; while they stay, the result says that they hold a secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.kernel.apply import Applied
from holdfast.kernel.edits import Replace
from holdfast.kernel.ports import Ask, Complete, Embed, Save, Write
from holdfast.kernel.transcript import Transcript
from holdfast.text.concealed import (
    MASK,
    Counts,
    concealing,
    masked_message,
    masked_parts,
    unmasked,
)

_hidden = concealing(redacts=True)
_BRIEF = "***"
"""A mask with no more tokens than the shortest secret."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A transcript with its secrets masked, the edits that mask them, and counts by kind."""

    transcript: Transcript
    edits: tuple[Replace, ...]
    counts: Counts

    @property
    def positions(self) -> frozenset[int]:
        """The positions of messages with masked text."""
        return frozenset(edit.index for edit in self.edits)

    @property
    def taken(self) -> dict[int, object]:
        """The masked messages, which replace their originals: undo does not bring secrets back."""
        messages, wire = self.transcript.messages, self.transcript.wire
        return {i: masked_message(messages[i].original, wire)[0] for i in sorted(self.positions)}

    @property
    def detail(self) -> str:
        """The number of masked secrets by kind, as text."""
        return f"secrets masked: {_kinds(self.counts)}"


def mask_transcript(transcript: Transcript, *, brief: bool = False) -> Redaction:
    """Mask secrets in the text of the model and its tools; ``brief`` leaves out their kinds."""
    messages = list(transcript.messages)
    edits: list[Replace] = []
    counts: Counter[str] = Counter()
    for i, message in enumerate(messages):
        texts, found = masked_parts(message, everyone=False)
        if texts:
            texts = {at: MASK.sub(_BRIEF, text) for at, text in texts.items()} if brief else texts
            messages[i] = message.saying(texts)
            edits += [Replace(i, part, text, "secrets masked") for part, text in texts.items()]
            counts.update(found)
    return Redaction(transcript.reworded(tuple(messages)), tuple(edits), counts)


class Masking:
    """Masks what the steps of a compression remove, and counts it by kind.

    Signed thinking is masked too, since nobody checks its signature any more. Steps use the
    positions that they see; ``positions`` holds original positions.
    """

    def __init__(self, redaction: Redaction) -> None:
        self.positions = set(redaction.positions)
        self.counts: Counter[str] = Counter(redaction.counts)
        self._wire = redaction.transcript.wire
        self._origins: Sequence[int | None] = range(len(redaction.transcript))
        self._counted = set[int]()

    def removed(self, applied: Applied) -> dict[int, object]:
        """What a step removed, with all secrets masked."""
        masked: dict[int, object] = {}
        for i, original in applied.taken.items():
            masked[i], found = masked_message(original, self._wire)
            origin = self._origins[i]
            if found and origin is not None and origin not in self._counted:
                self._counted.add(origin)  # a message that is changed and then dropped counts once
                self.positions.add(origin)
                self.counts.update(found)
        self._origins = [None if i is None else self._origins[i] for i in applied.origins]
        return masked


def left(transcript: Transcript) -> str:
    """The secrets in view that could not be masked, as text; empty if there are none."""
    counts: Counter[str] = Counter()
    for message in transcript.messages:
        counts.update(unmasked(message))
    return f"secrets left in parts that may not be changed: {_kinds(counts)}" if counts else ""


def incoming(request: Ask[object], answer: object) -> object:
    """The answer with secrets masked, if a model wrote it."""
    if isinstance(request, Complete) and isinstance(answer, str):
        return _hidden(answer)
    return answer


def _kinds(counts: Counts) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))


def outgoing(request: Ask[object]) -> Ask[object]:
    """The request with its secrets masked."""
    if isinstance(request, Save):
        return replace(request, text=_hidden(request.text))
    if isinstance(request, Write) and request.value is not None:
        return replace(request, value=_hidden(request.value))
    if isinstance(request, Complete):
        prompt, system = _hidden(request.prompt), _hidden(request.system)
        return replace(request, prompt=prompt, system=system)
    if isinstance(request, Embed):
        return replace(request, texts=tuple(map(_hidden, request.texts)))
    return request
