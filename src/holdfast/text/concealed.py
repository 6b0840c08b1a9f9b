"""Texts and the parts of messages without their secrets, each text searched once."""

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
from holdfast.kernel.registry import Registry
from holdfast.text.memo import Memo

_SEARCH = Registry("search", "searches", {"secrets": "holdfast.text.secrets:redact_any"})
"""What knows the shapes of secrets is loaded where they are masked: compiling them takes 20 ms."""

MASK = re.compile(r"\[redacted [a-z ]+\]")
"""What stands in the place of a secret."""

_TOGETHER = 64  # texts: to begin a search takes as long as to look through thousands of characters

_TIES = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""Under what names a call and its result know each other."""

_Holder = dict[Any, Any] | list[Any]

Counts = Mapping[str, int]
"""How many secrets of each kind."""


def redacted_text(text: str) -> tuple[str, Counts]:
    """The text with every secret masked, JSON staying JSON.

    And how many of each kind there were.
    """
    return _searched(text)


def redacted_texts(texts: Sequence[str]) -> list[str]:
    """Each text as ``redacted_text`` gives it.

    Most hold no secret, and are looked through many at once.
    """
    masked: list[str] = []
    for first in range(0, len(texts), _TOGETHER):
        some = texts[first : first + _TOGETHER]
        plain = [text for text in some if not text.lstrip().startswith(("{", "["))]
        found = _search("\n\n".join(["", *plain]))[1]  # not JSON, whose strings are read one by one
        masked += [text if text in plain and not found else redacted_text(text)[0] for text in some]
    return masked


def concealing(*, redacts: bool) -> Callable[[str], str]:
    """How a text is told where secrets are masked, or as it is."""
    return (lambda text: redacted_text(text)[0]) if redacts else str


def masked_parts(message: Message, *, everyone: bool) -> tuple[dict[int, str], Counter[str]]:
    """The parts that hold a secret, masked; media beside a masked output are gone with its words.

    Without ``everyone``, the words of users and of the system are left as they are.
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
    """What may be masked: not signed thinking, nor parts of unknown type."""
    if isinstance(part, ToolCall):
        return part.arguments
    if isinstance(part, Text) or (isinstance(part, Reasoning) and not part.signed):
        return part.text if own else ""
    return part.text if isinstance(part, ToolResult) else ""


def masked_values(value: object) -> tuple[object, Counter[str]]:
    """A copy of a JSON value without a secret in its strings, the very same where there is none.

    With the counts.

    Keys stay, and so does what ties a call to its result. Any depth will do, and what loops is
    walked once.
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
    """A caller's message without a secret, with the counts; the very same where there is none.

    Of an object that has one, what the wire does not read is left out.
    """
    if not isinstance(wire, Viewing) or not hasattr(original, "__dict__"):
        return masked_values(original)
    value, counts = masked_values(wire.view(original))
    counts |= masked_values(vars(original))[1]
    return (wire.rebuilt(cast("Mapping[str, Any]", value)) if counts else original), counts


def unmasked(message: Message) -> Counter[str]:
    """Secrets left in what a model or a tool said, and in parts of unknown type."""
    if message.role in ("assistant", "tool"):
        return masked_message(message.original, message.wire)[1]
    counts: Counter[str] = Counter()
    for part in message.parts if message.plain is None else ():
        if isinstance(part, Opaque):
            counts.update(redacted_text(part.text)[1])
    return counts


def _search(text: str) -> tuple[str, Counts]:
    search = cast("Callable[[str], tuple[str, Counts]]", _SEARCH.load("secrets"))
    return search(text)


_searched = Memo(_search, lambda text, found: len(text) + len(found[0]), 32_000_000)
