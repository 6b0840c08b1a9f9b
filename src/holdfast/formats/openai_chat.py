"""Messages of OpenAI's Chat Completions, and of other servers with that API.

What this format does differently: system messages are among the others; each tool result is a
message of its own, right after the message with the call; a call's arguments are JSON text;
``content`` may be null.
"""

from holdfast.kernel.integrity import Rules
from holdfast.kernel.messages import Media, Part, Parts, Reasoning, Text, ToolCall, ToolResult

from . import CHAT_CARRIERS
from .payloads import ROLES, Located, LocatedPart, Node, Object, joined, schemas
from .rules.exchanges import FUNCTION_ID, OpenAIExchanges, ResultsRightAfter, UniqueCallIds
from .rules.messages import ArgumentsGiven, AtLeastOne, CallListNotEmpty, ContentGiven, KnownRoles
from .wire import LABEL, Glance, ObjectWire


class OpenAIChat(ObjectWire):
    """Chat Completions."""

    name = "openai_chat"
    carriers = CHAT_CARRIERS
    enveloped = ("tools", "functions")
    rules: Rules = (
        AtLeastOne(),
        KnownRoles("system", "developer", "user", "assistant", "tool", "function"),
        CallListNotEmpty(),
        ArgumentsGiven(),
        ContentGiven(),
        OpenAIExchanges(),
        ResultsRightAfter(),
        UniqueCallIds(everywhere=False),
    )

    def offered(self, body: Object, tools: object) -> Parts:
        """The tools, and the functions of the time before there were tools."""
        return super().offered(body, tools) + schemas(body.get("functions"), "functions")

    def locate(self, message: Node) -> Located:
        """Reasoning, content, refusal, sound and calls, or a tool message's result."""
        value = message.value
        if ROLES.get(value["role"]) == "tool":
            old = value["role"] == "function"
            field, what = ("name", "name") if old else ("tool_call_id", "id")
            advice = f"give the {what} of the call that it answers, or format='plain'"
            call_id = message.id(field, "the tool result", advice)
            text, media = joined(message.content("content", _part))
            yield ToolResult(FUNCTION_ID + call_id if old else call_id, text, media), ("content",)
            return
        for field in ("reasoning_content", "reasoning"):
            if value.get(field):
                yield Reasoning(message.text(field)), (field,)
                break
        yield from message.content("content", _part)
        if value.get("refusal"):
            yield message.spoken("refusal")
        if value.get("audio"):
            yield Media("audio", source=message.object("audio").label("id")), ("audio",)
        if value.get("function_call"):
            call = message.object("function_call")
            name = call.text("name")
            arguments = call.written_arguments("arguments")
            yield ToolCall(FUNCTION_ID + name, name, arguments), call.at("arguments")
        yield from map(_call, message.objects("tool_calls"))

    def glance(self, message: Object) -> Glance | None:
        """What a result says, or calls beside text, which are half of an agent's messages."""
        try:
            content = message["content"]
            if len(message) != 3:
                return None
            if message["role"] == "tool":
                call_id = message["tool_call_id"]
                usual = type(content) is type(call_id) is str and 0 < len(call_id) <= LABEL
                return ((ToolResult(call_id, content),), "") if usual else None
            parts: list[Part] = [] if content is None else [Text(content)]
            for call in message["tool_calls"]:
                call_id, function = call["id"], call["function"]
                name, arguments = function["name"], function["arguments"]
                usual = type(call_id) is type(name) is type(arguments) is str
                usual = usual and call["type"] == "function" and len(call) == 3
                if not usual or len(function) > 2 or not 0 < len(call_id) <= LABEL:
                    return None
                parts.append(ToolCall(call_id, name, arguments))
        except (KeyError, TypeError):
            return None
        usual = content is None or type(content) is str
        return (tuple(parts), "") if usual and parts else None


def _part(item: Node) -> LocatedPart:
    kind = str(item.value.get("type"))
    if kind in ("text", "refusal"):
        return item.spoken(kind)
    if kind == "image_url" and isinstance(item.value.get(kind), str):
        return Media("image", source=item.value[kind]), item.path
    if kind == "image_url":
        return item.object(kind).media("image", "url")
    if kind == "input_audio":
        return item.object(kind).media("audio", "data", media_type="format")
    if kind == "file":
        return item.object(kind).media("document", "file_data", "file_id")
    return item.unknown()


def _call(call: Node) -> LocatedPart:
    call_id = call.id("id", "the tool call", "give the id that its result names")
    is_custom = call.value.get("type") == "custom"
    kind, field = ("custom", "input") if is_custom else ("function", "arguments")
    held = call.object(kind)
    return ToolCall(call_id, held.text("name"), held.written_arguments(field)), held.at(field)
