"""The content blocks of a message, on the wires that have such; a text alone is one block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from holdfast.formats.wire import BlockWire
from holdfast.kernel.messages import Message, Part, Role, Text

from .changes import made, original

Block = Mapping[str, Any]


def blocks(message: Message) -> list[Block]:
    """The blocks, one for each part of the message."""
    wire = _wire(message)
    content: object = original(message).get(wire.content)
    if isinstance(content, str):
        return [block_of(message, Text(content))]
    return list(cast("Sequence[Block]", content or ()))


def with_blocks(message: Message, now: Sequence[Block]) -> Message:
    """The message with these blocks; the very same one where they are its own."""
    if list(now) == blocks(message):
        return message
    return made(message.wire, {**original(message), _wire(message).content: list(now)})


def block_of(beside: Message, part: Part, name: str = "") -> Block:
    """A new block on the wire of this message; ``name`` is that of the tool whose result it is."""
    return _wire(beside).block(part, name) or {}


def message_of(beside: Message, role: Role, now: Sequence[Block]) -> Message:
    """A new message of these blocks on the wire of this message."""
    return made(beside.wire, _wire(beside).holding(role, now))


def _wire(message: Message) -> BlockWire:
    return cast("BlockWire", message.wire)
