"""The message that stands for history: how it is marked, and how it is known again.

Stateless callers hand plain messages back, so a summary must be recognised by what it says. Its first line is
``[HISTORY_SUMMARY <key>]``; the key is the first 16 hex digits of the SHA-256 of all that follows the line. What
a user, an assistant or a tool merely wrote does not have that key, and is text like any other.
"""

from __future__ import annotations

from hashlib import sha256

from holdfast.kernel.messages import Message

_OPENING = "[HISTORY_SUMMARY"
_KEY_DIGITS = 16


def mark(body: str) -> str:
    """The text of a summary message."""
    return f"{_OPENING} {_key(body)}]\n{body}"


def body_of(message: Message) -> str | None:
    """What a summary message says below its mark, or None where the message is none.

    A system message may carry the mark without a key: nobody but the caller writes there.
    """
    text = message.plain if message.plain is not None else message.content_text
    if text is None or not text.startswith(_OPENING):
        return None
    first, _, body = text.partition("\n")
    if first == f"{_OPENING} {_key(body)}]" or (message.role == "system" and first == f"{_OPENING}]"):
        return body
    return None


def _key(body: str) -> str:
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]
