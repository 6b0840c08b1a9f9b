"""The same conversation on another wire: Chat Completions as a request of the Messages API, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.kernel.apply import mend
from holdfast.kernel.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

from .anthropic import Anthropic
from .openai_chat import OpenAIChat
from .payloads import body_of
from .values import compact, is_list, is_object, parsed_object

_RENAMED = ("call_ids_unique", "call_ids_spelled")
Object = dict[str, Any]


def to_anthropic(payload: object) -> Object:
    """A list or a request body of Chat Completions as ``{"system", "messages", "tools"}``, each if there is any.

    System messages become the system prompt, results blocks of one user message, arguments objects.
    An id that two calls share, or that the Messages API does not spell, gets another name.
    Reasoning stays behind, for it is not signed; a message that says nothing does too. Sound and
    unknown parts go as their JSON. Raises FormatError for what is no conversation of Chat
    Completions.
    """
    messages = OpenAIChat().read(payload).messages
    system = "\n\n".join(
        message.content_text or "" for message in messages if message.role == "system"
    )
    tools = body_of(payload).get("tools")
    body: Object = {"system": system} if system else {}
    body["messages"] = _renamed(list(_converted(messages)))
    if is_list(tools):
        body["tools"] = [_schema(tool) for tool in tools]
    return body


def to_openai(payload: object) -> Object:
    """A list or a request body of the Messages API as ``{"messages", "tools"}``, each if there is any.

    The system prompt becomes the first message, each result a message of its own; images that came
    with results follow in a message of the user. Thinking stays behind, for Chat Completions has no
    place for it. Raises FormatError for what is no conversation of the Messages API.
    """
    transcript = Anthropic().read(payload)
    system = "\n\n".join(part.text for part in transcript.envelope if isinstance(part, Text))
    tools = body_of(payload).get("tools")
    body: Object = {"messages": [{"role": "system", "content": system}] if system else []}
    for message in transcript.messages:
        body["messages"] += _told(message)
    if is_list(tools):
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
    return body


def _told(message: Message) -> Iterator[Object]:
    """The results, then what is said beside them and the calls."""
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    shown = [_shown(media) for result in message.results for media in result.media]
    content = shown + [part for part in map(_openai_part, message.parts) if part]
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in message.calls
    ]
    if content or calls:
        alone = len(content) == 1 and content[0]["type"] == "text"
        said = content[0]["text"] if alone else content or None
        yield {"role": message.role, "content": said} | ({"tool_calls": calls} if calls else {})


def _openai_part(part: Part) -> Object | None:
    """The part of a message; None for one that stands elsewhere, or says nothing there."""
    if isinstance(part, Media):
        return _shown(part)
    if isinstance(part, Text | Opaque) and part.text.strip():
        return {"type": "text", "text": part.text}
    return None


def _shown(media: Media) -> Object:
    address = media.source
    if media.media_type and not address.startswith(("http://", "https://")):
        address = f"data:{media.media_type};base64,{media.source}"
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": address}}
    return {
        "type": "file",
        "file": {"file_data" if address.startswith("data:") else "file_id": address},
    }


def _function(tool: object) -> Object:
    schema: Mapping[str, Any] = tool if is_object(tool) else {}
    function: Object = {
        "name": schema.get("name", ""),
        "parameters": schema.get("input_schema") or {"type": "object"},
    }
    return function | ({"description": schema["description"]} if schema.get("description") else {})


def _renamed(messages: list[Object]) -> list[object]:
    """The messages with ids that the Messages API takes."""
    transcript = Anthropic().read(messages)
    for rule in transcript.rules:
        if rule.name in _RENAMED:
            transcript = mend(transcript, rule.repair(transcript.messages)).transcript
    return [message.original for message in transcript.messages]


def _converted(messages: Sequence[Message]) -> Iterator[Object]:
    results: list[Object] = []
    for message in messages:
        if message.role == "tool":
            results += [_result(result) for result in message.results]
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        if message.role != "system":
            yield from _spoken(message)
    if results:
        yield {"role": "user", "content": results}


def _spoken(message: Message) -> Iterator[Object]:
    role = "assistant" if message.role == "assistant" else "user"
    if message.plain is not None:
        if message.plain.strip():
            yield {"role": role, "content": message.plain}
        return
    content = [block for part in message.parts if (block := _block(part))]
    if content:
        yield {"role": role, "content": content}


def _block(part: Part) -> Object | None:
    """The block for a part; None for one that says nothing there."""
    if isinstance(part, ToolCall):
        return {
            "type": "tool_use",
            "id": part.id,
            "name": part.name,
            "input": dict(parsed_object(part.arguments)),
        }
    if isinstance(part, Media):
        return _medium(part)
    if isinstance(part, ToolResult):
        return _result(part)
    if isinstance(part, Reasoning) or not part.text.strip():
        return None
    return {"type": "text", "text": part.text}


def _result(result: ToolResult) -> Object:
    content: str | list[Object] = result.text
    if result.media:
        texts = [{"type": "text", "text": result.text}] if result.text else []
        content = [*texts, *map(_medium, result.media)]
    return {"type": "tool_result", "tool_use_id": result.call_id, "content": content}


def _medium(media: Media) -> Object:
    if media.kind not in ("image", "document"):
        return {"type": "text", "text": compact({"type": media.kind, "source": media.source})}
    if media.source.startswith("data:"):
        kind, _, data = media.source.removeprefix("data:").partition(";base64,")
        return {"type": media.kind, "source": {"type": "base64", "media_type": kind, "data": data}}
    if media.source.startswith(("http://", "https://")):
        return {"type": media.kind, "source": {"type": "url", "url": media.source}}
    return {"type": media.kind, "source": {"type": "file", "file_id": media.source}}


def _schema(tool: object) -> Object:
    function: Mapping[str, Any] = tool.get("function", tool) if is_object(tool) else {}
    schema: Object = {
        "name": function.get("name", ""),
        "input_schema": function.get("parameters") or {"type": "object"},
    }
    return schema | (
        {"description": function["description"]} if function.get("description") else {}
    )
