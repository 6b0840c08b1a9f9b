"""The format and the model of a request, by its path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from holdfast.formats import FORMATS

Vendor = Literal["openai", "anthropic", "google"]

_WIRES: tuple[tuple[str, Vendor, str], ...] = (
    (r"/chat/completions", "openai", "openai_chat"),
    (r"/responses(?P<asks>/input_tokens|/compact)?", "openai", "openai_responses"),
    (r"/messages(?P<asks>/count_tokens)?", "anthropic", "anthropic"),
    (
        r"/models/(?P<model>[^/:]+):(?:(?:stream)?[gG]enerateContent|(?P<asks>countTokens))",
        "google",
        "gemini",
    ),
)
"""The paths with conversations, by their ends, and the format of their bodies."""

_ANTHROPIC = re.compile(r"/messages(?:/|$)")
_GOOGLE = re.compile(r"/v1(?:alpha|beta)\d*/|:\w+$")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint for conversations: the format of its body, and the model if the path names it.

    ``asks``: it counts or compacts a conversation, and so needs it unchanged.
    """

    vendor: Vendor
    format: str
    model: str = ""
    asks: bool = False


@lru_cache(maxsize=256)
def endpoint_of(path: str) -> Endpoint | None:
    """The endpoint of a path; None if its requests have no conversation."""
    for pattern, vendor, form in _WIRES:
        found = re.search(rf"{pattern}/?$", path)
        if found and form in FORMATS:
            parts = found.groupdict()
            model = unquote(parts.get("model") or "")
            return Endpoint(vendor, form, model, asks=bool(parts.get("asks")))
    return None


def vendor_of(path: str, headers: frozenset[bytes] = frozenset()) -> Vendor:
    """The vendor to whose API the path belongs; if several have such a path, by the headers."""
    if _ANTHROPIC.search(path) or b"anthropic-version" in headers:
        return "anthropic"
    if _GOOGLE.search(path) or b"x-goog-api-key" in headers:
        return "google"
    return "openai"
