"""Checksums: what the disk changed is told from what was kept.

A sealed value begins with a byte that no UTF-8 has, so that it is told from one that an older version kept.
"""

from __future__ import annotations

from zlib import crc32

_MARK = b"\xffcrc"


def sealed(value: bytes, *about: object) -> bytes:
    """The value behind its checksum, which holds for it only where it stands with these facts."""
    return _MARK + crc32(value, crc32(repr(about).encode())).to_bytes(4, "big") + value


def unsealed(value: object, *about: object) -> bytes | None:
    """The value that was sealed with these facts, or kept without a seal; None if it was changed since."""
    if not isinstance(value, bytes):
        return None
    if not value.startswith(_MARK):
        return value
    content = value[len(_MARK) + 4 :]
    return content if value == sealed(content, *about) else None
