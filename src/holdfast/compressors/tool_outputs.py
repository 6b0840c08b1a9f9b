"""Tool outputs of a conversation, and a model's summaries of old ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from holdfast.compressors.references import note
from holdfast.compressors.summaries import WorkingStore
from holdfast.kernel.budget import Allowance
from holdfast.kernel.edits import Offload, Replace
from holdfast.kernel.errors import ModelError
from holdfast.kernel.flow import Asking
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.registry import imported
from holdfast.kernel.transcript import Transcript
from holdfast.text.visible import fault_line

_BESIDE = 100  # tokens of the opening and the reference at most
_OPENING = re.compile(r"\[Summary of an old output[^\n]*, [\d,]+ tokens\]\n")


SHORTER_FORM = "the same value in a shorter form"
"""The reason for a lossless change."""


class Output(NamedTuple):
    """One tool output: its position, its tool, and its size in tokens."""

    position: int
    part: int
    tool: str
    text: str
    tokens: int

    def replaced(self, text: str, key: str = "", reason: str = "") -> Replace | Offload:
        """The edit that replaces the output, an Offload if the original has a key."""
        reason = reason or f"old output of {self.tool or 'a tool'}"
        if key:
            return Offload(self.position, self.part, text, key, reason)
        return Replace(self.position, self.part, text, reason)


def outputs(transcript: Transcript, allowance: Allowance, first: int = 0) -> Iterator[Output]:
    """Every tool output from position ``first`` on, newest first."""
    since = transcript.messages[first:]
    calling = [
        message for message in since if message.role == "assistant" and not message.is_speech
    ]
    names = {call.id: call.name for message in calling for call in message.calls}
    for i in range(len(transcript) - 1, first - 1, -1):
        message = transcript.messages[i]
        if message.is_speech or message.role not in ("tool", "user"):
            continue
        for at in range(len(message.parts) - 1, -1, -1):
            part = message.parts[at]
            if isinstance(part, ToolResult):
                yield Output(
                    i, at, names.get(part.call_id, ""), part.text, allowance.meter.part(part)
                )
            elif message.role == "tool" and isinstance(part, Text):
                yield Output(i, at, "", part.text, allowance.meter.part(part))


def texts(transcript: Transcript, allowance: Allowance) -> Iterator[Output]:
    """Every output without media, newest first, with the tokens of its text alone."""
    for output in outputs(transcript, allowance):
        part = transcript.messages[output.position].parts[output.part]
        if not getattr(part, "media", ()):
            yield output._replace(tokens=allowance.meter.text(output.text))


def is_chosen(tool: str, wanted: Sequence[str], kept: Sequence[str]) -> bool:
    """Whether the shell patterns ``wanted`` (none means all) have the tool, and ``kept`` not."""
    if any(fnmatchcase(tool, pattern) for pattern in kept):
        return False
    return not wanted or any(fnmatchcase(tool, pattern) for pattern in wanted)


class ToldOutput(NamedTuple):
    """The text that replaces an output, and the key of the original; empty if it is not kept."""

    text: str
    key: str


@dataclass(slots=True)
class OutputSummaries:
    """The summaries of one run, each of at most ``tokens`` tokens.

    After the first failure, no more are requested. A summary does not depend on the question, so
    that it stays the same from call to call.
    """

    tokens: int
    allowance: Allowance
    troubles: list[str] = field(default_factory=list[str], init=False)
    """The problems of the model or the store."""
    _asks: bool = field(default=True, init=False)
    _originals: WorkingStore = field(init=False)

    def __post_init__(self) -> None:
        self._originals = WorkingStore(self.allowance.stored)

    @property
    def may_ask(self) -> bool:
        """Whether summaries are wanted, and there is a model that has not failed."""
        return bool(self.tokens and self.allowance.writer) and self._asks

    def of(self, output: Output) -> Asking[ToldOutput | None]:
        """A summary of the output with a reference to it; None if it would not be smaller."""
        position, _, tool, text, tokens = output
        by = f" of {tool}" if tool else ""
        opening = f"[Summary of an old output{by}, {tokens:,} tokens]"
        count = self.allowance.meter.text
        if not self.may_ask or self.tokens + count(opening) >= tokens:
            return None
        # imported when a model is asked, since clearing outputs does not need it
        tell: Callable[..., Asking[tuple[str, str]]] = imported(
            "holdfast.compressors.writer:output_summary"
        )
        try:
            told, trouble = yield from tell(text, position, tool, self.tokens, self.allowance)
        except ModelError as fault:
            self._asks = False
            problem = fault_line(fault)
            self.troubles.append(f"no more summaries were asked for: {problem}")
            return None
        if trouble:
            self.allowance = replace(self.allowance, stored=False)
            self.troubles.append(trouble)
        found = yield from self.kept(f"{opening}\n{told}", text, tokens)
        return found if count(found.text) < tokens else None

    def kept(self, told: str, text: str, tokens: int, kind: str = "text") -> Asking[ToldOutput]:
        """The text that replaces an output, with a reference to the original if it is kept."""
        worked = self._originals.works
        key = yield from self._originals.save(text)
        if worked and not self._originals.works:
            self.troubles.append(self._originals.trouble)
        if not key:
            return ToldOutput(told, "")
        reference = note(kind, tokens, key, tool=self.allowance.recall_tool)
        return ToldOutput(f"{told}\n{reference}" if told else reference, key)


def is_summary(text: str, tokens: int, most: int) -> bool:
    """Whether a text of so many tokens is such a summary, of at most ``most`` tokens."""
    return (
        tokens <= most + _BESIDE
        and text.startswith("[Summary ")
        and _OPENING.match(text) is not None
    )
