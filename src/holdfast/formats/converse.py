"""Messages of the Converse API of Amazon Bedrock.

What this format does differently: blocks have no type, only one field that identifies them; the
system prompt is a list beside the messages, and tools are in ``toolConfig``; roles alternate,
beginning with a user's; media are bytes or a place in a bucket.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from holdfast.kernel.messages import (
    MEDIA_KINDS,
    Media,
    MediaKind,
    Opaque,
    Part,
    Parts,
    Reasoning,
    Text,
    Texts,
    ToolCall,
    ToolResult,
)

from .payloads import (
    Located,
    LocatedPart,
    Node,
    Object,
    as_base64,
    as_text,
    body_of,
    data_of,
    is_object,
    joined,
    parsed_object,
)
from .rules.exchanges import BlockExchanges, ResultsInNextMessage, SpelledCallIds, UniqueCallIds
from .rules.messages import (
    AtLeastOne,
    DocumentsWithText,
    FirstIsUser,
    KnownRoles,
    NotEmpty,
    RolesAlternate,
    ThinkingStays,
    UniqueDocuments,
)
from .wire import BlockWire

_OFFICE = "application/vnd.openxmlformats-officedocument"
_DOCUMENTS = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}
"""The types of documents by their formats."""
_FORMATS = {kind: form for form, kind in _DOCUMENTS.items()} | {
    f"image/{form}": form for form in ("png", "jpeg", "gif", "webp")
}


class Converse(BlockWire):
    """``Converse`` and ``ConverseStream``."""

    name = "converse"
    prompts = ("system",)
    enveloped = ("toolConfig",)
    rules = (
        AtLeastOne(),
        KnownRoles("user", "assistant", "system"),
        NotEmpty("any"),
        BlockExchanges(),
        ResultsInNextMessage(),
        UniqueCallIds(everywhere=False),
        SpelledCallIds(also=".:"),
        DocumentsWithText(),
        UniqueDocuments(),
        ThinkingStays(),
        FirstIsUser(),
        RolesAlternate(),
    )

    def prompted(self, text: str) -> Sequence[Object]:
        """A system prompt of one block."""
        return [{"text": text}]

    def offered(self, body: Object, tools: object) -> Parts:
        """The schemas of these tools, by default those of the body's ``toolConfig``."""
        return super().offered(body_of(body.get("toolConfig")), tools)

    def locate(self, message: Node) -> Located:
        """The blocks in order; content that is a string is one block."""
        return message.content("content", _block)

    def block(self, part: Part, name: str = "") -> Object:
        """A new block."""
        match part:
            case ToolCall(call_id, called, arguments):
                given = parsed_object(arguments)
                return {"toolUse": {"toolUseId": call_id, "name": called, "input": given}}
            case ToolResult(call_id, text, media, is_error):
                told = [{"text": text}] if text or not media else []
                content = [*told, *map(_medium, media)]
                status = {"status": "error"} if is_error else {}
                return {"toolResult": {"toolUseId": call_id, "content": content, **status}}
            case Media():
                return _medium(part)
            case _:
                return {"text": part.text}

    def render(self, original: object, texts: Texts) -> object:
        """A copy with these texts; a result gets one block with its whole text."""
        now: Any = super().render(original, texts)
        for k, part in enumerate(self.parts(original)):
            if k in texts and isinstance(part, ToolResult):
                now["content"][k]["toolResult"]["content"] = [{"text": texts[k]}]
        return now


def _block(block: Node) -> LocatedPart:
    value = block.value
    if "text" in value:
        return block.spoken("text")
    if "json" in value:  # in a result
        return Text(block.json("json")), block.path
    if "toolUse" in value:
        call = block.object("toolUse")
        return call.called(_id(call), "input")
    if "toolResult" in value:
        result = block.object("toolResult")
        text, media = joined(map(_block, result.objects("content")))
        failed = result.value.get("status") == "error"
        return ToolResult(_id(result), text, media, failed), result.at("content")
    if "reasoningContent" in value:
        held = block.object("reasoningContent")
        if not is_object(held.value.get("reasoningText")):
            return Reasoning("", signed=True), block.path
        told = held.object("reasoningText")
        return Reasoning(told.text("text"), bool(told.value.get("signature"))), block.path
    for kind in MEDIA_KINDS:
        if kind in value:
            return _shown(block.object(kind), kind)
    return block.unknown()


def _id(held: Node) -> str:
    return held.id("toolUseId", "the block")


def _shown(held: Node, kind: MediaKind) -> LocatedPart:
    """The medium, with its bytes as JSON holds them; a document may be text, or have parts."""
    source, form = held.value.get("source"), held.value.get("format")
    given: object = ""
    if is_object(source):
        if "text" in source:
            return held.object("source").spoken("text")
        if "content" in source:
            return Opaque(held.json("source")), held.path
        given = next(iter(source.values()), "")
    address = as_base64(given.get("uri") if is_object(given) else given)
    known = _DOCUMENTS.get(str(form), f"{kind}/{form}" if isinstance(form, str) else "")
    return Media(kind, known, address), held.path


def _medium(media: Media) -> Object:
    kind, data = data_of(media)
    form = _FORMATS.get(kind, "")
    source: Object = {"bytes": data}
    if media.source.startswith("s3://"):
        source = {"s3Location": {"uri": media.source}}
        form = form or kind.rpartition("/")[2] or "png"
    elif not data or not form:
        return {"text": as_text(media)}
    # no two documents of a request may have one name
    name = f"document-{sha256(media.source.encode()).hexdigest()[:16]}"
    named = {"name": name} if media.kind == "document" else {}
    return {media.kind: {"format": form, **named, "source": source}}
