"""Texts and the parts of messages without their secrets, each text searched once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import cast

from holdfast.kernel.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.kernel.registry import Registry
from holdfast.text.memo import Memo

_SEARCH = Registry("search", "searches", {"secrets": "holdfast.text.masked_json:redact_any"})
"""What knows the shapes of secrets is loaded where they are masked: compiling them takes 20 ms."""

Counts = Mapping[str, int]
"""How many secrets of each kind."""


def redacted_text(text: str) -> tuple[str, Counts]:
    """The text with every secret masked, JSON staying JSON; and how many of each kind there were."""
    return _searched(text)


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
    """What may be masked: signed thinking may not change, and parts of unknown type are not understood."""
    if isinstance(part, ToolCall):
        return part.arguments
    if isinstance(part, Text) or (isinstance(part, Reasoning) and not part.signed):
        return part.text if own else ""
    return part.text if isinstance(part, ToolResult) else ""


def _search(text: str) -> tuple[str, Counts]:
    search = cast("Callable[[str], tuple[str, Counts]]", _SEARCH.load("secrets"))
    return search(text)


_searched = Memo(_search, lambda text, found: len(text) + len(found[0]), 32_000_000)
