"""Whose messages are these? One file a vendor, each with its facts, its reading and writing, and its rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from holdfast.kernel.errors import FormatError
from holdfast.kernel.registry import Registry
from holdfast.kernel.transcript import Format, Transcript

from .sdk_objects import as_sent

FORMATS = Registry(
    "format",
    "formats",
    {
        "langchain": "holdfast.formats.langchain:LangChain",
        "pydantic_ai": "holdfast.formats.pydantic_ai:PydanticAI",
        "openai_responses": "holdfast.formats.openai_responses:OpenAIResponses",
        "gemini": "holdfast.formats.gemini:Gemini",
        "converse": "holdfast.formats.converse:Converse",
        "anthropic": "holdfast.formats.anthropic:Anthropic",
        "openai_chat": "holdfast.formats.openai_chat:OpenAIChat",
        "bedrock": "holdfast.formats.anthropic:Bedrock",
        "plain": "holdfast.formats.plain:Plain",
    },
    aliases={
        "openai": "openai_chat",
        "responses": "openai_responses",
        "azure": "openai_chat",
        "google": "gemini",
        "bedrock_converse": "converse",
        "claude": "anthropic",
        "vertex": "anthropic",
    },
)
"""Names of wire formats, and of the providers that speak them; asked in this order when none is named."""


def named(name: str | Format) -> Format:
    """The format of this name, or the object itself. Raises ConfigError for an unknown one."""
    if isinstance(name, Format):
        return name
    return cast("type[Format]", FORMATS.load(name))()


def detect(payload: object, name: str | Format | None = None) -> Format:
    """The format that is named, or the first that recognises the payload. Raises FormatError for no list or body.

    Where none does it is plain, which says at the reading what is wrong, and where.
    """
    if name is not None:
        return named(name)
    return next(
        (form for form in map(named, _in_order()) if form.recognises(payload)), named("plain")
    )


def read(
    payload: Any, name: str | Format | None = None, tools: object = None
) -> tuple[Any, Format, Transcript]:
    """The payload, its format, and its messages; where it holds objects of an SDK, as that would send them.

    Raises FormatError for what cannot be read. A format that reads such objects itself is given
    them.
    """
    try:
        form = detect(payload, name)
        return payload, form, form.read(payload, tools)
    except FormatError:
        sent = as_sent(payload)
        if sent is payload:
            raise
    form = detect(sent, name)
    return sent, form, form.read(sent, tools)


def _in_order() -> Iterator[str]:
    yield from FORMATS.table
    yield from (name for name in FORMATS.names() if name not in FORMATS.table)
