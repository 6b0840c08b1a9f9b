"""Whose messages are these? One file a vendor, each with its facts, its reading and writing, and its rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from holdfast.kernel.registry import Registry
from holdfast.kernel.transcript import Format

FORMATS = Registry(
    "format",
    "formats",
    {
        "anthropic": "holdfast.formats.anthropic:Anthropic",
        "openai_chat": "holdfast.formats.openai_chat:OpenAIChat",
        "bedrock": "holdfast.formats.anthropic:Bedrock",
        "plain": "holdfast.formats.plain:Plain",
    },
    aliases={
        "openai": "openai_chat",
        "azure": "openai_chat",
        "claude": "anthropic",
        "vertex": "anthropic",
    },
)
"""Names of wire formats, and of the providers that speak them; asked in this order when none is named."""


def named(name: str) -> Format:
    """The format of this name. Raises ConfigError for an unknown one."""
    return cast("type[Format]", FORMATS.load(name))()


def detect(payload: object, name: str | None = None) -> Format:
    """The format that is named, or the first that recognises the payload. Raises FormatError for no list or body.

    Where none does it is plain, which says at the reading what is wrong, and where.
    """
    if name is not None:
        return named(name)
    return next((form for form in map(named, _in_order()) if form.recognises(payload)), named("plain"))


def _in_order() -> Iterator[str]:
    yield from FORMATS.table
    yield from (name for name in FORMATS.names() if name not in FORMATS.table)
