"""The message that stands for history: how it is marked, and how it is known again.

Stateless callers hand plain messages back, so a summary must be recognised by what it says. Its first line is
``[HISTORY_SUMMARY <key>]``; the key is the first 16 hex digits of the SHA-256 of all that follows the line. What
a user, an assistant or a tool merely wrote does not have that key, and is text like any other.
"""

from __future__ import annotations

from hashlib import sha256

from holdfast.kernel.messages import Message, Role
from holdfast.kernel.transcript import SUMMARY

PLAIN = f"{SUMMARY}]"
"""The mark without a key, which the system's own messages may carry."""

HISTORY = "history"
"""The kind of artifact that the originals of a summary are kept as."""

_KEY_DIGITS = 16


def mark(body: str, role: Role = "user") -> str:
    """The text of a summary message; one of the system needs no key."""
    return f"{PLAIN}\n{body}" if role == "system" else f"{SUMMARY} {_key(body)}]\n{body}"


def body_of(message: Message) -> str | None:
    """What a summary message says below its mark, or None where the message is none.

    A system message may carry the mark without a key: nobody but the caller writes there.
    """
    text = message.plain if message.plain is not None else message.content_text
    return None if text is None else body_in(text, message.role)


def body_in(text: str, role: Role) -> str | None:
    """As ``body_of``, for the text of a message and its role."""
    if not text.startswith(SUMMARY):
        return None
    first, _, body = text.partition("\n")
    if first == f"{SUMMARY} {_key(body)}]" or (role == "system" and first == PLAIN):
        return body
    return None


def _key(body: str) -> str:
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]
