"""Secrets in a conversation, masked before anything of it is stored, summarised or put into a reference.

What the model and its tools said is masked where it stands. What users and the system said keeps every letter as
long as it is in view, and is masked when it leaves: then it is kept somewhere, or told again in a summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from holdfast.kernel.edits import Replace
from holdfast.kernel.ports import Ask, Complete, Embed, Save, Write
from holdfast.kernel.transcript import Transcript
from holdfast.text.concealed import Counts, masked_parts, redacted_text


@dataclass(frozen=True, slots=True)
class Redaction:
    """A conversation whose secrets are masked: the edits that did it, and what they masked."""

    transcript: Transcript
    edits: tuple[Replace, ...]
    counts: Counts

    @property
    def positions(self) -> frozenset[int]:
        """Where something is masked."""
        return frozenset(edit.index for edit in self.edits)

    @property
    def taken(self) -> dict[int, object]:
        """The masked messages stand for their originals too: nothing brings a secret back."""
        return {i: self.transcript.messages[i].original for i in sorted(self.positions)}

    @property
    def told(self) -> str:
        """The secrets by kind, for people."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(self.counts.items()))
        return f"secrets masked: {kinds}"


def redacted(transcript: Transcript) -> Redaction:
    """The transcript with every secret masked that the model or a tool said."""
    messages = list(transcript.messages)
    edits: list[Replace] = []
    counts: Counter[str] = Counter()
    for i, message in enumerate(messages):
        texts, found = masked_parts(message, everyone=False)
        if texts:
            messages[i] = message.saying(texts)
            edits += [Replace(i, part, text, "secrets masked") for part, text in texts.items()]
            counts.update(found)
    return Redaction(transcript.reworded(tuple(messages)), tuple(edits), counts)


def concealed(
    transcript: Transcript, taken: Mapping[int, object]
) -> tuple[dict[int, object], Counter[str], list[int]]:
    """What a step took out of the transcript, every secret masked whoever said it; how many, and where."""
    kept = dict(taken)
    counts: Counter[str] = Counter()
    places: list[int] = []
    for i in taken:
        texts, found = masked_parts(transcript.messages[i], everyone=True)
        if texts:
            kept[i] = transcript.messages[i].saying(texts).original
            counts.update(found)
            places.append(i)
    return kept, counts, places


def outgoing(request: Ask[object]) -> Ask[object]:
    """The request as it may leave the process: without secrets."""
    if isinstance(request, Save):
        return replace(request, text=redacted_text(request.text)[0])
    if isinstance(request, Write):
        return replace(request, value=redacted_text(request.value)[0])
    if isinstance(request, Complete):
        return replace(request, prompt=redacted_text(request.prompt)[0], system=redacted_text(request.system)[0])
    if isinstance(request, Embed):
        return replace(request, texts=tuple(redacted_text(text)[0] for text in request.texts))
    return request
