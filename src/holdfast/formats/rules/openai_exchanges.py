"""Tool exchanges of Chat Completions: each result is a message right after the call's message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.kernel.integrity import ToolExchanges, Violation
from holdfast.kernel.messages import Message, ToolCall, ToolResult

from .changes import RewritingRule, made, original
from .pairing import NO_NAME, NO_RESULT, answers, paired

FUNCTION_ID = "function:"
"""Prefix of the id of an old function call, which has none of its own, before the function's name:
its result is found by that name.
"""


class _ResultsBehindCalls(RewritingRule):
    """A rule whose repair moves every result right after its call."""

    def rewritten(self, messages: Sequence[Message]) -> Iterable[Message]:
        """The messages, regrouped.

        A call without a result is answered by a note that says so, and a result without a call gets
        a call without arguments, so that nothing is lost.
        """
        pairs = paired(messages)
        found = answers(pairs)
        for i, message in enumerate(messages):
            result = next(iter(message.results), None)
            if result is None:
                yield message
                answered = found.get(i, {})
                yield from (messages[place[0]] for place in answered.values())
                for k, part in enumerate(message.parts if message.calls else ()):
                    if isinstance(part, ToolCall) and (i, k) not in answered:
                        yield made(message.wire, _result_for(part, original(message)))
            elif (i, 0) not in pairs:
                yield made(message.wire, _call_for(result, original(message)))
                yield message


class OpenAIExchanges(_ResultsBehindCalls, ToolExchanges):
    """A call and all its results are one unit."""


class ResultsRightAfter(_ResultsBehindCalls):
    """Nothing is between a call and its results, not even a system message."""

    name = "results_right_after_call"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """System messages inside an exchange; any other message would end it."""
        waiting: set[str] = set()
        for i, message in enumerate(messages):
            if message.role == "tool":
                waiting.difference_update(result.call_id for result in message.results)
            elif message.role != "system":
                waiting = {call.id for call in message.calls}
            elif waiting:
                yield Violation(self.name, i, "it is between a tool call and its result")


def _call_for(result: ToolResult, message: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": message.get("name") or NO_NAME, "arguments": "{}"}
    if message["role"] == "function":
        return {"role": "assistant", "content": None, "function_call": function}
    call = {"id": result.call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _result_for(call: ToolCall, message: Mapping[str, Any]) -> dict[str, Any]:
    if message.get("function_call") and call.id == FUNCTION_ID + call.name:
        return {"role": "function", "name": call.name, "content": NO_RESULT}
    return {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}
