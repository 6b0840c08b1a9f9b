"""Contents of Google's Gemini API, also on Vertex.

What this format does differently: messages are ``contents`` with ``parts``; the assistant's role is
``model``; calls and responses need no id and are matched by name and order; a response is an
object; the system instruction is beside the contents; fields may be in camel case or snake case;
thought signatures may be on any part and are sent back unchanged.
"""

import re
from collections import Counter
from functools import cache, partial
from typing import Any

from holdfast.kernel.messages import Media, Part, Reasoning, Role, Text, ToolCall, ToolResult

from .payloads import (
    Located,
    LocatedPart,
    Node,
    Object,
    Path,
    as_base64,
    data_of,
    is_object,
    kind_of_media,
    objects_in,
    parsed_object,
)
from .rules.exchanges import FUNCTION_ID, BlockExchanges, ResultsInNextMessage
from .rules.messages import AtLeastOne, CallsFollowUsers, KnownRoles, NotEmpty
from .wire import BlockWire

_SAID = ("result", "output", "error", "content", "text")
"""Fields whose text is the whole response, if it has no other field."""


@cache
def _snake(name: str) -> str:
    """The name of a field in snake case, as Python clients write it."""
    return re.sub("([A-Z])", r"_\1", name).lower()


def _field(holder: Object, name: str) -> str:
    """The name of the field as this object spells it."""
    return _snake(name) if name not in holder and _snake(name) in holder else name


def _held(part: Object, name: str) -> str:
    """The name of the field if the part holds it, else empty; dumped objects have nulls."""
    field = _field(part, name)
    return field if part.get(field) is not None else ""


class Gemini(BlockWire):
    """``generateContent`` and its streams."""

    name = "gemini"
    field = "contents"
    content = "parts"
    assistant = "model"
    prompts = ("systemInstruction", "system_instruction")
    rules = (
        AtLeastOne(),
        KnownRoles("user", "model", "function"),
        NotEmpty(""),
        BlockExchanges(),
        ResultsInNextMessage(),
        CallsFollowUsers(),
    )

    def prompted(self, text: str) -> Object:
        """A system instruction of one part."""
        return {"parts": [{"text": text}]}

    def named_role(self, original: object, place: str) -> Role:
        """The role of the content; without one, the model's if it has calls, else a user's."""
        if is_object(original) and original.get("role") is None and self.content in original:
            parts = objects_in(original[self.content])
            calls = any(_held(part, "functionCall") for part in parts)
            return "assistant" if calls else "user"
        return super().named_role(original, place)

    def locate(self, message: Node) -> Located:
        """The parts in order; ``parts`` that are a string are one."""
        read = partial(_part, calls=Counter[str](), results=Counter[str]())
        return message.content(self.content, read)

    def block(self, part: Part, name: str = "") -> Object:
        """A new part."""
        match part:
            case ToolCall(call_id, called, arguments):
                given = parsed_object(arguments)
                return {"functionCall": {**_called(call_id, called), "args": given}}
            case ToolResult(call_id, text, media, is_error):
                said = {"error" if is_error else "result": text}
                shown = {"parts": list(map(_medium, media))} if media else {}
                return {"functionResponse": {**_called(call_id, name), "response": said, **shown}}
            case Media():
                return _medium(part)
            case _:
                return {"text": part.text}


def _called(call_id: str, name: str) -> dict[str, Any]:
    """The name of a function, and the id of its call unless that was made from the name."""
    if call_id.startswith(FUNCTION_ID):
        return {"name": call_id.removeprefix(FUNCTION_ID).partition("#")[0]}
    return {"id": call_id, "name": name}


def _part(part: Node, calls: Counter[str], results: Counter[str]) -> LocatedPart:
    value = part.value
    if _held(value, "text"):
        text, signed = part.text("text"), bool(value.get(_field(value, "thoughtSignature")))
        # a stream may end with a part that has nothing but the signature of the thinking
        thinks = value.get("thought") or (signed and not text)
        return Reasoning(text, signed) if thinks else Text(text), part.at("text")
    if field := _held(value, "functionCall"):
        call = part.object(field)
        name = call.text("name")
        return call.called(_id(call, name, calls), "args")
    if field := _held(value, "functionResponse"):
        answer = part.object(field)
        name = answer.label("name")
        text, inner = _said(answer)
        shown = tuple(_media(each) or Media("document") for each in answer.objects("parts"))
        failed = inner == ("response", "error")
        return ToolResult(_id(answer, name, results), text, shown, failed), answer.at(*inner)
    medium = _media(part)
    return (medium, part.path) if medium else part.unknown()


def _id(holder: Node, name: str, seen: Counter[str]) -> str:
    """The id of a call or a response, or its name and its number among those with that name."""
    if holder.value.get("id"):
        return str(holder.value["id"])
    seen[name] += 1
    return f"{FUNCTION_ID}{name}" + (f"#{seen[name]}" if seen[name] > 1 else "")


def _said(answer: Node) -> tuple[str, Path]:
    """The text of a response and its path: the text of its only field, or all of it as JSON."""
    response: object = answer.value.get("response")
    if is_object(response) and len(response) == 1:
        ((field, value),) = response.items()
        if field in _SAID and isinstance(value, str):
            answer.tells("response")
            return value, ("response", field)
    return "{}" if response is None else answer.json("response"), ("response",)


def _media(part: Node) -> Media | None:
    """The medium in a part, or None."""
    for name, source in (("inlineData", "data"), ("fileData", "fileUri")):
        if field := _held(part.value, name):
            held = part.object(field)
            kind = held.label(_field(held.value, "mimeType"))
            given = held.value.get(_field(held.value, source))
            return Media(kind_of_media(kind), kind, as_base64(given))
    return None


def _medium(media: Media) -> Object:
    kind, data = data_of(media)
    if data:
        return {"inlineData": {"mimeType": kind, "data": data}}
    held = {"fileUri": media.source} | ({"mimeType": media.media_type} if media.media_type else {})
    return {"fileData": held}
