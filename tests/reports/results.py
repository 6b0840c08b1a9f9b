"""Results of compressions that never ran: made of a conversation and the edits of each step."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.formats import named
from holdfast.kernel.apply import apply
from holdfast.kernel.edits import Edit
from holdfast.kernel.ports import Accuracy
from holdfast.result import CompressionMetrics, CompressionResult, Step, TokenUsage
from holdfast.tokens import meter_for

BY_LETTER = "floor4"
"""A counter for which four letters are a token: sizes that a reader of a test can work out."""


def result_of(
    messages: list[dict[str, object]],
    *steps: tuple[str, Sequence[Edit]],
    limit: int = 10_000,
    form: str = "openai_chat",
) -> CompressionResult:
    """What these edits make of the messages, step by step."""
    meter = meter_for(counter=BY_LETTER)
    now = named(form).read(messages)
    before = tokens = meter.total(now)
    records: list[Step] = []
    for name, edits in steps:
        applied = apply(now, edits)
        now, earlier, tokens = applied.transcript, tokens, meter.total(applied.transcript)
        after = tuple(message.original for message in now.messages)
        status = "compacted" if edits else "skipped"
        reason = "" if edits else "nothing_old"
        record = Step(
            name, earlier, tokens, status, reason, "", applied.edits, applied.taken, after
        )
        records.append(record)
    return CompressionResult(
        messages=[message.original for message in now.messages],
        metrics=CompressionMetrics(before, tokens, len(messages), len(now)),
        spent=TokenUsage(tokens, limit),
        strategy_name="by_hand",
        format=form,
        steps=tuple(records),
        status="compacted" if any(edits for _, edits in steps) else "skipped",
        accuracy=Accuracy("approximate", 0.2),
    )


def user(text: str) -> dict[str, object]:
    """A message of a user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, object]:
    """A message of the assistant."""
    return {"role": "assistant", "content": text}


def call(call_id: str, name: str = "read_file", arguments: str = "{}") -> dict[str, object]:
    """A message of the assistant that calls one tool."""
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def output(call_id: str, text: str) -> dict[str, object]:
    """What the tool gave back."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}
