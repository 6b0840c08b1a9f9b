"""Reading payloads of JSON objects, with errors that name the place and the remedy.

``as_sent`` makes such objects of those of vendors' packages: they answer with pydantic models, and
agents append those to their history unchanged, a whole message, its blocks or its calls.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import is_
from typing import Any, NoReturn

from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, MediaKind, Opaque, Part, Parts, Role, Text, ToolCall
from holdfast.kernel.registry import imported
from holdfast.kernel.typed import is_list as is_list  # noqa: PLC0414 - part of this module
from holdfast.kernel.typed import is_object as is_object  # noqa: PLC0414
from holdfast.kernel.typed import object_of
from holdfast.kernel.typed import what_is as what_is  # noqa: PLC0414

MESSAGES = "messages"

Object = Mapping[str, Any]
"""A JSON object."""

Path = tuple[str | int, ...]
"""Keys and indices from the message to the value with the part's text."""

LocatedPart = tuple[Part, Path]
Located = Iterator[LocatedPart]
"""The parts of a message in order, each with the path of its text."""

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""The roles by their names in all formats. Any other name is read as a user's."""


def body_of(payload: object) -> Object:
    """The request body; empty if the payload is a list."""
    return payload if is_object(payload) else {}


def model_of(payload: object) -> str | None:
    """The model that a request body names, or None."""
    model = body_of(payload).get("model")
    return model if isinstance(model, str) and model else None


def messages_of(payload: object, field: str = MESSAGES) -> Sequence[Any]:
    """The messages of a list or of a request body. Raises FormatError if there are none."""
    found, place = payload, ""
    if is_object(payload):
        found, place = payload.get(field), field
        if found is None:
            advice = "give a list of messages, or a request body"
            raise FormatError(f'an object without "{field}" is not a conversation', advice=advice)
    if is_list(found):
        return found
    advice = 'give a list such as [{"role": "user", "content": "..."}]'
    raise FormatError(f"{what_is(found)} is not a list of messages", place=place, advice=advice)


def objects_in(value: object) -> Iterator[Object]:
    """The objects in a list; none if it is not a list."""
    if is_list(value):
        yield from (each for each in value if is_object(each))


def schemas(tools: object, place: str = "tools") -> Parts:
    """The compact JSON of each tool schema, as it is counted. Raises FormatError."""
    if tools is None:
        return ()
    advice = "give the list of schemas that the request sends"
    if not is_list(tools):
        refuse(tools, place, advice)
    found: list[Opaque] = []
    for i, schema in enumerate(tools):
        at = f"{place}[{i}]"
        if not is_object(schema):
            refuse(schema, at, advice)
        if "role" in schema:
            raise FormatError("this is a message, no schema of a tool", place=at, advice=advice)
        found.append(Opaque(compact(schema, at)))
    return tuple(found)


def joined(parts: Iterable[LocatedPart]) -> tuple[str, tuple[Media, ...]]:
    """The parts of a tool result as text, one part a line, and its media."""
    read = [part for part, _ in parts]
    text = "\n".join(part.text for part in read if not isinstance(part, Media))
    return text, tuple(part for part in read if isinstance(part, Media))


@dataclass(slots=True)
class Node:
    """An object of a message: errors name its place, and edits follow its path.

    ``root`` is the place of the message, from which the path leads to the object. The methods read
    a field, and raise FormatError for a value that does not belong there. ``told`` has the fields
    whose texts are in parts, by the identity of the object that holds them.
    """

    value: Object
    root: str
    path: Path = ()
    told: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def tells(self, *fields: str) -> None:
        """Note that the texts in these fields are in a part, and not beside it."""
        self.told[id(self.value)] += fields

    def at(self, *steps: str | int) -> Path:
        """The path of a value in the object."""
        return self.path + steps

    def place(self, *steps: str | int) -> str:
        """The place of a value in the object."""
        told = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.at(*steps))
        return self.root + "".join(told)

    def text(self, field: str) -> str:
        """The text in this field, which is that of a part."""
        self.tells(field)
        return self.label(field)

    def label(self, field: str) -> str:
        """The text in this field, empty if missing or null."""
        value = self.value.get(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            refuse(value, self.place(field), "give text")
        return value

    def id(
        self, field: str, owner: str, advice: str = "a call and its result name the same id"
    ) -> str:
        """The id in this field; without one, the error names ``owner``."""
        value = self.label(field)
        if not value:
            raise FormatError(f'{owner} has no "{field}"', place=self.place(), advice=advice)
        return value

    def object(self, field: str) -> Node:
        """The object in this field."""
        value = self.value.get(field)
        if not is_object(value):
            refuse(value, self.place(field), "give an object")
        return Node(value, self.root, self.at(field), self.told)

    def objects(self, field: str) -> Iterator[Node]:
        """The objects of the list in this field; null is an empty list."""
        value = self.value.get(field)
        if value is None:
            return
        if not is_list(value):
            refuse(value, self.place(field), "give a list of objects")
        for k, item in enumerate(value):
            if not is_object(item):
                refuse(item, self.place(field, k), "give an object")
            yield Node(item, self.root, (*self.path, field, k), self.told)

    def content(self, field: str, read: Callable[[Node], LocatedPart]) -> Located:
        """The parts of a content that is a string or a list of objects, which ``read`` reads."""
        content = self.value.get(field)
        if isinstance(content, str):
            yield self.spoken(field)
            return
        if content is not None and not is_list(content):
            refuse(content, self.place(field), "give text or a list of parts")
        yield from map(read, self.objects(field))

    def media(self, kind: MediaKind, *sources: str, media_type: str = "") -> LocatedPart:
        """The object as a medium; its source is in the first of these fields that has a text."""
        source = next((text for field in sources if (text := self.label(field))), "")
        told = self.label(media_type)  # of sound some APIs tell the format alone
        told = f"{kind}/{told}" if told and "/" not in told else told
        return Media(kind, told, source, self.label("detail")), self.path

    def spoken(self, field: str) -> LocatedPart:
        """The text in this field as a part."""
        return Text(self.text(field)), self.at(field)

    def called(self, call_id: str, arguments: str, name: str = "name") -> LocatedPart:
        """The object as a call, whose name and arguments are in these fields."""
        call = ToolCall(call_id, self.text(name), self.arguments(arguments))
        return call, self.at(arguments)

    def json(self, *steps: str) -> str:
        """The JSON of the object, or of the value in a field."""
        self.tells(*steps or self.value)
        try:
            return compact(self.value.get(steps[0]) if steps else self.value)
        except FormatError as fault:
            raise fault.at(self.place(*steps)) from fault

    def arguments(self, field: str) -> str:
        """The arguments of a call as JSON text, for a field that is an object in the API."""
        given: object = self.value.get(field)
        if not given:  # PHP writes an empty object as a list, and some clients as empty text
            return "{}"
        return self.text(field) if isinstance(given, str) else self.json(field)

    def written_arguments(self, field: str) -> str:
        """The arguments of a call, for a field that is JSON text; some clients keep an object."""
        given: object = self.value.get(field)
        if given is None:
            return "{}"
        return self.json(field) if is_object(given) else self.text(field)

    def unknown(self) -> LocatedPart:
        """The object as a part of unknown type; FormatError for a block of Converse."""
        if "toolUse" in self.value or "toolResult" in self.value:
            problem, advice = "this is a block of Bedrock's Converse API", "leave the format out"
            raise FormatError(problem, place=self.place(), advice=f"{advice}, or name converse")
        return Opaque(self.json()), self.path


def kind_of_media(media_type: str) -> MediaKind:
    """The kind of a medium with this type, a document's for any other."""
    family: Any = media_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else "document"


def as_text(media: Media) -> str:
    """A medium as text, for formats without a field for it."""
    return compact({"type": media.kind, "source": media.source})


def as_base64(data: object) -> str:
    """Data of a medium as JSON holds it, for packages whose objects have bytes."""
    return b64encode(data).decode() if isinstance(data, bytes) else str(data or "")


def is_address(source: str) -> bool:
    """Whether a medium is given by a web address."""
    return source.startswith(("http://", "https://"))


_STANDARD = str.maketrans("-_", "+/")
"""From the base64 for URLs, which Google's package writes, to the one that every vendor reads."""


def data_of(media: Media) -> tuple[str, str]:
    """The type and the base64 data of a medium; no data if it is an address or a file id."""
    kind, data = media.media_type, media.source
    if data.startswith("data:"):
        kind, _, data = data.removeprefix("data:").partition(";base64,")
    elif not kind or ":" in data:  # of a bucket, too
        data = ""
    kind = "image/jpeg" if kind == "image/jpg" else kind  # the only name that vendors accept
    return kind, data.translate(_STANDARD)


def refuse(value: object, place: str, advice: str) -> NoReturn:
    """Raise the FormatError for a value of a wrong type."""
    raise FormatError(f"{what_is(value)} does not belong here", place=place, advice=advice)


def rewritten(original: Object, texts: Mapping[Path, str]) -> Object:
    """A copy of the message with these texts at these paths; everything else is shared.

    An object at a path, such as the arguments of a call, is replaced by the JSON object that the
    text holds.
    """
    copy: dict[str, Any] = dict(original)
    for path, text in texts.items():
        copy = _with_text(copy, path, text)
    return copy


def _with_text(value: Any, path: Path, text: str) -> Any:
    if not path:
        return parsed_object(text) if is_object(value) else text
    step, *rest = path
    now: Any = dict(value) if is_object(value) else list(value)
    now[step] = _with_text(now[step] if rest else now.get(step), tuple(rest), text)
    return now


def compact(value: object, place: str = "", otherwise: Callable[[object], object] = str) -> str:
    """The value as JSON without white space, as it is counted.

    ``otherwise`` converts what JSON cannot hold. Raises FormatError, naming the place, for a value
    that contains itself or is nested too deeply.
    """
    try:
        return _encoder(otherwise).encode(value)
    except (RecursionError, ValueError) as fault:
        raise FormatError(
            "it is nested too deeply to be counted, or holds itself",
            place=place,
            advice="give it less deeply nested",
        ) from fault


@cache  # ``json.dumps`` makes an encoder for each call, which takes as long as its work
def _encoder(otherwise: Callable[[object], object]) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=otherwise)


def parsed_object(text: str) -> dict[str, Any]:
    """The JSON object in the text, or ``{"text": text}`` if there is none."""
    found = object_of(text)
    return {"text": text} if found is None else found


_HOLDERS = (MESSAGES, "input", "contents", "content", "parts", "tool_calls")
"""The fields of request bodies and of messages whose lists hold messages, blocks or calls."""


def as_sent(payload: Any) -> Any:
    """The payload with dictionaries for such objects; the same payload if it has none.

    Unset fields are left out, as the packages of OpenAI and Anthropic do when they send the object.
    Raises FormatError for a message that contains itself.
    """
    try:
        return _sent(payload)
    except RecursionError as fault:
        raise FormatError(
            "a message is nested too deeply, or holds itself", advice="give it less deeply nested"
        ) from fault


def _sent(item: Any, *, is_part: bool = False) -> Any:
    """A list, a message, a block or a call; only objects that are messages or blocks are converted.

    ``is_part``: it is a part of a message of Gemini, which has neither a role nor a type.
    """
    if is_list(item):
        made = [_sent(each, is_part=is_part) for each in item]
        if all(map(is_, made, item)):
            return item
        return tuple(made) if isinstance(item, tuple) else made
    if is_object(item):
        for name in _HOLDERS:
            inner = item.get(name)
            held = _sent(inner, is_part=name == "parts") if is_list(inner) else inner
            if held is not inner:
                item = {**item, name: held}
        return item
    if hasattr(item, "model_dump"):
        unset = hasattr(item, "additional_kwargs")  # LangChain's, which never set their type
        dumped: object = item.model_dump(mode="json", exclude_unset=not unset)
    elif hasattr(item, "parts") and hasattr(item, "kind"):  # Pydantic AI's
        return imported("pydantic:TypeAdapter")(item.__class__).dump_python(item, mode="json")
    else:
        return item
    if not is_object(dumped) or not (is_part or dumped.keys() & {"role", "type"}):
        return item
    # an answer of the Messages API, which accepts two fields; a Responses API's item has no model
    if dumped.get("type") == "message" and "model" in dumped:
        return {field: dumped.get(field) for field in ("role", "content")}
    return dumped
