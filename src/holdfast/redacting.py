"""Secrets in a conversation, masked before anything of it is stored, summarised or put into a reference.

What the model and its tools said is masked where it stands. What users and the system said keeps every letter as
long as it is in view, and is masked when it leaves: then it is kept somewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from holdfast.kernel.edits import Replace
from holdfast.kernel.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.kernel.ports import Ask, Complete, Embed, Save
from holdfast.kernel.registry import Registry
from holdfast.kernel.transcript import Transcript

_SEARCH = Registry("search", "searches", {"secrets": "holdfast.text.masked_json:redact_any"})
"""What knows the shapes of secrets is loaded where they are masked: compiling them takes 20 ms."""

Counts = Mapping[str, int]
"""How many secrets of each kind."""


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
        texts, found = _masked(message, everyone=False)
        if texts:
            messages[i] = message.saying(texts)
            edits += [Replace(i, part, text, "secrets masked") for part, text in texts.items()]
            counts += found
    return Redaction(transcript.reworded(tuple(messages)), tuple(edits), counts)


def concealed(
    transcript: Transcript, taken: Mapping[int, object]
) -> tuple[dict[int, object], Counter[str], list[int]]:
    """What a step took out of the transcript, every secret masked whoever said it; how many, and where."""
    kept = dict(taken)
    counts: Counter[str] = Counter()
    places: list[int] = []
    for i in taken:
        texts, found = _masked(transcript.messages[i], everyone=True)
        if texts:
            kept[i] = transcript.messages[i].saying(texts).original
            counts += found
            places.append(i)
    return kept, counts, places


def outgoing(request: Ask[object]) -> Ask[object]:
    """The request as it may leave the process: without secrets."""
    if isinstance(request, Save):
        return replace(request, text=redacted_text(request.text)[0])
    if isinstance(request, Complete):
        return replace(request, prompt=redacted_text(request.prompt)[0], system=redacted_text(request.system)[0])
    if isinstance(request, Embed):
        return replace(request, texts=tuple(redacted_text(text)[0] for text in request.texts))
    return request


def redacted_text(text: str) -> tuple[str, Counter[str]]:
    """The text with every secret masked, JSON staying JSON; and how many of each kind there were."""
    search = cast("Callable[[str], tuple[str, Counter[str]]]", _SEARCH.load("secrets"))
    return search(text)


def _masked(message: Message, *, everyone: bool) -> tuple[dict[int, str], Counter[str]]:
    """The parts that hold a secret, masked; media beside a masked output are gone with its words."""
    texts: dict[int, str] = {}
    counts: Counter[str] = Counter()
    own = everyone or message.role in ("assistant", "tool")
    for at, part in enumerate(message.parts):
        text, found = redacted_text(_said(part, own=own))
        if found:
            texts[at] = text
            counts += found
    return texts, counts


def _said(part: Part, *, own: bool) -> str:
    """What may be masked: signed thinking may not change, and parts of unknown type are not understood."""
    if isinstance(part, ToolCall):
        return part.arguments
    if isinstance(part, Text) or (isinstance(part, Reasoning) and not part.signed):
        return part.text if own else ""
    return part.text if isinstance(part, ToolResult) else ""
