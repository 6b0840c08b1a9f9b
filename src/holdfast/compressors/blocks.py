"""Semantic blocks: a user's message with all that answers it, or what stands alone (llm4s)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.kernel.messages import Message
from holdfast.kernel.transcript import speaks

BlockType = Literal["user_assistant_pair", "standalone_assistant", "standalone_tool", "other"]


@dataclass(frozen=True, slots=True)
class Block:
    """Messages that belong together, by their positions.

    ``answered`` once the assistant has said its word.
    """

    id: int
    type: BlockType
    messages: range
    answered: bool = False


def blocks(messages: Sequence[Message]) -> list[Block]:
    """The blocks in order; every message is in one.

    A user's message opens a block. The assistant's word, the calls on the way to it and their
    results belong to the block that waits for an answer; a call keeps the block open until its
    results are answered too.
    """
    found: list[Block] = []
    for i, message in enumerate(messages):
        last = found[-1] if found else None
        joined = None if last is None else _joined(last, message, i)
        if joined is not None:
            found[-1] = joined
        else:
            found.append(_opened(len(found), message, i))
    return found


def _joined(block: Block, message: Message, at: int) -> Block | None:
    """The block with the message in it; None where the message opens another."""
    grown = range(block.messages.start, at + 1)
    if _brings_results(message):
        return (
            Block(block.id, block.type, grown, answered=False)
            if block.type != "standalone_tool"
            else None
        )
    if speaks(message) or block.answered:
        return None
    if block.type == "standalone_tool" or (message.role == "system" and block.type == "other"):
        return None
    return Block(block.id, block.type, grown, answered=not message.calls)


def _opened(number: int, message: Message, at: int) -> Block:
    here = range(at, at + 1)
    if _brings_results(message):
        return Block(number, "standalone_tool", here, answered=True)
    if speaks(message):
        return Block(number, "user_assistant_pair", here)
    kind: BlockType = "standalone_assistant" if message.role == "assistant" else "other"
    return Block(number, kind, here, answered=not message.calls)


def _brings_results(message: Message) -> bool:
    return message.role == "tool" or bool(message.results)
