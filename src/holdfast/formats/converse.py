"""Messages of the Converse API of Amazon Bedrock.

What this format does differently: blocks have no type, only one field that identifies them; the
system prompt is a list beside the messages, and tools are in ``toolConfig``; roles alternate,
beginning with a user's; media are bytes or a place in a bucket.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.formats import CONVERSE_MEDIA
from holdfast.formats.rules.messages import ThinkingStays
from holdfast.kernel.integrity import Rule
from holdfast.kernel.messages import (
    Media,
    MediaKind,
    Part,
    Parts,
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
    is_object,
    joined,
    object_at,
    objects_at,
    objects_in,
    parsed_object,
    text_at,
    unknown,
)
from .rules.exchanges import BlockExchanges, ResultsInNextMessage, SpelledCallIds, UniqueCallIds
from .rules.messages import AtLeastOne, FirstIsUser, KnownRoles, NotEmpty, RolesAlternate
from .rules.published import published_rules
from .wire import SPOKEN, BlockWire, unread


class Converse(BlockWire):
    """``Converse`` and ``ConverseStream``."""

    name = "converse"
    enveloped = frozenset({"messages", "system", "toolConfig"})
    rules = (
        AtLeastOne(),
        KnownRoles("user", "assistant", "system"),
        NotEmpty("any"),
        BlockExchanges(),
        ResultsInNextMessage(),
        UniqueCallIds(everywhere=False),
        SpelledCallIds(also=".:"),
        ThinkingStays(),
        FirstIsUser(),
        RolesAlternate(),
    )

    def prompt(self, payload: object) -> Iterator[Part]:
        """The body's system prompt."""
        system = {"content": body_of(payload).get("system")}
        return (part for part, _ in self.locate(system, "body.system"))

    def offered(self, body: Object, tools: object) -> Parts:
        """The schemas of these tools, by default those of the body's ``toolConfig``."""
        config = body.get("toolConfig")
        return super().offered(config if is_object(config) else {}, tools)

    def published(self, payload: object) -> tuple[Rule, ...]:
        """Fields and limits of Amazon's own API."""
        del payload
        return published_rules(self.name)

    def locate(self, message: Object, place: str) -> Located:
        """The blocks in order; content that is a string is one block."""
        advice = "give text or a list of blocks"
        return content_at(message, "content", place, _block, advice)

    def id_path(self, message: Object, part: int) -> Path:
        """The path of this block's id."""
        field = "toolResult" if "toolResult" in message["content"][part] else "toolUse"
        return ("content", part, field, "toolUseId")

    def extra_texts(self, message: Object) -> Iterator[str]:
        """Names of documents, and all other text outside the parts."""
        yield from unread(message, SPOKEN)
        for block in objects_in(message.get("content")):
            for kind, held in block.items():
                if kind == "toolUse":
                    yield from unread(held, ("name", "input"))
                elif kind == "toolResult":
                    yield from unread(held, SPOKEN)
                elif kind in CONVERSE_MEDIA:
                    yield from unread(held, ("source", "format"))

    def compose(self, role: Role, text: str) -> object:
        """A new message; the system role becomes the user's."""
        return self.holding("assistant" if role == "assistant" else "user", [{"text": text}])

    def block(self, part: Part, name: str) -> Object | None:
        """A new block; reasoning is left out, because it is not signed."""
        del name
        if isinstance(part, ToolCall):
            given = dict(parsed_object(part.arguments))
            return {"toolUse": {"toolUseId": part.id, "name": part.name, "input": given}}
        if isinstance(part, ToolResult):
            content = [{"text": part.text}, *(_medium(media) for media in part.media)]
            status = {"status": "error"} if part.is_error else {}
            return {"toolResult": {"toolUseId": part.call_id, "content": content, **status}}
        if isinstance(part, Media):
            return _medium(part)
        return None if isinstance(part, Reasoning) else {"text": part.text}

    def render(self, original: object, texts: Mapping[int, str]) -> object:
        """A copy with these texts; a result gets one block with its whole text."""
        parts = self.parts(original)
        wrapped = {k for k in texts if isinstance(parts[k], ToolResult)}
        now: Any = super().render(original, texts)
        for k in wrapped:
            now["content"][k]["toolResult"]["content"] = [{"text": texts[k]}]
        return now


def _block(block: Object, place: str, path: Path) -> LocatedPart:
    if "text" in block:
        return Text(text_at(block, "text", place)), (*path, "text")
    if "toolUse" in block:
        call, there = object_at(block, "toolUse", place), f"{place}.toolUse"
        arguments = compact(call.get("input") or {}, f"{there}.input")
        part = ToolCall(_id(call, there), text_at(call, "name", there), arguments)
        return part, (*path, "toolUse", "input")
    if "toolResult" in block:
        result, there = object_at(block, "toolResult", place), f"{place}.toolResult"
        text, media = joined(_inner(result, there))
        failed = result.get("status") == "error"
        return ToolResult(_id(result, there), text, media, failed), (*path, "toolResult", "content")
    if "reasoningContent" in block:
        held = object_at(block, "reasoningContent", place)
        inner = held.get("reasoningText")
        if not is_object(inner):
            return Reasoning("", signed=True), path
        text = text_at(inner, "text", place)
        return Reasoning(text, bool(inner.get("signature"))), path
    for kind in CONVERSE_MEDIA:
        if kind in block:
            return _media(object_at(block, kind, place), kind), path
    return unknown(block, place), path


def _inner(result: Object, place: str) -> Iterator[Part]:
    for k, block in objects_at(result, "content", place):
        if "json" in block:
            yield Text(compact(block["json"], f"{place}.content[{k}].json"))
        else:
            yield _block(block, f"{place}.content[{k}]", ())[0]


def _id(held: Object, place: str) -> str:
    return id_at(held, "toolUseId", place, "the block")


def _media(held: Object, kind: MediaKind) -> Media:
    """The medium, with its bytes as JSON holds them."""
    source = held.get("source")
    given: object = next(iter(source.values()), "") if is_object(source) else ""
    value = b64encode(given).decode() if isinstance(given, bytes) else given
    address = str(value.get("uri", "")) if is_object(value) else str(value)
    form = held.get("format")
    return Media(kind, f"{kind}/{form}" if isinstance(form, str) else "", address)


def _medium(media: Media) -> Object:
    kind, data = data_of(media)
    form = kind.rpartition("/")[2] or "png"
    if data and media.kind == "image":
        return {"image": {"format": form, "source": {"bytes": data}}}
    if media.source.startswith("s3://"):
        return {media.kind: {"format": form, "source": {"s3Location": {"uri": media.source}}}}
    return {"text": as_text(media)}
