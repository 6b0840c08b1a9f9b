"""Text as bytes and back, the same for every store: any str survives, lone surrogates included."""

from __future__ import annotations

from holdfast.kernel.errors import StoreError


def to_bytes(text: str) -> bytes:
    """The text in UTF-8, a lone surrogate in the three bytes that it would take."""
    return text.encode("utf-8", "surrogatepass")


def to_text(key: str, value: bytes) -> str:
    """The inverse of ``to_bytes``. Raises StoreError, naming the key, if the bytes never were text."""
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as fault:
        raise StoreError(f"what is kept under {key!r} is bytes and not text: read it with get_bytes") from fault
