"""Messages of Pydantic AI: its objects, and the JSON that ``ModelMessagesTypeAdapter`` writes.

What this format does differently: a message is a request or a response with parts; system prompts
are parts of a request, or its ``instructions``, of which the newest apply; results name their tool,
and may be any value; a user's text and media are in one list. Calls of a vendor's own tools and
their results are not changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.kernel.errors import FormatError
from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import (
    MEDIA_KINDS,
    Media,
    MediaKind,
    Messages,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    Texts,
    ToolCall,
    ToolResult,
)
from holdfast.kernel.registry import imported

from . import pydantic_ai_fields
from .payloads import (
    MESSAGES,
    Located,
    LocatedPart,
    Node,
    Object,
    as_base64,
    as_text,
    compact,
    data_of,
    is_address,
    is_list,
    is_object,
    kind_of_media,
    messages_of,
    parsed_object,
    refuse,
)
from .rules import original, wire_of
from .rules.exchanges import BlockExchanges, UniqueCallIds
from .rules.messages import AtLeastOne
from .wire import BlockWire, FrameworkWire

_KINDS: Mapping[str, Role] = {"request": "user", "response": "assistant"}
_SYSTEM, _USER, _TEXT = "system-prompt", "user-prompt", "text"
_SHOWN: Mapping[str, MediaKind] = {f"{kind}-url": kind for kind in MEDIA_KINDS}


class SystemPartsStay(Rule):
    """Requests with a system prompt or the newest instructions are kept: these are nowhere else."""

    name = "system_parts_stay"

    def keeps(self, messages: Messages) -> Iterable[int]:
        """The positions of these requests."""
        told: list[int] = []
        for i, message in enumerate(messages):
            view = original(message)
            if view.get("instructions"):
                told = [i]
            if wire_of(message).system_parts(view):
                yield i
        yield from told


class PydanticAI(FrameworkWire, BlockWire):
    """Messages of ``pydantic_ai``."""

    name = "pydantic_ai"
    content = "parts"
    rules = (AtLeastOne(), SystemPartsStay(), BlockExchanges(), UniqueCallIds(everywhere=False))

    def prompt(self, payload: object) -> Iterator[Part]:
        """The newest instructions."""
        messages = messages_of(payload)
        for i in reversed(range(len(messages))):
            told = Node(pydantic_ai_fields(messages[i]), f"{MESSAGES}[{i}]").text("instructions")
            if told:
                yield Text(told)
                return

    def view(self, original: object) -> Object:
        """The message with its parts as JSON objects, each item of a user's prompt as a part."""
        fields = pydantic_ai_fields(original)
        if not fields:
            return super().view(original)
        parts: list[object] = []
        for part in fields["parts"]:
            told = _fields_of(part)
            content = told.get("content")
            if told.get("part_kind") == _USER and is_list(content) and len(content) > 1:
                parts += ({**told, "content": [item]} for item in content)
            else:
                parts.append(told or part)  # what is no part is refused where it is read
        return {**fields, "parts": parts}

    def rebuilt(self, value: Object, was: object = None) -> object:
        """The message of this view; unchanged parts of ``was`` stay the same."""
        if not self.objects:
            return value
        parts: Sequence[object] = getattr(was, "parts", ())
        own = {id(vars(part)): part for part in parts}
        now = {**value, "parts": [own.get(id(part), part) for part in value["parts"]]}
        adapter = imported("pydantic_ai.messages:ModelMessagesTypeAdapter")
        made: list[object] = adapter.validate_python([now])
        return made[0]

    def named_role(self, original: object, place: str) -> Role:
        """The model's or a user's role; the system's if it has only system prompts."""
        fields = pydantic_ai_fields(original)
        if not fields:
            raise FormatError(
                "this is not a message of Pydantic AI",
                place=place,
                advice="give requests and responses of Pydantic AI, or leave the format out",
            )
        role = _KINDS[fields["kind"]]
        only_system = 0 < len(fields["parts"]) == len(self.system_parts(fields))
        return "system" if only_system else role

    def system_parts(self, message: Object) -> Sequence[int]:
        """The positions of the system prompts in a request."""
        kinds = (_fields_of(part).get("part_kind") for part in message.get("parts", ()))
        return [k for k, kind in enumerate(kinds) if kind == _SYSTEM]

    def locate(self, message: Node) -> Located:
        """The parts in order."""
        return map(_part, message.objects(self.content))

    def beside(self, message: Node) -> Sequence[str]:
        """None: the fields that are no parts are the framework's own."""
        return ()

    def only_text(self, block: Object) -> str | None:
        """The text of a part of a user's, the system's or the model's."""
        text = block.get("content")
        spoken = block.get("part_kind") in (_SYSTEM, _USER, _TEXT)
        return text if spoken and type(text) is str else None

    def render(self, original: object, texts: Texts) -> object:
        """A copy with these texts; a result of any type becomes text."""
        view = self.view(original)
        parts = list(view["parts"])
        for k, text in texts.items():
            called = is_object(parts[k].get("args"))
            field = "args" if "args" in parts[k] else "content"
            parts[k] = {**parts[k], field: parsed_object(text) if called else text}
        return self.rebuilt({**view, "parts": parts}, original)

    def holding(self, role: Role, blocks: Sequence[Object]) -> Object:
        """A message of these parts; text in a request is a prompt."""
        if role == "assistant":
            return {"parts": list(blocks), "kind": "response"}
        kind = _SYSTEM if role == "system" else _USER
        parts = [{**b, "part_kind": kind} if b["part_kind"] == _TEXT else b for b in blocks]
        return {"parts": parts, "kind": "request"}

    def block(self, part: Part, name: str = "") -> Object:
        """A new part."""
        match part:
            case ToolCall(call_id, called, arguments):
                return {
                    "tool_name": called,
                    "args": parsed_object(arguments),
                    "tool_call_id": call_id,
                    "part_kind": "tool-call",
                }
            case ToolResult(call_id, text, media, is_error):
                failed = {"outcome": "failed"} if is_error else {}
                return {
                    "tool_name": name,
                    "content": [text, *map(_medium, media)] if media else text,
                    "tool_call_id": call_id,
                    **failed,
                    "part_kind": "tool-return",
                }
            case Media():
                return {"content": [_medium(part)], "part_kind": _USER}
            case _:
                return {"content": part.text, "part_kind": _TEXT}


def _fields_of(value: object) -> Object:
    """The fields of a part or an item; none for anything else."""
    return value if is_object(value) else getattr(value, "__dict__", {})


def _part(part: Node) -> LocatedPart:
    fields, path = part.value, part.path
    kind, content = fields.get("part_kind"), fields.get("content")
    if kind in (_SYSTEM, _TEXT):
        return part.spoken("content")
    if kind == _USER:
        return _said(content, part.place("content")), part.at("content")
    if kind == "thinking":
        return Reasoning(part.text("content"), bool(fields.get("signature"))), path
    if kind == "tool-call":
        return part.called(_id(part), "args", "tool_name")
    if kind == "tool-return" or (kind == "retry-prompt" and fields.get("tool_name")):
        failed = kind == "retry-prompt" or fields.get("outcome", "success") != "success"
        items = content if is_list(content) else [content]
        media = tuple(filter(None, map(_shown, items)))
        left = [item for item in items if not _shown(item)]
        value = left[0] if len(left) == 1 and (media or not is_list(content)) else left
        text = value if isinstance(value, str) else compact(value, part.place("content"))
        return ToolResult(_id(part), text, media, failed), part.at("content")
    if kind in ("retry-prompt", "retry-feedback"):
        return Text(content if isinstance(content, str) else part.json("content")), path
    if kind == "file" and (medium := _shown(content)):
        return medium, path
    told = {field: value for field, value in fields.items() if value is not None}
    return Opaque(compact(told, part.place())), path


def _id(part: Node) -> str:
    return part.id("tool_call_id", f"the {part.value['part_kind']}")


def _said(content: object, place: str) -> Part:
    """A user's text or medium, given as text or as a list of one item."""
    item: object = content[0] if is_list(content) and len(content) == 1 else content
    if isinstance(item, str):
        return Text(item)
    if is_list(item) and not item:
        return Text("")
    if medium := _shown(item):
        return medium
    if not is_object(item) and not hasattr(item, "kind"):
        refuse(item, place, "give text, or a list of what is said and shown")
    told = _fields_of(item)
    text = told.get("content")
    return Text(text) if isinstance(text, str) else Opaque(compact(told, place))


def _shown(item: object) -> Media | None:
    """The medium in the item, or None."""
    fields = _fields_of(item)
    kind = str(fields.get("kind"))
    media_type = str(fields.get("media_type") or fields.get("_media_type") or "")
    family = kind_of_media(media_type)
    if kind in _SHOWN:
        return Media(_SHOWN[kind], media_type, str(fields.get("url")))
    if kind == "uploaded-file":
        return Media(family, source=str(fields.get("file_id")))
    data = fields.get("data")
    if kind != "binary" or not isinstance(data, str | bytes):
        return None
    return Media(family, media_type, as_base64(data))


def _medium(media: Media) -> Object | str:
    kind, data = data_of(media)
    if data:
        return {"data": data, "media_type": kind, "kind": "binary"}
    if is_address(media.source):
        return {"url": media.source, "kind": f"{media.kind}-url"}
    return as_text(media)
