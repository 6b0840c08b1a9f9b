"""Messages of Anthropic's Messages API, also on Bedrock and Vertex.

What this format does differently: the system prompt is beside the messages; tool results are blocks
of the user's next message, before its text; a call's arguments are an object; thinking is signed
and must be sent back unchanged. Calls of the vendor's own tools and their results are blocks of the
assistant, and are not changed.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from holdfast.formats import FOREIGN_TO_ANTHROPIC
from holdfast.formats.openai_responses import CompactionStays
from holdfast.formats.rules.messages import ThinkingLeads, ThinkingSigned, ThinkingStays
from holdfast.kernel.errors import FormatError
from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import (
    Media,
    Opaque,
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
    as_text,
    body_of,
    compact,
    content_at,
    data_of,
    id_at,
    is_address,
    joined,
    object_at,
    parsed_object,
    text_at,
    unknown,
)
from .rules.exchanges import (
    BlockExchanges,
    CallsEnd,
    ResultsInNextMessage,
    ResultsLead,
    ServerToolExchanges,
    SpelledCallIds,
    UniqueCallIds,
)
from .rules.messages import (
    AtLeastOne,
    FinalTextTrimmed,
    FirstIsUser,
    KnownRoles,
    NotEmpty,
    RolesAlternate,
)
from .rules.published import AsPublished, CacheControls
from .wire import SPOKEN, BlockWire, beside


class Anthropic(BlockWire):
    """The Messages API."""

    name = "anthropic"
    carriers = FOREIGN_TO_ANTHROPIC
    enveloped = BlockWire.enveloped | {"system"}
    rules: tuple[Rule, ...] = (
        AtLeastOne(),
        KnownRoles("user", "assistant", "system"),
        ThinkingSigned(),
        NotEmpty("all"),
        CallsEnd(),
        ThinkingLeads(),
        BlockExchanges(),
        ServerToolExchanges(),
        ResultsInNextMessage(),
        ResultsLead(),
        UniqueCallIds(everywhere=True),
        SpelledCallIds(),
        ThinkingStays(),
        CompactionStays(),
        FinalTextTrimmed(),
        FirstIsUser(),
    )

    def prompt(self, payload: object) -> Iterator[Part]:
        """The body's system prompt."""
        body = body_of(payload)
        yield from (part for part, _ in _content(body, "system", "body"))
        system = {"content": body.get("system")}
        if texts := "\n".join(beside(system, ("content",), _TAKEN)):
            yield Opaque(texts)

    def published(self, payload: object) -> tuple[Rule, ...]:
        """Fields, roles and limits, also of the system prompt; beta blocks are accepted."""
        body = body_of(payload)
        system, tools = body.get("system"), body.get("tools")
        return (AsPublished("anthropic", system), CacheControls("anthropic", system, tools))

    def locate(self, message: Object, place: str) -> Located:
        """The blocks in order; content that is a string is one block."""
        for field in FOREIGN_TO_ANTHROPIC.intersection(message):
            if message[field]:
                advice = "convert the messages first, with holdfast.formats.convert.convert"
                raise FormatError(
                    "the Messages API has no such field", place=f"{place}.{field}", advice=advice
                )
        return _content(message, "content", place)

    def id_path(self, message: Object, part: int) -> Path:
        """The path of this block's id."""
        field = "tool_use_id" if message["content"][part]["type"] == "tool_result" else "id"
        return ("content", part, field)

    def extra_texts(self, message: Object) -> Iterator[str]:
        """Titles and contexts of documents, and all other text outside the parts."""
        return beside(message, SPOKEN, _TAKEN)

    def compose(self, role: Role, text: str) -> object:
        """A new message; the system role becomes the user's."""
        return {"role": "assistant" if role == "assistant" else "user", "content": text}

    def block(self, part: Part, name: str) -> Object | None:
        """A new block; reasoning is left out, because it is not signed."""
        del name
        if isinstance(part, ToolCall):
            given = dict(parsed_object(part.arguments))
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": given}
        if isinstance(part, ToolResult):
            content: str | list[Object] = part.text
            if part.media:
                texts = [{"type": "text", "text": part.text}] if part.text else []
                content = [*texts, *map(_medium, part.media)]
            result = {"type": "tool_result", "tool_use_id": part.call_id, "content": content}
            return result | ({"is_error": True} if part.is_error else {})
        if isinstance(part, Media):
            return _medium(part)
        return None if isinstance(part, Reasoning) else {"type": "text", "text": part.text}


class Bedrock(Anthropic):
    """The Messages API on Amazon Bedrock, which has stricter rules.

    Its messages look like Anthropic's, so it is never detected and must be named.
    """

    name = "bedrock"
    rules = (*Anthropic.rules, RolesAlternate())


def _content(holder: Object, field: str, place: str) -> Located:
    return content_at(holder, field, place, _block, "give text or a list of blocks")


def _block(block: Object, place: str, path: Path) -> LocatedPart:
    kind = block.get("type")
    if kind == "text":
        return Text(text_at(block, "text", place)), (*path, "text")
    if kind == "tool_use":
        given = block.get("input")
        arguments = given if isinstance(given, str) else compact(given or {}, f"{place}.input")
        call = ToolCall(_id(block, "id", place), text_at(block, "name", place), arguments)
        return call, (*path, "input")
    if kind == "tool_result":
        text, media = joined(part for part, _ in _content(block, "content", place))
        call_id, failed = _id(block, "tool_use_id", place), bool(block.get("is_error"))
        return ToolResult(call_id, text, media, failed), (*path, "content")
    if kind == "thinking":
        said, signed = text_at(block, "thinking", place), bool(block.get("signature"))
        return Reasoning(said, signed), (*path, "thinking")
    if kind == "redacted_thinking":
        return Reasoning(text_at(block, "data", place), signed=True), (*path, "data")
    if kind in ("image", "document"):
        source, there = object_at(block, "source", place), f"{place}.source"
        if kind == "document" and source.get("type") == "text":
            return Text(text_at(source, "data", there)), (*path, "source", "data")
        if kind == "document" and source.get("type") == "content":
            return Opaque(compact(source, place)), path
        field = next((name for name in ("data", "url", "file_id") if name in source), "data")
        shown = Media(kind, text_at(source, "media_type", there), text_at(source, field, there))
        return shown, path
    return unknown(block, place), path


def _medium(media: Media) -> Object:
    if media.kind not in ("image", "document"):
        return {"type": "text", "text": as_text(media)}
    kind, data = data_of(media)
    if data:
        return {"type": media.kind, "source": {"type": "base64", "media_type": kind, "data": data}}
    if is_address(media.source):
        return {"type": media.kind, "source": {"type": "url", "url": media.source}}
    return {"type": media.kind, "source": {"type": "file", "file_id": media.source}}


def _id(block: Object, field: str, place: str) -> str:
    return id_at(block, field, place, f"the {block.get('type')} block")


_TAKEN: Mapping[str, Container[str]] = {
    "text": ("type", "text"),
    "image": (),  # the shown fields of its source are not text
    "document": ("source",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    "tool_use": ("name", "input"),
    "tool_result": ("content",),
}
"""The fields of each type that are read."""
