"""Messages of OpenAI's Chat Completions, and of other servers with that API.

What this format does differently: system messages are among the others; each tool result is a
message of its own, right after the message with the call; a call's arguments are JSON text;
``content`` may be null.
"""

from collections.abc import Mapping, Sequence

from holdfast.kernel.integrity import Rules
from holdfast.kernel.messages import Media, Part, Parts, Reasoning, Text, ToolCall, ToolResult

from . import CHAT_CARRIERS
from .payloads import ROLES, Located, LocatedPart, Node, Object, joined, schemas
from .rules.exchanges import FUNCTION_ID, OpenAIExchanges, ResultsRightAfter, UniqueCallIds
from .rules.messages import AtLeastOne, CallListNotEmpty, ContentGiven, KnownRoles
from .wire import BY_TYPE, LABEL, Glance, ObjectWire, ReadFields, read_fields, unread

_PARTS: Mapping[str, ReadFields] = {
    "text": read_fields("text"),
    "refusal": read_fields("refusal"),
    "image_url": {},
    "input_audio": {},
    "file": {},
}
"""Types of parts that are read, and the fields of their text."""
_CALLED = read_fields("name arguments")
_RESULT: ReadFields = {"role": None, "content": {BY_TYPE: _PARTS}}
_READ: ReadFields = {
    **_RESULT,
    **read_fields("refusal reasoning_content reasoning"),
    "tool_calls": {"function": _CALLED, "custom": read_fields("name input")},
    "function_call": _CALLED,
}


class OpenAIChat(ObjectWire):
    """Chat Completions."""

    name = "openai_chat"
    carriers = CHAT_CARRIERS
    enveloped = ObjectWire.enveloped | {"functions"}
    rules: Rules = (
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

    def locate(self, message: Object, place: str) -> Located:
        """Reasoning, content, refusal, sound and calls, or a tool message's result."""
        node = Node(message, place)
        if ROLES.get(message["role"]) == "tool":
            old = message["role"] == "function"
            field, what = ("name", "name") if old else ("tool_call_id", "id")
            advice = f"give the {what} of the call that it answers, or format='plain'"
            call_id = node.id(field, "the tool result", advice)
            text, media = joined(_content(node))
            yield ToolResult(FUNCTION_ID + call_id if old else call_id, text, media), ("content",)
            return
        for field in ("reasoning_content", "reasoning"):
            if message.get(field):
                yield Reasoning(node.text(field)), (field,)
                break
        yield from _content(node)
        if message.get("refusal"):
            yield node.spoken("refusal")
        if message.get("audio"):
            yield Media("audio", source=node.object("audio").text("id")), ("audio",)
        if message.get("function_call"):
            call = node.object("function_call")
            name = call.text("name")
            arguments = call.written_arguments("arguments")
            yield ToolCall(FUNCTION_ID + name, name, arguments), call.at("arguments")
        yield from map(_call, node.objects("tool_calls"))

    def extra_texts(self, message: Object) -> Sequence[str]:
        """Names of speakers, and all other text outside the parts."""
        if message["role"] in ("tool", "function"):  # only the content is a part
            return unread(message, _RESULT)
        found = unread(message, _READ)
        if message.get("reasoning") and message.get("reasoning_content"):
            return [*found, message["reasoning"]]  # only one of them is a part
        return found

    def glance(self, message: Object) -> Glance | None:
        """What a result says, or calls beside text, which are half of an agent's messages."""
        try:
            content = message["content"]
            if message["role"] == "tool":
                call_id, name = message["tool_call_id"], message.get("name", "")
                usual = type(content) is type(call_id) is type(name) is str
                usual = usual and len(message) <= 3 + ("name" in message)
                if not usual or not 0 < len(call_id) <= LABEL:
                    return None
                return (ToolResult(call_id, content),), f"\n{name}" if name else ""
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
        usual = len(message) == 3 and (content is None or type(content) is str)
        return (tuple(parts), "") if usual and parts else None


def _content(message: Node) -> Located:
    return message.content("content", _part, "give text, null or a list of parts")


def _part(item: Node) -> LocatedPart:
    kind = str(item.value.get("type"))
    if kind in ("text", "refusal"):
        return item.spoken(kind)
    if kind == "image_url" and isinstance(item.value.get(kind), str):
        return Media("image", source=item.value[kind]), item.path
    if kind not in _PARTS:
        return item.unknown()
    held = item.object(kind)
    if kind == "image_url":
        return held.media("image", "url")
    if kind == "input_audio":
        return held.media("audio", "data", media_type="format")
    return held.media("document", "file_data", "file_id")


def _call(call: Node) -> LocatedPart:
    call_id = call.id("id", "the tool call", "give the id that its result names")
    is_custom = call.value.get("type") == "custom"
    kind, field = ("custom", "input") if is_custom else ("function", "arguments")
    held = call.object(kind)
    return ToolCall(call_id, held.text("name"), held.written_arguments(field)), held.at(field)
