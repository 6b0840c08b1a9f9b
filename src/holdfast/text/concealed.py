"""Masking secrets in texts and in the parts of messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from holdfast.kernel.messages import (
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Viewing,
    Wire,
)
from holdfast.kernel.registry import imported
from holdfast.text.memo import Memo

MASK = re.compile(r"\[redacted [a-z ]+\]")
"""The masks that replace secrets."""

_TOGETHER = 64  # texts; starting a search costs as much as searching thousands of characters

_TIES = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""Fields that tie a tool call to its result."""

_Holder = dict[Any, Any] | list[Any]

Counts = Mapping[str, int]
"""The number of secrets by kind."""


def redacted_text(text: str) -> tuple[str, Counts]:
    """The text with every secret masked, and the number of secrets by kind; JSON stays JSON."""
    return _searched(text)


def redacted_texts(texts: Sequence[str]) -> list[str]:
    """Each text with its secrets masked; texts without secrets are searched many at once."""
    masked: list[str] = []
    for first in range(0, len(texts), _TOGETHER):
        some = texts[first : first + _TOGETHER]
        plain = [text for text in some if not text.lstrip().startswith(("{", "["))]
        found = _search("\n\n".join(["", *plain]))[1]  # JSON is read string by string instead
        masked += [text if text in plain and not found else redacted_text(text)[0] for text in some]
    return masked


def concealing(*, redacts: bool) -> Callable[[str], str]:
    """A function that masks secrets, if they are to be masked, or returns the text."""
    return (lambda text: redacted_text(text)[0]) if redacts else str


def masked_parts(message: Message, *, everyone: bool) -> tuple[dict[int, str], Counter[str]]:
    """The masked texts of parts with secrets, and the secrets by kind.

    A masked tool output loses its media. Without ``everyone``, text of users and the system is not
    masked.
    """
    texts: dict[int, str] = {}
    counts: Counter[str] = Counter()
    own = everyone or message.role in ("assistant", "tool")
    for at, part in enumerate(message.parts):
        text, found = redacted_text(_said(part, own=own))
        if found:
            texts[at] = text
            counts.update(found)
    return texts, counts


def _said(part: Part, *, own: bool) -> str:
    """The text of a part that may be masked: not signed thinking, nor a part of unknown type."""
    if isinstance(part, ToolCall):
        return part.arguments
    if isinstance(part, Text) or (isinstance(part, Reasoning) and not part.signed):
        return part.text if own else ""
    return part.text if isinstance(part, ToolResult) else ""


def masked_values(value: object) -> tuple[object, Counter[str]]:
    """A copy of a JSON value with its secrets masked, and the secrets by kind.

    A value without secrets is returned itself. Keys and ids of calls are kept. Values of any depth
    are accepted, and a loop is visited once.
    """
    counts: Counter[str] = Counter()
    root: list[Any] = [value]
    made: dict[int, _Holder] = {}
    todo: list[_Holder] = [root]
    while todo:
        holder = todo.pop()
        for key, each in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(each, str) and key not in _TIES:
                holder[key], found = redacted_text(each)
                counts.update(found)
            elif isinstance(each, Mapping | list | tuple):
                held = cast("Mapping[Any, Any] | Sequence[Any]", cast("object", each))
                if id(held) not in made:
                    made[id(held)] = dict(held) if isinstance(held, Mapping) else list(held)
                    todo.append(made[id(held)])
                holder[key] = made[id(held)]
    return (root[0] if counts else value), counts


def masked_message(original: object, wire: Wire) -> tuple[object, Counter[str]]:
    """A caller's message with secrets masked, with their counts; the same object if it has none.

    Of an object with secrets, fields that the format does not read are left out.
    """
    if not isinstance(wire, Viewing) or not hasattr(original, "__dict__"):
        return masked_values(original)
    value, counts = masked_values(wire.view(original))
    counts |= masked_values(vars(original))[1]
    return (wire.rebuilt(cast("Mapping[str, Any]", value)) if counts else original), counts


def unmasked(message: Message) -> Counter[str]:
    """Secrets left in text of the model and its tools, and in parts of unknown type."""
    if message.role in ("assistant", "tool"):
        return masked_message(message.original, message.wire)[1]
    counts: Counter[str] = Counter()
    for part in message.parts if message.plain is None else ():
        if isinstance(part, Opaque):
            counts.update(redacted_text(part.text)[1])
    return counts


def _search(text: str) -> tuple[str, Counts]:
    # imported on first use, since compiling the patterns takes 20 ms
    return cast("tuple[str, Counts]", imported("holdfast.text.secrets:redact_any")(text))


_searched = Memo(_search)
