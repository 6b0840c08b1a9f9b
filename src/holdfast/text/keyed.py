"""Digits that nobody can write who has no secret: by them is known again what was written here."""

from __future__ import annotations

import hmac
from hashlib import sha256

_CONTENT, _CHECKED = 12, 8  # digits of a key: of its content, and those by which the rest is known
KEY_DIGITS = _CONTENT + _CHECKED


def digest(secret: str, *texts: str) -> str:
    """64 hex digits of what the texts are together; without a secret anybody can make them."""
    said = "\0".join(texts).encode("utf-8", "surrogatepass")
    if not secret:
        return sha256(said).hexdigest()
    return hmac.digest(secret.encode("utf-8", "surrogatepass"), said, "sha256").hex()


def decimal(secret: str, places: int, *texts: str) -> str:
    """So many decimal digits of it: a tokenizer takes as many tokens for any of them."""
    return f"{int(digest(secret, *texts), 16) % 10**places:0{places}}"


def of_thread(secret: str, thread: str) -> str:
    """The secret of one conversation; without a name that of all that have none."""
    return digest(secret, "thread", thread) if secret and thread else secret


def key_of(secret: str, content: str, turn: int = 0) -> str:
    """The key of a content with this hash.

    ``turn`` is counted on while another content has the key.
    """
    digits = decimal(secret, _CONTENT, "content", str(turn), content)
    return digits + _check(secret, digits)


def is_known(key: str, secret: str) -> bool:
    """Whether the key was made with the secret, of whatever content."""
    return (
        bool(secret) and len(key) == KEY_DIGITS and key[_CONTENT:] == _check(secret, key[:_CONTENT])
    )


def _check(secret: str, digits: str) -> str:
    return decimal(secret, _CHECKED, "key", digits)
