"""Clear old tool outputs: the calls stay, so that the model sees what it has done; the bulk goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Replace
from holdfast.kernel.messages import Message, Text, ToolResult
from holdfast.kernel.transcript import Transcript

PLACEHOLDER = "[Old tool result content cleared]"
_CLEARED = re.compile(r"\[Old output of [^\n]* cleared: [\d,]+ lines?, [\d,]+ tokens\]")


@dataclass(frozen=True, slots=True)
class Output:
    """One tool output: where it stands, which tool gave it, and how long it is, in tokens."""

    index: int
    part: int
    tool: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Prune:
    """Tool outputs older than a protected zone become a placeholder, if enough of them can go.

    The zone is measured back from the newest output; the output in which it ends stays whole, and so does
    everything in the newest exchange while the model has not answered it. Shares are of the budget.
    """

    protect_tokens: Share = 0.4
    """Tool output that stays, newest first."""

    minimum_tokens: Share = 0.05
    """Nothing goes unless more than this can go."""

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
    """How far back outputs are looked at, in budgets of conversation; what is older is left to a later step that
    drops it. 0 is without end."""

    by: Literal["part", "message"] = "part"
    """Whether the zone may end between two outputs of one message."""

    name = "prune"

    def __post_init__(self) -> None:
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """One Replace for each output that goes."""
        if len(transcript.user_positions) < self.min_user_turns:
            return Plan.skip("too_few_turns", f"fewer than {self.min_user_turns} user turns")
        beyond = self._beyond(transcript, allowance)
        total = sum(output.tokens for output in beyond)
        minimum = allowance.share(self.minimum_tokens)
        if total < minimum or (total == minimum and not self.at_minimum):
            return Plan.skip(
                "below_minimum", f"{total:,} tokens could go, {minimum:,} are the least worth clearing"
            )
        if not beyond:
            return Plan.skip("nothing_old", "no tool output stands beyond the protected zone")
        edits = tuple(
            Replace(output.index, output.part, self._text(output), f"old output of {output.tool or 'a tool'}")
            for output in reversed(beyond)
        )
        return Plan(edits, reason="outputs_cleared")

    def _beyond(self, transcript: Transcript, allowance: Allowance) -> list[Output]:
        """What stands beyond the zone and becomes smaller, newest first."""
        protect = allowance.share(self.protect_tokens)
        seen, edge = 0, -1
        beyond: list[Output] = []
        for output in outputs(transcript, allowance, self._first(transcript, allowance)):
            if seen >= protect and (self.by == "part" or output.index != edge):
                if self._may_go(output, transcript):
                    beyond.append(output)
                continue
            seen += output.tokens
            edge = output.index
        return [o for o in beyond if allowance.meter.text(self._text(o)) < o.tokens]

    def _first(self, transcript: Transcript, allowance: Allowance) -> int:
        """The position from which on outputs are looked at, the beginning of a unit."""
        if not self.reach_budgets:
            return 0
        left = int(self.reach_budgets * allowance.window)
        sizes = allowance.meter.sizes(transcript)
        for unit in reversed(transcript.units):
            left -= sum(sizes[unit.start : unit.stop])
            if left < 0:
                return unit.stop
        return 0

    def _cleared(self, text: str) -> bool:
        return text == self.placeholder or (text.startswith("[") and _CLEARED.fullmatch(text) is not None)

    def _may_go(self, output: Output, transcript: Transcript) -> bool:
        if output.index in transcript.newest or output.index in transcript.pinned or self._cleared(output.text):
            return False
        if self.keep_tools and _matches(output.tool, self.keep_tools):
            return False
        if self.keep_errors and _is_error(transcript.messages[output.index].parts[output.part]):
            return False
        return not self.tools or _matches(output.tool, self.tools)

    def _text(self, output: Output) -> str:
        if not self.contextual:
            return self.placeholder
        lines = output.text.count("\n") + 1
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {output.tokens:,} tokens"
        return f"[Old output of {output.tool or 'a tool'} cleared: {size}]"


def outputs(transcript: Transcript, allowance: Allowance, first: int = 0) -> Iterator[Output]:
    """Every tool output from a position on, newest first."""
    names = {call.id: call.name for message in transcript.messages[first:] for call in message.calls}
    for i in range(len(transcript) - 1, first - 1, -1):
        message = transcript.messages[i]
        if message.role not in ("tool", "user") or (message.role == "user" and message.plain is not None):
            continue
        for at, part in reversed(tuple(enumerate(message.parts))):
            text = _output_text(message, part)
            if text is not None:
                tool = names.get(part.call_id, "") if isinstance(part, ToolResult) else ""
                yield Output(i, at, tool, text, allowance.meter.part(part))


def _output_text(message: Message, part: object) -> str | None:
    if isinstance(part, ToolResult):
        return part.text
    return part.text if message.role == "tool" and isinstance(part, Text) else None


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_error(part: object) -> bool:
    return isinstance(part, ToolResult) and part.is_error


def tunacode() -> Prune:
    """The preset of the tunacode design: 40,000 tokens protected, 20,000 at least, two user turns."""
    return Prune(protect_tokens=40_000, minimum_tokens=20_000, min_user_turns=2)
