"""What a request over HTTP asks for, told by its path: whose wire it is, and which model."""

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
    (r"/responses", "openai", "openai_responses"),
    (r"/messages", "anthropic", "anthropic"),
    (r"/models/(?P<model>[^/:]+):(?:stream)?[gG]enerateContent", "google", "gemini"),
)
"""How the path of a request that holds a conversation ends, and the format of its body."""

_ANTHROPIC = re.compile(r"/messages(?:/|$)")
_GOOGLE = re.compile(r"/v1(?:alpha|beta)\d*/|:\w+$")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a conversation is sent: the format of the body, and the model if the path names it."""

    vendor: Vendor
    format: str
    model: str = ""


@lru_cache(maxsize=256)
def endpoint_of(path: str) -> Endpoint | None:
    """The endpoint, or None where no conversation is sent that could be fitted.

    Those that count or compact are none: what is asked of them is about the request as it is.
    """
    for pattern, vendor, form in _WIRES:
        found = re.search(rf"{pattern}/?$", path)
        if found and form in FORMATS:
            return Endpoint(vendor, form, unquote(found.groupdict().get("model") or ""))
    return None


def vendor_of(path: str, headers: frozenset[bytes] = frozenset()) -> Vendor:
    """Whose API a path belongs to; what all have, as the list of models, by names of headers."""
    if _ANTHROPIC.search(path) or b"anthropic-version" in headers:
        return "anthropic"
    if _GOOGLE.search(path) or b"x-goog-api-key" in headers:
        return "google"
    return "openai"
