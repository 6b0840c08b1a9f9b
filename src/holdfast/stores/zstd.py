"""The usual compression of artifacts: zstandard."""

from __future__ import annotations

from holdfast.kernel.errors import MissingExtraError

try:
    import zstandard
except ImportError as missing:
    raise MissingExtraError("an artifact compressed with zstandard") from missing

LEVEL = 3


class Zstd:
    """One frame an artifact, at level 3: beyond it, text gains little and costs much more time."""

    def compress(self, content: bytes) -> bytes:
        """The frame, which says how long its content is."""
        return zstandard.compress(content, LEVEL)

    def decompress(self, payload: bytes, size: int) -> bytes:
        """The content, of so many bytes. Raises ValueError if the payload is damaged."""
        try:
            if zstandard.frame_content_size(payload) != size:
                raise ValueError("its length is not the one that it had")
            return zstandard.decompress(payload)
        except zstandard.ZstdError as fault:
            raise ValueError("it cannot be decompressed") from fault
