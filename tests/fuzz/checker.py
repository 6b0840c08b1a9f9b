"""What a vendor refuses, written from its pages and its own package, and from no rule of this library.

OpenAI: https://platform.openai.com/docs/guides/function-calling (an assistant message with
``tool_calls`` must be followed by tool messages responding to each ``tool_call_id``) and
``openai.types.chat``. Anthropic:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use (results stand in
the very next message, before any text of it), https://platform.claude.com/docs/en/api/messages (the
first message is a user's, content is not empty, no white space ends the last message of the
assistant) and ``anthropic.types``. Bedrock:
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
(as Anthropic; user and assistant take turns). Plain messages have a role and a text, and nobody
refuses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter, ValidationError

Refused = str


@cache
def _types(wire: str) -> TypeAdapter[Any]:
    return TypeAdapter(ChatCompletionMessageParam if wire == "openai" else MessageParam)


def refused(wire: str, messages: list[Any]) -> list[Refused]:
    """Why the vendor would refuse the messages; none where it takes them."""
    if wire == "plain":
        return [
            f"{i}: no text"
            for i, message in enumerate(messages)
            if not isinstance(message["content"], str)
        ]
    return list(_of_types(wire, messages)) or list(_CHECKS[wire](messages))


def _of_types(wire: str, messages: list[Any]) -> Iterator[Refused]:
    for i, message in enumerate(messages):
        try:
            _exhausted(_types(wire).validate_python(message))
        except ValidationError as fault:
            yield f"{i}: {fault.errors()[0]['loc']} {fault.errors()[0]['msg']}"


def _exhausted(value: Any) -> None:
    """The vendors type lists as iterables, which are checked as they are read."""
    if isinstance(value, dict):
        for inner in value.values():
            _exhausted(inner)
    elif value is not None and not isinstance(value, str | int | float):
        for inner in value:
            _exhausted(inner)


def _openai(messages: list[Any]) -> Iterator[Refused]:
    owed: set[str] = set()
    for i, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in owed:
                yield f"{i}: a tool message answers no call before it"
            owed.discard(message["tool_call_id"])
            continue
        if owed:
            yield f"{i}: calls before it have no answer"
        owed = {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "assistant" and not (
            message.get("content") or message.get("tool_calls")
        ):
            yield f"{i}: an assistant message says nothing"
    if owed:
        yield "the last calls have no answer"


def _anthropic(messages: list[Any]) -> Iterator[Refused]:
    if messages and messages[0]["role"] != "user":
        yield "the first message is not a user's"
    owed: set[str] = set()
    for i, message in enumerate(messages):
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(answered) != sorted(owed):
            yield f"{i}: results {answered} for calls {sorted(owed)}"
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            yield f"{i}: a result stands behind other content"
        if (
            any(block["type"] == "text" and not block["text"].strip() for block in blocks)
            or not blocks
        ):
            yield f"{i}: there is an empty text"
        owed = {block["id"] for block in blocks if block["type"] == "tool_use"}
    if owed:
        yield "the last calls have no answer"
    last = messages[-1] if messages else {"role": ""}
    if (
        last["role"] == "assistant"
        and isinstance(last["content"], str)
        and last["content"] != last["content"].rstrip()
    ):
        yield "the last message ends in white space"


def _bedrock(messages: list[Any]) -> Iterator[Refused]:
    yield from _anthropic(messages)
    for i, (one, other) in enumerate(pairwise(messages)):
        if one["role"] == other["role"]:
            yield f"{i + 1}: two messages of the {one['role']} in a row"


_CHECKS = {"openai": _openai, "anthropic": _anthropic, "bedrock": _bedrock}
