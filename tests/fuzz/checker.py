"""What a vendor refuses, written from its pages and its own package, and from no rule of this
library.

OpenAI: https://platform.openai.com/docs/guides/function-calling (an assistant message with
``tool_calls`` must be followed by tool messages responding to each ``tool_call_id``) and
``openai.types.chat``. Anthropic:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use (results stand in
the very next message, before any text of it), https://platform.claude.com/docs/en/api/messages (the
first message is a user's, content is not empty, no white space ends the last message of the
assistant) and ``anthropic.types``. Bedrock:
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
(as Anthropic; user and assistant take turns). Responses:
https://platform.openai.com/docs/guides/conversation-state and ``openai.types.responses`` (an output
names a call before it, every call has one, reasoning is followed by an item of the assistant).
Gemini: https://ai.google.dev/gemini-api/docs/function-calling and ``google.genai.types`` (responses
as many as calls, in the next content; calls follow a user). Converse: the service model of
``botocore`` and its own validator (turns alternate, a user's is first). Plain messages have a
role and a text, and nobody
refuses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, get_args, get_type_hints

from anthropic.types import MessageParam
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from google.genai.types import Content
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError

Refused = str
_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")  # ``openai.types.shared.FunctionDefinition.name``
_MOST_CALLS = 128  # https://platform.openai.com/docs/api-reference/chat/create
_TYPE = re.compile("[a-z][a-z0-9_]*")
_MOST_MARKS = 4  # https://platform.claude.com/docs/en/build-with-claude/prompt-caching


_TYPES = {
    "openai": ChatCompletionMessageParam,
    "responses": ResponseInputItemParam,
    "gemini": Content,
}


@cache
def _types(wire: str) -> TypeAdapter[Any]:
    return TypeAdapter(_TYPES.get(wire, MessageParam))


@cache
def _converse_shape() -> Any:
    return ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2")).shape_for(
        "Message"
    )


def refused(wire: str, messages: list[Any], *, whole: bool = True) -> list[Refused]:
    """Why the vendor would refuse the messages; none where it takes them.

    With ``whole`` False, for messages that somebody broke, it looks away in four points: null reads
    as absent, blocks that only the vendor makes are not looked into, nor are items of a type that
    its package does not know, and reasoning may have no id. SECURITY.md says why.
    """
    if wire == "plain":
        return [
            f"{i}: no text"
            for i, message in enumerate(messages)
            if not isinstance(message["content"], str)
        ]
    return list(_of_types(wire, messages, whole=whole)) or list(_CHECKS[wire](messages))


def _of_types(wire: str, messages: list[Any], *, whole: bool) -> Iterator[Refused]:
    for i, message in enumerate(messages):
        if wire == "converse":
            if told := ParamValidator().validate(message, _converse_shape()).generate_report():
                yield f"{i}: {told}"
            continue
        if wire == "responses" and not whole and _is_new(message):
            continue
        try:
            looked_at = message if whole else _looked_at(message)
            _exhausted(_types(wire).validate_python(looked_at))
        except ValidationError as fault:
            yield f"{i}: {fault.errors()[0]['loc']} {fault.errors()[0]['msg']}"


def _looked_at(value: Any) -> Any:
    """What is checked of a message: not the blocks that only the vendor makes, which are sent
    back as they came.

    Null reads as absent: the answers of the vendors' own packages hold nulls, and are sent back
    too.
    Codex, which is OpenAI's own, sends reasoning without the id that the package wants.
    """
    if isinstance(value, dict):
        told = {name: _looked_at(each) for name, each in value.items() if each is not None}
        return {"id": "", **told} if told.get("type") == "reasoning" else told
    if isinstance(value, list):
        return [_looked_at(each) for each in value if not _is_vendors(each)]
    return value


def _is_vendors(block: Any) -> bool:
    kind = str(block.get("type")) if isinstance(block, dict) else ""
    return kind == "server_tool_use" or kind.endswith("_tool_result")


def _is_new(message: Any) -> bool:
    """An item of a type that the package does not know: new ones come between two versions."""
    kind = message.get("type") if isinstance(message, dict) else None
    return isinstance(kind, str) and bool(_TYPE.fullmatch(kind)) and kind not in _item_types()


@cache
def _item_types() -> frozenset[str]:
    kinds = (str(get_type_hints(item)["type"]) for item in get_args(ResponseInputItemParam))
    return frozenset(name for kind in kinds for name in re.findall("'(.*?)'", kind))


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
        calls = list(message.get("tool_calls") or ())
        owed = {call["id"] for call in calls}
        if message["role"] == "assistant" and not any(
            message.get(field) is not None
            for field in ("content", "tool_calls", "function_call", "refusal", "audio")
        ):
            yield f"{i}: an assistant message says nothing"
        names = [call.get("function", call.get("custom"))["name"] for call in calls]
        if wrong := [name for name in names if not _NAME.fullmatch(name)]:
            yield f"{i}: a function is called {wrong[0]!r}"
        if len(calls) > _MOST_CALLS:
            yield f"{i}: there are {len(calls)} calls"
    if owed:
        yield "the last calls have no answer"


def _anthropic(messages: list[Any]) -> Iterator[Refused]:
    if messages and messages[0]["role"] != "user":
        yield "the first message is not a user's"
    owed: set[str] = set()
    running: set[str] = set()
    marks = 0
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
        last = i == len(messages) - 1 and message["role"] == "assistant"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            if not (last and message["content"] == ""):
                yield f"{i}: there is an empty text"
        elif not blocks and not last:
            yield f"{i}: there is no content"
        owed = {block["id"] for block in blocks if block["type"] == "tool_use"}
        for block in blocks:
            if block["type"] == "server_tool_use":
                running.add(block["id"])
            elif block["type"].endswith("_tool_result"):
                if block["tool_use_id"] not in running:
                    yield f"{i}: a result of a server's tool that nobody used"
                running.discard(block["tool_use_id"])
        if running and message["role"] == "user":
            yield f"{i}: the server's tools have not answered"
        marks += sum(bool(block.get("cache_control")) for block in blocks)
    if owed:
        yield "the last calls have no answer"
    if marks > _MOST_MARKS:
        yield f"{marks} blocks are marked for the cache"
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


def _responses(items: list[Any]) -> Iterator[Refused]:
    called: set[str] = set()
    answered: set[str] = set()
    for i, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            called.add(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in called or item["call_id"] in answered:
                yield f"{i}: an output answers no call before it"
            answered.add(item["call_id"])
        elif kind == "reasoning":
            after = [each for each in items[i + 1 :] if each.get("type") != "reasoning"][:1]
            if not after or not (
                after[0].get("type") == "function_call"
                or after[0].get("role") == "assistant"
                or _is_new(after[0])
            ):
                yield f"{i}: nothing follows the reasoning"
    if called - answered:
        yield "calls have no output"
    if not items:
        yield "there is no input"


def _gemini(contents: list[Any]) -> Iterator[Refused]:
    owed: list[str] = []
    before = ""
    for i, content in enumerate(contents):
        parts = content.get("parts") or []
        asks = any(part.get("functionCall") is not None for part in content.get("parts") or ())
        role = content.get("role") or ("model" if asks else "user")
        if role not in ("user", "model"):
            yield f"{i}: a role that there is not"
        if not parts:
            yield f"{i}: there are no parts"
        calls, answers = (
            [part[field].get("name") for part in parts if part.get(field) is not None]
            for field in ("functionCall", "functionResponse")
        )
        if None in (*calls, *answers):
            yield f"{i}: a function has no name"
            return
        if sorted(answers) != sorted(owed):
            yield f"{i}: responses {answers} for calls {owed}"
        if calls and before != "user":
            yield f"{i}: calls that follow no user"
        owed, before = calls, role
    if owed:
        yield "the last calls have no response"


def _converse(messages: list[Any]) -> Iterator[Refused]:
    owed: list[str] = []
    for i, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[i % 2]:
            yield f"{i}: it is not the turn of the {message['role']}"
        blocks = message["content"]
        alien = "toolUse" if message["role"] == "user" else "toolResult"
        if any(alien in b for b in blocks):
            yield f"{i}: a {alien} of the {message['role']}"
        answers = [b["toolResult"]["toolUseId"] for b in blocks if "toolResult" in b]
        if sorted(answers) != sorted(owed):
            yield f"{i}: results {answers} for calls {owed}"
        if not blocks or any("text" in b and not b["text"].strip() for b in blocks):
            yield f"{i}: there is an empty text"
        owed = [b["toolUse"]["toolUseId"] for b in blocks if "toolUse" in b]
    if owed:
        yield "the last calls have no result"


_CHECKS = {
    "openai": _openai,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "responses": _responses,
    "gemini": _gemini,
    "converse": _converse,
}
