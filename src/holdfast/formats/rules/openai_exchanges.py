"""Tool exchanges as Chat Completions wants them: each result a message, right after the message that called."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from holdfast.kernel.edits import Edit
from holdfast.kernel.integrity import Rule, ToolExchanges, Violation
from holdfast.kernel.messages import Message, ToolCall, ToolResult

from .changes import edits_between, made, original
from .pairing import NO_NAME, NO_RESULT, Place, answers, paired

FUNCTION_ID = "function:"
"""The old function calls have no id: a result is matched by the name of its function, after this prefix."""


class OpenAIExchanges(ToolExchanges):
    """A call and all its results are one unit.

    The repair moves results next to their calls, gives a call that has none an answer that says so,
    and a result that has no call a call without arguments: nothing that was said is lost.
    """

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """Every result right after its call."""
        return edits_between(messages, list(_regrouped(messages)), self.name)


class ResultsRightAfter(Rule):
    """Nothing stands between a call and its results, a system message neither."""

    name = "results_right_after_call"

    def violations(self, messages: Sequence[Message]) -> Iterator[Violation]:
        """System messages inside an exchange: any other message would end it."""
        waiting: set[str] = set()
        for i, message in enumerate(messages):
            if message.role == "tool":
                waiting.difference_update(result.call_id for result in message.results)
            elif message.role != "system":
                waiting = set() if message.is_speech else {call.id for call in message.calls}
            elif waiting:
                yield Violation(self.name, i, "it stands between a tool call and its result")

    def repair(self, messages: Sequence[Message]) -> Sequence[Edit]:
        """The results move up."""
        return edits_between(messages, list(_regrouped(messages)), self.name)


def _regrouped(messages: Sequence[Message]) -> Iterator[Message]:
    pairs = paired(messages)
    found = answers(pairs)
    for i, message in enumerate(messages):
        result = next(iter(message.results), None)
        if result is None:
            yield message
            answered = found.get(i, {})
            yield from (messages[place[0]] for place in answered.values())
            yield from _missing(message, i, answered)
        elif (i, 0) not in pairs:
            yield made(message.wire, _call_for(result, original(message)))
            yield message


def _missing(caller: Message, i: int, answered: Collection[Place]) -> Iterator[Message]:
    for k, part in enumerate(caller.parts):
        if isinstance(part, ToolCall) and caller.role == "assistant" and (i, k) not in answered:
            yield made(caller.wire, _result_for(part, original(caller)))


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
