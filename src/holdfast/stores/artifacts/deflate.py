"""The compression of artifacts where zstandard is not installed: zlib, which Python brings."""

from __future__ import annotations

import zlib


class Deflate:
    """One zlib stream an artifact."""

    def compress(self, content: bytes) -> bytes:
        """The stream."""
        return zlib.compress(content)

    def decompress(self, payload: bytes, size: int) -> bytes:
        """The content, of so many bytes. Raises ValueError if the payload is damaged."""
        try:
            return zlib.decompressobj().decompress(payload, size + 1)
        except zlib.error as fault:
            raise ValueError("it cannot be decompressed") from fault
