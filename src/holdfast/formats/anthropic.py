"""Messages of Anthropic's Messages API, also on Bedrock and Vertex.

What this format does differently: the system prompt is beside the messages; tool results are blocks
of the user's next message, before its text; a call's arguments are an object; thinking is signed
and must be sent back unchanged. Calls of the vendor's own tools and their results are blocks of the
assistant, and are not changed.
"""

from base64 import b64decode

from holdfast.kernel.errors import FormatError
from holdfast.kernel.integrity import Rules
from holdfast.kernel.messages import (
    Media,
    MediaKind,
    Opaque,
    Part,
    Reasoning,
    Role,
    ToolCall,
    ToolResult,
)

from . import FOREIGN_TO_ANTHROPIC
from .openai_responses import CompactionStays
from .payloads import (
    Located,
    LocatedPart,
    Node,
    Object,
    as_text,
    data_of,
    is_address,
    joined,
    parsed_object,
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
    ThinkingLeads,
    ThinkingSigned,
    ThinkingStays,
)
from .wire import BlockWire


class Anthropic(BlockWire):
    """The Messages API."""

    name = publisher = "anthropic"
    carriers = FOREIGN_TO_ANTHROPIC
    prompts = ("system",)
    rules: Rules = (
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

    def locate(self, message: Node) -> Located:
        """The blocks in order; content that is a string is one block."""
        for field in FOREIGN_TO_ANTHROPIC.intersection(message.value):
            if message.value[field]:
                raise FormatError(
                    "the Messages API has no such field",
                    place=message.place(field),
                    advice="convert the messages first, with `holdfast convert` or formats.convert",
                )
        return message.content("content", _block)

    def compose(self, role: Role, text: str) -> object:
        """A new message; the system role becomes the user's."""
        return {"role": "assistant" if role == "assistant" else "user", "content": text}

    def block(self, part: Part, name: str = "") -> Object:
        """A new block."""
        match part:
            case ToolCall(call_id, called, arguments):
                given = parsed_object(arguments)
                return {"type": "tool_use", "id": call_id, "name": called, "input": given}
            case ToolResult(call_id, text, media, is_error):
                content: str | list[Object] = text
                if media:
                    texts = [{"type": "text", "text": text}] if text else []
                    content = [*texts, *map(_medium, media)]
                result = {"type": "tool_result", "tool_use_id": call_id, "content": content}
                return result | ({"is_error": True} if is_error else {})
            case Media():
                return _medium(part)
            case _:
                return {"type": "text", "text": part.text}


class Bedrock(Anthropic):
    """The Messages API on Amazon Bedrock, which has stricter rules.

    Its messages look like Anthropic's, so it is never detected and must be named.
    """

    name = "bedrock"
    rules = (*Anthropic.rules, RolesAlternate())


def _block(block: Node) -> LocatedPart:
    value = block.value
    match value.get("type"):
        case "text":
            return block.spoken("text")
        case "tool_use":
            return block.called(_id(block, "id"), "input")
        case "tool_result":
            text, media = joined(block.content("content", _block))
            failed = bool(value.get("is_error"))
            return ToolResult(_id(block, "tool_use_id"), text, media, failed), block.at("content")
        case "thinking" as kind:
            return Reasoning(block.text(kind), bool(value.get("signature"))), block.at(kind)
        case "redacted_thinking":
            return Reasoning(block.text("data"), signed=True), block.at("data")
        case "image" | "document" as kind:
            return _shown(block.object("source"), kind)
        case _:
            return block.unknown()


def _shown(source: Node, kind: MediaKind) -> LocatedPart:
    match kind, source.value.get("type"):
        case "document", "text":
            return source.spoken("data")
        case "document", "content":
            return Opaque(source.json()), source.path
        case _:
            return source.media(kind, "data", "url", "file_id", media_type="media_type")


def _medium(media: Media) -> Object:
    kind, data = data_of(media)
    source = {"type": "file", "file_id": media.source}
    is_text = media.kind == "document" and kind.startswith("text/")
    is_foreign = media.kind == "document" and not is_text and data and kind != "application/pdf"
    if media.kind not in ("image", "document") or is_foreign:
        return {"type": "text", "text": as_text(media)}
    if data and is_text:
        said = b64decode(data + "==").decode(errors="replace")
        source = {"type": "text", "media_type": "text/plain", "data": said}
    elif data:
        source = {"type": "base64", "media_type": kind, "data": data}
    elif is_address(media.source):
        source = {"type": "url", "url": media.source}
    elif ":" in media.source:  # in another vendor's bucket
        return {"type": "text", "text": as_text(media)}
    return {"type": media.kind, "source": source}


def _id(block: Node, field: str) -> str:
    return block.id(field, f"the {block.value['type']} block")
