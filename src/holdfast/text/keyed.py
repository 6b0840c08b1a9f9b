"""Keyed hashes, by which notes and references that Holdfast wrote are recognised."""

import hmac
from hashlib import sha256

_CONTENT, _CHECKED = 12, 8  # digits of a key: of the content, and the check digits
KEY_DIGITS = _CONTENT + _CHECKED


def digest(secret: str, *texts: str) -> str:
    """64 hex digits of the texts together; without a secret, anybody can compute them."""
    said = "\0".join(texts).encode("utf-8", "surrogatepass")
    if not secret:
        return sha256(said).hexdigest()
    return hmac.digest(secret.encode("utf-8", "surrogatepass"), said, "sha256").hex()


def decimal(secret: str, places: int, *texts: str) -> str:
    """Decimal digits of the hash; any of them take the same number of tokens."""
    return f"{int(digest(secret, *texts), 16) % 10**places:0{places}}"


def of_thread(secret: str, thread: str) -> str:
    """The secret of a thread, derived from that of the store; the empty name is a thread too."""
    return digest(secret, "thread", thread) if secret and thread else secret


def key_of(secret: str, content: str, turn: int = 0) -> str:
    """The key of content with this hash; ``turn`` counts up while other content has it."""
    digits = decimal(secret, _CONTENT, "content", str(turn), content)
    return digits + _check(secret, digits)


def is_known(key: str, secret: str) -> bool:
    """Whether the key was made with the secret, for any content."""
    return (
        bool(secret) and len(key) == KEY_DIGITS and key[_CONTENT:] == _check(secret, key[:_CONTENT])
    )


def _check(secret: str, digits: str) -> str:
    return decimal(secret, _CHECKED, "key", digits)
