"""The default compression of artifacts: zstandard."""

from __future__ import annotations

from holdfast.kernel.errors import MissingExtraError

try:
    import zstandard
except ImportError as missing:
    raise MissingExtraError("an artifact compressed with zstandard") from missing

LEVEL = 3
"""The default of zstandard: higher levels gain little on text and take much more time."""


def _compressed(content: bytes) -> bytes:
    """One frame, with the length of its content."""
    return zstandard.compress(content, LEVEL)


def _decompressed(payload: bytes, size: int) -> bytes:
    try:
        if zstandard.frame_content_size(payload) != size:
            raise ValueError("its length is not the one that it had")
        return zstandard.decompress(payload)
    except zstandard.ZstdError as fault:
        raise ValueError("it cannot be decompressed") from fault


ZSTD = (_compressed, _decompressed)
