"""Messages of OpenAI's Chat Completions, and of other servers with that API.

What this format does differently: system messages are among the others; each tool result is a
message of its own, right after the message with the call; a call's arguments are JSON text;
``content`` may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import Media, Part, Parts, Reasoning, Text, ToolCall, ToolResult

from . import CHAT_CARRIERS
from .payloads import (
    ROLES,
    Located,
    LocatedPart,
    Object,
    Path,
    compact,
    content_at,
    id_at,
    is_object,
    joined,
    object_at,
    objects_at,
    schemas,
    text_at,
    unknown,
)
from .rules.exchanges import FUNCTION_ID, OpenAIExchanges, ResultsRightAfter, UniqueCallIds
from .rules.messages import AtLeastOne, CallListNotEmpty, ContentGiven, KnownRoles
from .rules.published import published_rules
from .wire import SPOKEN, ObjectWire, beside, unread

_BESIDE_CALLS = CHAT_CARRIERS - {"tool_calls"}
_REASONING = ("reasoning_content", "reasoning")
_READ = frozenset({"role", "content", "refusal", "tool_calls", "function_call", *_REASONING})
_KINDS = {"function": ("function",), "custom": ("custom",)}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "refusal": ("refusal",),
    "image_url": (),
    "input_audio": (),
    "file": (),
}
"""Types of parts that are read, and the fields of their text."""


class OpenAIChat(ObjectWire):
    """Chat Completions."""

    name = "openai_chat"
    carriers = CHAT_CARRIERS
    enveloped = ObjectWire.enveloped | {"functions"}
    rules: tuple[Rule, ...] = (
        AtLeastOne(),
        KnownRoles("system", "developer", "user", "assistant", "tool", "function"),
        CallListNotEmpty(),
        ContentGiven(),
        OpenAIExchanges(),
        ResultsRightAfter(),
        UniqueCallIds(everywhere=False),
    )

    def offered(self, body: Object, tools: object) -> Parts:
        """The tools, and the functions of the time before there were tools."""
        return super().offered(body, tools) + schemas(body.get("functions"), "functions")

    def published(self, payload: object) -> tuple[Rule, ...]:
        """Fields and limits of OpenAI's own API; other servers may accept more."""
        del payload
        return published_rules(self.name)

    def locate(self, message: Object, place: str) -> Located:
        """Reasoning, content, refusal, sound and calls, or a tool message's result."""
        if ROLES.get(message["role"]) == "tool":
            yield _result(message, place), ("content",)
            return
        for field in _REASONING:
            if message.get(field):
                yield Reasoning(text_at(message, field, place)), (field,)
                break
        yield from _content(message, place)
        if message.get("refusal"):
            yield Text(text_at(message, "refusal", place)), ("refusal",)
        if message.get("audio"):
            audio = object_at(message, "audio", place)
            yield Media("audio", source=text_at(audio, "id", f"{place}.audio")), ("audio",)
        if message.get("function_call"):
            call = object_at(message, "function_call", place)
            name, arguments = _function(call, "arguments", f"{place}.function_call")
            yield ToolCall(FUNCTION_ID + name, name, arguments), ("function_call", "arguments")
        for k, call in objects_at(message, "tool_calls", place):
            yield _call(call, f"{place}.tool_calls[{k}]", ("tool_calls", k))

    def id_path(self, message: Object, part: int) -> Path | None:
        """The path of the id: in the tool's message, or beside the function of the call."""
        if message.get("tool_call_id"):
            return ("tool_call_id",)
        _, path = list(self.locate(message, "message"))[part]
        return (*path[:2], "id") if path[0] == "tool_calls" else None

    def extra_texts(self, message: Object) -> Iterator[str]:
        """Names of speakers, and all other text outside the parts."""
        is_result = message["role"] in ("tool", "function")  # only the content is a part
        yield from beside(message, SPOKEN if is_result else _READ, _PARTS)
        if is_result:
            return
        if message.get("reasoning") and message.get("reasoning_content"):
            yield message["reasoning"]  # only one of them is a part
        for call in message.get("tool_calls") or ():
            kind, field = _kind(call)
            yield from unread(call, _KINDS[kind])
            yield from unread(call[kind], ("name", field))
        if message.get("function_call"):
            yield from unread(message["function_call"], ("name", "arguments"))

    def quick_parts(self, message: Object) -> Parts | None:
        """The parts of a result, or of calls beside text, which are half of an agent's messages."""
        try:
            content = message["content"]
            if message["role"] == "tool":
                call_id = message["tool_call_id"]
                sound = type(content) is type(call_id) is str and call_id != ""
                return (ToolResult(call_id, content),) if sound else None
            parts: list[Part] = [] if content is None else [Text(content)]
            for call in message["tool_calls"]:
                call_id, function = call["id"], call["function"]
                name, arguments = function["name"], function["arguments"]
                if not (type(call_id) is type(name) is type(arguments) is str and call_id):
                    return None
                parts.append(ToolCall(call_id, name, arguments))
        except (KeyError, TypeError, AttributeError):
            return None
        sound = (content is None or type(content) is str) and _BESIDE_CALLS.isdisjoint(message)
        return tuple(parts) if sound and parts else None


def _result(message: Object, place: str) -> ToolResult:
    old = message["role"] == "function"
    field, what = ("name", "name") if old else ("tool_call_id", "id")
    advice = f"give the {what} of the call that it answers, or format='plain'"
    call_id = id_at(message, field, place, "the tool result", advice)
    text, media = joined(part for part, _ in _content(message, place))
    return ToolResult(FUNCTION_ID + call_id if old else call_id, text, media)


def _content(message: Object, place: str) -> Located:
    advice = "give text, null or a list of parts"
    return content_at(message, "content", place, _part, advice)


def _part(item: Object, place: str, path: Path) -> LocatedPart:
    kind = str(item.get("type"))
    if kind in ("text", "refusal"):
        return Text(text_at(item, kind, place)), (*path, kind)
    if kind == "image_url" and isinstance(item.get(kind), str):
        return Media("image", source=item[kind]), path
    if kind not in _PARTS:
        return unknown(item, place), path
    held, there = object_at(item, kind, place), f"{place}.{kind}"
    if kind == "image_url":
        source, detail = text_at(held, "url", there), text_at(held, "detail", there)
        return Media("image", source=source, detail=detail), path
    if kind == "input_audio":
        return Media("audio", text_at(held, "format", there), text_at(held, "data", there)), path
    source = text_at(held, "file_data", there) or text_at(held, "file_id", there)
    return Media("document", source=source), path


def _call(call: Object, place: str, path: Path) -> LocatedPart:
    call_id = id_at(call, "id", place, "the tool call", "give the id that its result names")
    kind, field = _kind(call)
    name, arguments = _function(object_at(call, kind, place), field, f"{place}.{kind}")
    return ToolCall(call_id, name, arguments), (*path, kind, field)


def _kind(call: Object) -> tuple[str, str]:
    """The field that names what is called, and its field for the arguments."""
    return ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")


def _function(call: Object, field: str, place: str) -> tuple[str, str]:
    """The name and the arguments as JSON text; some clients keep the arguments as an object."""
    arguments: object = call.get(field)
    text = compact(arguments, place) if is_object(arguments) else text_at(call, field, place)
    return text_at(call, "name", place), text
