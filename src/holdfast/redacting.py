"""Secrets in a conversation, masked before anything of it is stored, summarised or put into a reference.

What the model and its tools said is masked where it stands. What users and the system said keeps every letter as
long as it is in view, and is masked when it leaves: then it is kept somewhere, or told again in a summary. Parts
that may not be changed in view (signed thinking, parts of unknown type) are masked when they leave too; until then
the result tells that they hold a secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from holdfast.kernel.edits import Replace
from holdfast.kernel.ports import Ask, Complete, Embed, Save, Write
from holdfast.kernel.transcript import Transcript
from holdfast.text.concealed import Counts, masked_parts, masked_values, redacted_text, unmasked


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
        return f"secrets masked: {_kinds(self.counts)}"


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


def departed(
    taken: Mapping[int, object], gone: Collection[int]
) -> tuple[dict[int, object], dict[int, Counter[str]]]:
    """What was taken out, with those that have left the view masked in every part; and how many more, by place.

    There even signed thinking and parts of unknown type are masked: nobody checks a signature any more.
    """
    kept, counts = dict(taken), dict[int, Counter[str]]()
    for i in gone:
        kept[i], found = masked_values(taken[i])
        if found:
            counts[i] = found
    return kept, counts


def left(transcript: Transcript) -> str:
    """The secrets in view that could not be masked, for people; empty where there are none."""
    counts: Counter[str] = Counter()
    for message in transcript.messages:
        counts.update(unmasked(message))
    return f"secrets left in parts that may not be changed: {_kinds(counts)}" if counts else ""


def incoming(request: Ask[object], answer: object) -> object:
    """The answer as it may come in: what a model wrote has no secrets."""
    return redacted_text(answer)[0] if isinstance(request, Complete) and isinstance(answer, str) else answer


def _kinds(counts: Counts) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))


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
