"""Secrets in a conversation, masked before anything of it is stored, summarised or referred to.

What the model and its tools said is masked where it stands. What users and the system said keeps
every letter as long as it is in view, and is masked when it leaves: then it is kept somewhere, or
told again in a summary. Parts that may not be changed in view (signed thinking, parts of unknown
type) are masked when they leave too; until then the result tells that they hold a secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.kernel.apply import Applied
from holdfast.kernel.edits import Replace
from holdfast.kernel.ports import Ask, Complete, Embed, Save, Write
from holdfast.kernel.transcript import Transcript
from holdfast.text.concealed import (
    MASK,
    Counts,
    masked_message,
    masked_parts,
    redacted_text,
    unmasked,
)

_BRIEF = "***"
"""A mask that takes no more tokens than any secret."""

Origins = Sequence[int | None]
"""Where each message stood at first, None for one that was inserted."""


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


def redacted(transcript: Transcript, *, brief: bool = False) -> Redaction:
    """The transcript with the model's and tools' secrets masked; ``brief`` omits their kinds."""
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
    """What the steps of a compression take out, without its secrets.

    And what was masked, where and how often.

    Steps speak of positions as they find them; what is masked is told by positions as they were at
    first.
    """

    def __init__(self, redaction: Redaction) -> None:
        self.positions: set[int] = set(redaction.positions)
        self.counts: Counter[str] = Counter(redaction.counts)
        self._wire = redaction.transcript.wire
        self._now: Origins = range(len(redaction.transcript))
        self._places: list[Origins] = [self._now] if redaction.edits else []

    def taken(self, applied: Applied) -> dict[int, object]:
        """What one more step took out, every secret masked whoever said it."""
        before, kept = self._now, dict(applied.taken)
        for i in applied.taken:
            message = applied.before.messages[i]
            texts, found = masked_parts(message, everyone=True)
            if texts:
                kept[i] = message.saying(texts).original
                self._count(before[i], found)
        self._places.append(before)
        self._now = [None if i is None else before[i] for i in applied.origins]
        return kept

    def departed(self, steps: Sequence[Mapping[int, object]]) -> list[Mapping[int, object]]:
        """What each step took out, every part of what has left the view masked.

        There even signed thinking and parts of unknown type are masked: nobody checks a signature
        any more.
        """
        seen, counted = set(self._now), set[int | None]((None,))
        kept: list[Mapping[int, object]] = []
        for taken, places in zip(reversed(steps), reversed(self._places), strict=True):
            gone = {i: origin for i in taken if (origin := places[i]) is None or origin not in seen}
            masked = {i: masked_message(taken[i], self._wire) for i in gone}
            for i, (_, counts) in masked.items():
                if counts:  # what was changed before it left is counted as it left
                    self._count(gone[i], {} if gone[i] in counted else counts)
            counted.update(gone.values())
            kept.append({i: masked[i][0] if i in masked else value for i, value in taken.items()})
        return kept[::-1]

    def _count(self, origin: int | None, found: Counts) -> None:
        self.counts.update(found)
        if origin is not None:
            self.positions.add(origin)


def left(transcript: Transcript) -> str:
    """The secrets in view that could not be masked, for people; empty where there are none."""
    counts: Counter[str] = Counter()
    for message in transcript.messages:
        counts.update(unmasked(message))
    return f"secrets left in parts that may not be changed: {_kinds(counts)}" if counts else ""


def incoming(request: Ask[object], answer: object) -> object:
    """The answer as it may come in: what a model wrote has no secrets."""
    return (
        redacted_text(answer)[0]
        if isinstance(request, Complete) and isinstance(answer, str)
        else answer
    )


def _kinds(counts: Counts) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))


def outgoing(request: Ask[object]) -> Ask[object]:
    """The request as it may leave the process: without secrets."""
    if isinstance(request, Save):
        return replace(request, text=redacted_text(request.text)[0])
    if isinstance(request, Write) and request.value is not None:
        return replace(request, value=redacted_text(request.value)[0])
    if isinstance(request, Complete):
        return replace(
            request,
            prompt=redacted_text(request.prompt)[0],
            system=redacted_text(request.system)[0],
        )
    if isinstance(request, Embed):
        return replace(request, texts=tuple(redacted_text(text)[0] for text in request.texts))
    return request
