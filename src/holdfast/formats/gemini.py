"""Contents of Google's Gemini API, also on Vertex.

What this format does differently: messages are ``contents`` with ``parts``; the assistant's role is
``model``; calls and responses need no id and are matched by name and order; a response is an
object; the system instruction is beside the contents; fields may be in camel case or snake case;
thought signatures may be on any part and are sent back unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import (
    Media,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)

from .payloads import (
    Located,
    LocatedPart,
    Object,
    Path,
    body_of,
    compact,
    content_at,
    data_of,
    is_object,
    kind_of_media,
    object_at,
    objects_at,
    objects_in,
    parsed_object,
    text_at,
    unknown,
)
from .rules.exchanges import BlockExchanges, ResultsInNextMessage
from .rules.messages import AtLeastOne, CallsFollowUsers, KnownRoles, NotEmpty
from .rules.published import published_rules
from .wire import BlockWire, unread

_SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "mimeType": "mime_type",
    "fileUri": "file_uri",
    "thoughtSignature": "thought_signature",
    "systemInstruction": "system_instruction",
}
_ID = "function:"
"""Prefix of the id of a call that has none, before the name of its function."""
_SAID = ("result", "output", "error", "content", "text")
"""Fields whose text is the whole response, if it has no other field."""


def _field(holder: Object, name: str) -> str:
    """The name of the field as this object spells it."""
    return _SNAKE[name] if name not in holder and _SNAKE[name] in holder else name


class Gemini(BlockWire):
    """``generateContent`` and its streams."""

    name = "gemini"
    field = "contents"
    content = "parts"
    enveloped = frozenset({"contents", "tools", "systemInstruction", "system_instruction"})
    rules = (
        AtLeastOne(),
        KnownRoles("user", "model", "function"),
        NotEmpty(""),
        BlockExchanges(),
        ResultsInNextMessage(),
        CallsFollowUsers(),
    )

    def prompt(self, payload: object) -> Iterator[Part]:
        """The body's system instruction."""
        body = body_of(payload)
        field = _field(body, "systemInstruction")
        system: object = body.get(field)
        holder = system if is_object(system) else {"parts": [{"text": system}] if system else []}
        return (part for part, _ in self.locate(holder, f"body.{field}"))

    def published(self, payload: object) -> tuple[Rule, ...]:
        """Fields and kinds of Google's own API."""
        del payload
        return published_rules(self.name, lambda _: "content")

    def named_role(self, original: object, place: str) -> Role:
        """The role of the content; without one, the model's if it has calls, else a user's."""
        if is_object(original) and original.get("role") is None and self.content in original:
            parts = objects_in(original[self.content])
            return (
                "assistant"
                if any(_field(part, "functionCall") in part for part in parts)
                else "user"
            )
        return super().named_role(original, place)

    def locate(self, message: Object, place: str) -> Located:
        """The parts in order; ``parts`` that are a string are one."""
        calls, results = Counter[str](), Counter[str]()

        def read(part: Object, place: str, path: Path) -> LocatedPart:
            return _part(part, place, path, calls, results)

        return content_at(message, self.content, place, read, "give a list of objects")

    def extra_texts(self, message: Object) -> Iterator[str]:
        """Function names of responses, and all other text outside the parts."""
        yield from unread(message, ("role", "parts"))
        for part in objects_in(message.get(self.content)):
            call, response = _field(part, "functionCall"), _field(part, "functionResponse")
            data, file = _field(part, "inlineData"), _field(part, "fileData")
            yield from unread(part, ("text", call, response, data, file))
            yield from unread(part.get(call), ("name", "args"))
            yield from unread(part.get(response), ("response", "parts"))

    def compose(self, role: Role, text: str) -> object:
        """A new message; the system role becomes the user's."""
        return self.holding(role, [{"text": text}])

    def holding(self, role: Role, blocks: Sequence[Object]) -> Object:
        """A message of these parts."""
        return {"role": "model" if role == "assistant" else "user", self.content: list(blocks)}

    def block(self, part: Part, name: str) -> Object | None:
        """A new part; reasoning is left out."""
        if isinstance(part, ToolCall):
            called = _called(part.id, part.name)
            return {"functionCall": {**called, "args": dict(parsed_object(part.arguments))}}
        if isinstance(part, ToolResult):
            said = {"error" if part.is_error else "result": part.text}
            shown = [_medium(media) for media in part.media]
            more = {"parts": shown} if shown else {}
            answer = {**_called(part.call_id, name), "response": said, **more}
            return {"functionResponse": answer}
        if isinstance(part, Media):
            return _medium(part)
        return None if isinstance(part, Reasoning) else {"text": part.text}


def _called(call_id: str, name: str) -> dict[str, Any]:
    """The name of a function, and the id of its call unless that was made from the name."""
    if call_id.startswith(_ID):
        return {"name": call_id.removeprefix(_ID).partition("#")[0]}
    return {"id": call_id, "name": name}


def _part(
    part: Object, place: str, path: Path, calls: Counter[str], results: Counter[str]
) -> LocatedPart:
    if "text" in part:
        text = text_at(part, "text", place)
        signed = bool(part.get(_field(part, "thoughtSignature")))
        return Reasoning(text, signed) if part.get("thought") else Text(text), (*path, "text")
    if (field := _field(part, "functionCall")) in part:
        call = object_at(part, field, place)
        name = text_at(call, "name", f"{place}.{field}")
        arguments = compact(call.get("args") or {}, f"{place}.{field}.args")
        return ToolCall(_id(call, name, calls), name, arguments), (*path, field, "args")
    if (field := _field(part, "functionResponse")) in part:
        answer = object_at(part, field, place)
        name = text_at(answer, "name", f"{place}.{field}")
        text, inner = _said(answer, f"{place}.{field}")
        shown = tuple(
            _media(each, f"{place}.{field}") or Media("document")
            for _, each in objects_at(answer, "parts", place)
        )
        failed = inner == ("response", "error")
        result = ToolResult(_id(answer, name, results), text, shown, failed)
        return result, (*path, field, *inner)
    return _media(part, place) or unknown(part, place), path


def _id(holder: Object, name: str, seen: Counter[str]) -> str:
    """The id of a call or a response, or its name and its number among those with that name."""
    if holder.get("id"):
        return str(holder["id"])
    seen[name] += 1
    return f"{_ID}{name}" + (f"#{seen[name]}" if seen[name] > 1 else "")


def _said(answer: Object, place: str) -> tuple[str, Path]:
    """The text of a response and its path: the text of its only field, or all of it as JSON."""
    response: object = answer.get("response")
    if is_object(response) and len(response) == 1:
        ((field, value),) = response.items()
        if field in _SAID and isinstance(value, str):
            return value, ("response", field)
    return compact({} if response is None else response, f"{place}.response"), ("response",)


def _media(part: Object, place: str) -> Media | None:
    """The medium in a part, or None."""
    for name, source in (("inlineData", "data"), ("fileData", "fileUri")):
        field = _field(part, name)
        if field in part:
            held = object_at(part, field, place)
            kind = text_at(held, _field(held, "mimeType"), f"{place}.{field}")
            where = source if source == "data" else _field(held, source)
            value = text_at(held, where, f"{place}.{field}")
            return Media(kind_of_media(kind), kind, value)
    return None


def _medium(media: Media) -> Object:
    kind, data = data_of(media)
    if data:
        return {"inlineData": {"mimeType": kind, "data": data}}
    held = {"fileUri": media.source} | ({"mimeType": media.media_type} if media.media_type else {})
    return {"fileData": held}
