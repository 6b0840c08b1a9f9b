"""The message formats of providers, one file each, with the provider's rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from holdfast.kernel.errors import FormatError
from holdfast.kernel.registry import Registry, rows
from holdfast.kernel.transcript import Format, Transcript

from .payloads import as_sent

FORMATS = Registry(
    "format",
    "formats",
    rows("""
        langchain holdfast.formats.langchain:LangChain
        pydantic_ai holdfast.formats.pydantic_ai:PydanticAI
        openai_responses holdfast.formats.openai_responses:OpenAIResponses
        gemini holdfast.formats.gemini:Gemini
        converse holdfast.formats.converse:Converse
        anthropic holdfast.formats.anthropic:Anthropic
        openai_chat holdfast.formats.openai_chat:OpenAIChat
        bedrock holdfast.formats.anthropic:Bedrock
        plain holdfast.formats.plain:Plain
    """),
    aliases=rows("""
        openai openai_chat
        responses openai_responses
        azure openai_chat
        google gemini
        bedrock_converse converse
        claude anthropic
        vertex anthropic
    """),
)
"""The formats in the order in which they are tried, and names of providers that use them."""


def named(name: str | Format) -> Format:
    """Return the format of this name, or the given object. Raises ConfigError for another name."""
    if isinstance(name, Format):
        return name
    found: Format = FORMATS.load(name)()
    return found


_made = cache(named)  # a session detects the format of every message


def detect(payload: object, name: str | Format | None = None) -> Format:
    """Return the named format, or the first that recognises the payload.

    If none does, it is ``plain``, whose reader reports what is wrong and where. Raises FormatError
    for anything but a list or a request body.
    """
    if name is not None:
        return named(name)
    return next(
        (form for form in map(_made, _in_order()) if form.recognises(payload)), _made("plain")
    )


def read(
    payload: Any, name: str | Format | None = None, tools: object = None
) -> tuple[Any, Format, Transcript]:
    """Return the payload, its format and its messages.

    A payload with SDK objects that the format cannot read is returned as the SDK would send it.
    Raises FormatError if it cannot be read.
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
    yield from FORMATS.added()
