"""Identifying the conversation of a request, if its client names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Protocol, TypedDict

from holdfast.formats.values import is_object

HEADER = "x-holdfast-thread"
"""The header with which any client may name the conversation; it is not forwarded."""

_SESSIONS = ("x-claude-code-session-id", "session_id", "session-id", "conversation_id")
"""Headers in which Claude Code and Codex name their sessions."""

_IN_USER = re.compile(r"session[\w\"' :]*?([0-9a-f]{8}-[0-9a-f-]{27})")
"""Claude Code's session id within ``metadata.user_id``."""

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


class Headers(Protocol):
    """Headers by name, ignoring case."""

    def get(self, key: str, default: str = "", /) -> str:
        """The value, or the default."""
        ...


class Origin(TypedDict):
    """The origin of a request, as arguments of ``Fitter.fit``."""

    thread: str
    owner: str


def origin_of(headers: Headers, address: str = "") -> Origin:
    """The name of the conversation in the headers, and a hash that identifies the client.

    It is of the client and its API key, or of its address where it has no key.
    """
    named = (value for name in (HEADER, *_SESSIONS) if (value := headers.get(name, "")))
    keys = [headers.get(name, "") for name in _CREDENTIALS]
    who = [*keys, headers.get("user-agent", ""), "" if any(keys) else address]
    owner = sha256("\0".join(who).encode("utf-8", "surrogateescape")).hexdigest()
    return Origin(thread=next(named, ""), owner=owner)


def named_in_body(body: Mapping[str, Any]) -> str:
    """The name of the conversation in a body of Claude Code or Codex, or an empty text."""
    metadata, key = body.get("metadata"), body.get("prompt_cache_key")
    if is_object(metadata):
        found = _IN_USER.search(str(metadata.get("user_id") or ""))
        if found:
            return found[1]
    return key if isinstance(key, str) else ""


def thread_of(owner: str, name: str) -> str:
    """The name of an owner's conversation, different from those of all other owners."""
    return sha256(f"{owner}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
