"""Clears old tool outputs; the calls stay, so that the model sees its past actions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from holdfast.compressors.cuts import unit_of
from holdfast.compressors.knobs import Configured
from holdfast.compressors.references import parted
from holdfast.compressors.tool_outputs import (
    Output,
    OutputSummaries,
    is_chosen,
    is_summary,
    outputs,
)
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.edits import Edit
from holdfast.kernel.messages import ToolResult
from holdfast.kernel.registry import moved_names
from holdfast.kernel.transcript import Transcript

PLACEHOLDER = "[Old tool result content cleared]"
_CLEARED = re.compile(r"\[Old output of [^\n]* cleared: [\d,]+ lines?, [\d,]+ tokens\]")


@dataclass(frozen=True, slots=True)
class Prune(Configured):
    """Replaces tool outputs before a protected zone by a placeholder, if that frees enough tokens.

    The zone is measured back from the newest output. The output in which it ends stays whole, and
    so does the newest exchange until the model has answered it. Shares are of the budget.
    """

    protect_tokens: Share = 0.4
    """The size of the zone: tokens of tool output, or a share of the budget."""

    minimum_tokens: Share = 0.05
    """Nothing is cleared unless more than this can be freed."""

    keep_outputs: int = 0
    """The newest outputs that stay, whatever their size."""

    min_user_turns: int = 0
    """Nothing is cleared in a conversation with fewer user messages."""

    placeholder: str = PLACEHOLDER
    """The text that replaces an output."""

    contextual: bool = False
    """Whether the text names the tool and the size of the output instead."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools are cleared (shell patterns such as ``read_*``); empty means
    all.
    """

    keep_tools: tuple[str, ...] = ()
    """Outputs of these tools are never cleared."""

    keep_errors: bool = False
    """Whether outputs that the format marks as errors stay."""

    at_minimum: bool = False
    """Whether exactly the minimum is enough; by default more than that must go."""

    reach_budgets: float = 0.0
    """How far back outputs are cleared, in budgets of conversation; later steps drop older
    messages. 0 means all.
    """

    by: Literal["part", "message"] = "part"
    """Whether the zone may end between two outputs of one message, or only between messages."""

    summary_tokens: int = 0
    """Tokens for a model's summary of an output in place of the placeholder; 0 asks for none."""

    name = "prune"

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """One edit for each cleared output; a model is asked only if summaries are wanted.

        With a store, the original is kept, and the new text ends with a reference to it.
        """
        if self.min_user_turns and len(transcript.user_positions) < self.min_user_turns:
            return Plan.skip("too_few_turns", f"fewer than {self.min_user_turns} user turns")
        going = self._going(transcript, allowance)
        total = sum(output.tokens for output, _ in going)
        minimum = allowance.share(self.minimum_tokens)
        if total < minimum or (total == minimum and not self.at_minimum):
            problem = f"{total:,} tokens could go, {minimum:,} are the least worth clearing"
            return Plan.skip("below_minimum", problem)
        if not going:
            return Plan.skip("nothing_old", "no tool output is outside the protected zone")
        going.reverse()
        summaries = OutputSummaries(self.summary_tokens, allowance)
        if summaries.may_ask or allowance.stored:
            return self._told(going, summaries)
        edits = tuple([output.replaced(text) for output, text in going])
        return Plan(edits, reason="outputs_cleared")

    def _going(self, transcript: Transcript, allowance: Allowance) -> list[tuple[Output, str]]:
        """Outputs before the zone that become smaller, newest first, each with its new text."""
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
        """The position of the first unit whose outputs are considered."""
        if not self.reach_budgets:
            return 0
        sizes = allowance.meter.sizes(transcript)
        newest = list(accumulate(reversed(sizes)))
        within = bisect_right(newest, int(self.reach_budgets * allowance.window))
        return unit_of(transcript, len(sizes) - 1 - within).stop if within < len(sizes) else 0

    def _cleared(self, output: Output) -> bool:
        said, reference = parted(output.text, None)
        text = said.rstrip()
        if reference and not text:
            return True
        if self.summary_tokens and is_summary(text, output.tokens, self.summary_tokens):
            return True
        is_placeholder = text.startswith("[") and _CLEARED.fullmatch(text) is not None
        return is_placeholder or self.placeholder in (text, output.text)

    def _may_go(self, output: Output, transcript: Transcript) -> bool:
        at = output.position
        if at in transcript.newest or at in transcript.pinned or self._cleared(output):
            return False
        part = transcript.messages[at].parts[output.part]
        if self.keep_errors and isinstance(part, ToolResult) and part.is_error:
            return False
        return is_chosen(output.tool, self.tools, self.keep_tools)

    def _text(self, output: Output) -> str:
        if not self.contextual:
            return self.placeholder
        lines = output.text.count("\n") + 1
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {output.tokens:,} tokens"
        return f"[Old output of {output.tool or 'a tool'} cleared: {size}]"

    def _told(self, going: Sequence[tuple[Output, str]], summaries: OutputSummaries) -> Flow:
        """The plan with a model's summary of each output, or the placeholder if there is none.

        An output that is not longer than the placeholder with its reference has no reference.
        """
        edits: list[Edit] = []
        count = summaries.allowance.meter.text
        for output, text in going:
            whole, tokens = output.text, output.tokens
            told = yield from summaries.of(output)
            if told is None and whole and summaries.allowance.stored:
                kind = f"old output of {output.tool or 'a tool'}" if self.contextual else "text"
                said = "" if self.contextual else text  # else the reference says what it was
                named = yield from summaries.kept(said, whole, tokens, kind)
                told = named if named.key and count(named.text) < tokens else None
            edits.append(output.replaced(*(told or (text,))))
        return Plan(tuple(edits), reason="outputs_cleared", detail="; ".join(summaries.troubles))


__getattr__ = moved_names(__name__, {"tunacode": "holdfast.designs.tunacode"})
