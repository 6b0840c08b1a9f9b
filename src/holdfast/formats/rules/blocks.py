"""The content blocks of a message of the Messages API, where a text alone is one block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from holdfast.kernel.messages import Message

from .changes import made, original

Block = Mapping[str, Any]


def blocks(message: Message) -> list[Block]:
    """The blocks, one for each part of the message."""
    content: object = original(message).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(cast("Sequence[Block]", content or ()))


def with_blocks(message: Message, now: Sequence[Block]) -> Message:
    """The message with these blocks; the very same one where they are its own."""
    if list(now) == blocks(message):
        return message
    return made(message.wire, {**original(message), "content": list(now)})
