"""Clear old tool outputs: the calls stay, so that the model sees what it has done.

The bulk goes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import Literal, NamedTuple

from holdfast.compressors.cuts import unit_of
from holdfast.compressors.knobs import Configured
from holdfast.compressors.output_summaries import OldOutput, OutputSummaries, is_summary
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Edit, Offload, Replace
from holdfast.kernel.messages import Text, ToolResult
from holdfast.kernel.registry import moved_names
from holdfast.kernel.transcript import Transcript

PLACEHOLDER = "[Old tool result content cleared]"
_CLEARED = re.compile(r"\[Old output of [^\n]* cleared: [\d,]+ lines?, [\d,]+ tokens\]")


class Output(NamedTuple):
    """One tool output: where it stands, which tool gave it, and how long it is, in tokens."""

    position: int
    part: int
    tool: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Prune(Configured):
    """Tool outputs older than a protected zone become a placeholder, if enough of them can go.

    The zone is measured back from the newest output; the output in which it ends stays whole, and
    so does everything in the newest exchange while the model has not answered it. Shares are of the
    budget.
    """

    protect_tokens: Share = 0.4
    """Tool output that stays, newest first."""

    minimum_tokens: Share = 0.05
    """Nothing goes unless more than this can go."""

    keep_outputs: int = 0
    """The newest outputs that stay however long they are."""

    min_user_turns: int = 0
    """Nothing goes in a conversation with fewer user messages."""

    placeholder: str = PLACEHOLDER
    """What stands in the place of an output."""

    contextual: bool = False
    """Whether the placeholder names the tool and the size of what stood there."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools go (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = ()
    """Outputs of these tools never go."""

    keep_errors: bool = False
    """Whether outputs that the wire marks as errors stay."""

    at_minimum: bool = False
    """Whether exactly the minimum is enough; the design asks for more than it."""

    reach_budgets: float = 0.0
    """How far back outputs are looked at, in budgets of conversation; what is older is left to a
    later step that drops it. 0 is without end."""

    by: Literal["part", "message"] = "part"
    """Whether the zone may end between two outputs of one message."""

    summary_tokens: int = 0
    """Tokens that a model's summary of an output may take, in the place of the placeholder; 0 asks
    for none."""

    name = "prune"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """One edit for each output that goes; a model is asked only where summaries are wanted."""
        if self.min_user_turns and len(transcript.user_positions) < self.min_user_turns:
            return Plan.skip("too_few_turns", f"fewer than {self.min_user_turns} user turns")
        going = self._going(transcript, allowance)
        total = sum(output.tokens for output, _ in going)
        minimum = allowance.share(self.minimum_tokens)
        if total < minimum or (total == minimum and not self.at_minimum):
            return Plan.skip(
                "below_minimum",
                f"{total:,} tokens could go, {minimum:,} are the least worth clearing",
            )
        if not going:
            return Plan.skip("nothing_old", "no tool output stands beyond the protected zone")
        going.reverse()
        summaries = OutputSummaries(self.summary_tokens, allowance)
        if summaries.may_ask:
            return _summarized(going, summaries)
        return Plan(
            tuple([_replaced(output, text) for output, text in going]), reason="outputs_cleared"
        )

    def _going(self, transcript: Transcript, allowance: Allowance) -> list[tuple[Output, str]]:
        """What is beyond the zone and gets smaller, newest first, and what takes its place."""
        protect = allowance.share(self.protect_tokens)
        seen, edge = 0, -1
        going: list[tuple[Output, str]] = []
        newest_first = outputs(transcript, allowance, self._first(transcript, allowance))
        for n, output in enumerate(newest_first):
            if n < self.keep_outputs:
                continue
            if seen < protect or (self.by == "message" and output.position == edge):
                seen += output.tokens
                edge = output.position
            elif self._may_go(output, transcript):
                text = self._text(output)
                if allowance.meter.text(text) < output.tokens:
                    going.append((output, text))
        return going

    def _first(self, transcript: Transcript, allowance: Allowance) -> int:
        """The position from which on outputs are looked at, the beginning of a unit."""
        if not self.reach_budgets:
            return 0
        sizes = allowance.meter.sizes(transcript)
        newest = list(accumulate(reversed(sizes)))
        within = bisect_right(newest, int(self.reach_budgets * allowance.window))
        return unit_of(transcript, len(sizes) - 1 - within).stop if within < len(sizes) else 0

    def _cleared(self, output: Output) -> bool:
        text = output.text
        if self.summary_tokens and is_summary(text, output.tokens, self.summary_tokens):
            return True
        return text == self.placeholder or (
            text.startswith("[") and _CLEARED.fullmatch(text) is not None
        )

    def _may_go(self, output: Output, transcript: Transcript) -> bool:
        if (
            output.position in transcript.newest
            or output.position in transcript.pinned
            or self._cleared(output)
        ):
            return False
        if self.keep_tools and _matches(output.tool, self.keep_tools):
            return False
        if self.keep_errors and _is_error(transcript.messages[output.position].parts[output.part]):
            return False
        return not self.tools or _matches(output.tool, self.tools)

    def _text(self, output: Output) -> str:
        if not self.contextual:
            return self.placeholder
        lines = output.text.count("\n") + 1
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {output.tokens:,} tokens"
        return f"[Old output of {output.tool or 'a tool'} cleared: {size}]"


def _summarized(going: Sequence[tuple[Output, str]], summaries: OutputSummaries) -> Flow:
    """The plan in which each output is told by the model.

    The placeholder stands where it is not.
    """
    edits: list[Edit] = []
    for output, text in going:
        old = OldOutput(output.position, output.tool, output.text, output.tokens)
        told = yield from summaries.of(old, output.tokens)
        if told is None:
            edits.append(_replaced(output, text))
        elif told.key:
            edits.append(
                Offload(output.position, output.part, told.text, told.key, _reason(output))
            )
        else:
            edits.append(_replaced(output, told.text))
    return Plan(tuple(edits), reason="outputs_cleared", detail="; ".join(summaries.troubles))


def _replaced(output: Output, text: str) -> Replace:
    return Replace(output.position, output.part, text, _reason(output))


def _reason(output: Output) -> str:
    return f"old output of {output.tool or 'a tool'}"


def outputs(transcript: Transcript, allowance: Allowance, first: int = 0) -> Iterator[Output]:
    """Every tool output from a position on, newest first."""
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


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_error(part: object) -> bool:
    return isinstance(part, ToolResult) and part.is_error


__getattr__ = moved_names(__name__, {"tunacode": "holdfast.designs.tunacode"})
