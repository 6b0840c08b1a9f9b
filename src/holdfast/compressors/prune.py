"""Clears old tool outputs; the calls stay, so that the model sees its past actions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Asking, Configured, Flow, Plan
from holdfast.kernel.edits import Edit
from holdfast.kernel.errors import ModelError
from holdfast.kernel.messages import ToolResult
from holdfast.kernel.registry import imported, moved_names
from holdfast.kernel.transcript import Transcript, start_within
from holdfast.text.visible import amount, fault_line

from .references import note, parted
from .summaries import WorkingStore
from .tool_outputs import Output, is_chosen, outputs

PLACEHOLDER = "[Old tool result content cleared]"
_CLEARED = re.compile(r"\[Old output of [^\n]* cleared: [\d,]+ lines?, [\d,]+ tokens\]")
_SUMMARY = re.compile(r"\[Summary of an old output[^\n]*, [\d,]+ tokens\]\n")


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
        if len(transcript.user_positions) < self.min_user_turns:
            return Plan.skip("too_few_turns", f"fewer than {self.min_user_turns} user turns")
        going = self._going(transcript, allowance)
        total = sum(output.tokens for output, _ in going)
        minimum = allowance.share(self.minimum_tokens)
        if not going or total < minimum or (total == minimum and not self.at_minimum):
            return Plan.skip(
                "below_minimum",
                f"{total:,} tokens could go, {minimum:,} are the least worth clearing",
            )
        return self._clearing(going[::-1], allowance)

    def _going(self, transcript: Transcript, allowance: Allowance) -> list[tuple[Output, str]]:
        """Outputs before the zone that become smaller, newest first, each with its new text."""
        protect, first = allowance.share(self.protect_tokens), 0
        if self.reach_budgets:
            starts = [unit.start for unit in transcript.units]
            reach = int(self.reach_budgets * allowance.window)
            first = start_within(starts, allowance.meter.sizes(transcript), reach)
        seen, edge = 0, -1
        going: list[tuple[Output, str]] = []
        for n, output in enumerate(reversed(outputs(transcript, allowance, first))):
            if n < self.keep_outputs:
                continue
            if seen < protect or (self.by == "message" and output.position == edge):
                seen += output.tokens
                edge = output.position
            elif self._may_go(output, transcript, allowance):
                text = self.placeholder
                if self.contextual:
                    lines = amount(output.text.count("\n") + 1, "line")
                    text = f"[Old {output.source} cleared: {lines}, {output.tokens:,} tokens]"
                if allowance.meter.text(text) < output.tokens:
                    going.append((output, text))
        return going

    def _may_go(self, output: Output, transcript: Transcript, allowance: Allowance) -> bool:
        """Whether the knobs and the conversation let an output go that was not cleared before."""
        at = output.position
        if at in transcript.newest or at in transcript.pinned:
            return False
        if not is_chosen(output.tool, self.tools, self.keep_tools):
            return False
        part = transcript.messages[at].parts[output.part]
        if self.keep_errors and isinstance(part, ToolResult) and part.is_error:
            return False
        said, reference = parted(output.text, None)
        text = said.rstrip()
        if reference and not text:
            return False
        summary = _SUMMARY.match(text) if self.summary_tokens else None
        if summary and allowance.meter.text(text[summary.end() :]) <= self.summary_tokens:
            return False
        return not _CLEARED.fullmatch(text) and self.placeholder not in (text, output.text)

    def _clearing(self, going: Sequence[tuple[Output, str]], allowance: Allowance) -> Flow:
        """The plan with a model's summary of each output, or the placeholder if there is none.

        A model is asked until it fails. A summary does not depend on the question, so that it stays
        the same from call to call.
        """
        originals, summaries = WorkingStore(allowance.stored), WorkingStore(allowance.stored)
        count, tool = allowance.meter.text, allowance.recall_tool
        asks, refusal = bool(self.summary_tokens and allowance.writer), ""
        edits: list[Edit] = []
        for output, placeholder in going:
            by = f" of {output.tool}" if output.tool else ""
            opening = f"[Summary of an old output{by}, {output.tokens:,} tokens]"
            # what is written, and what its reference says of the original
            ways = [("", f"old {output.source}") if self.contextual else (placeholder, "text")]
            if asks and self.summary_tokens + count(opening) < output.tokens:
                # imported when a model is asked, since clearing outputs does not need it
                writer = imported("holdfast.compressors.writer")
                single = writer.Single(output.text, "tool", output.position, output.source)
                asking: Asking[str] = writer.message_summary(
                    single, self.summary_tokens, allowance, summaries
                )
                try:
                    ways.append((f"{opening}\n{(yield from asking)}", "text"))
                except ModelError as fault:
                    asks, refusal = False, f"no more summaries were asked for: {fault_line(fault)}"
            key = (yield from originals.save(output.text)) if output.text else ""
            edit = output.replaced(placeholder)
            for text, kind in ways:  # the last that is smaller than the output
                line = note(kind, output.tokens, key, tool=tool) if key else ""
                told = "\n".join(filter(None, (text, line)))
                if told and count(told) < output.tokens:
                    edit = output.replaced(told, key)
            edits.append(edit)
        detail = originals.detail(refusal, summaries.trouble)
        return Plan(tuple(edits), reason="outputs_cleared", detail=detail)


__getattr__ = moved_names(__name__, {"tunacode": "holdfast.designs"})
