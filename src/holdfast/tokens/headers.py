"""Facts from the first bytes of a file: the size of an image, pages of a PDF, length of a sound.

Reads as little as it can, and accepts any bytes without raising.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import islice

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a frame header, without the three of tables."""

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_LINEARIZED_PAGES = re.compile(rb"/Linearized\b[^>]{0,500}?/N\s+(\d{1,6})")
_STREAMS, _INFLATED = 2_000, 1 << 20
"""The number of object streams of a PDF that are read, and the bytes of each."""


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WebP in pixels, or None.

    A JPEG may need its first 256 KB.
    """
    size = None
    if data.startswith(_PNG) and len(data) >= 24:
        size = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        size = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        size = _webp_size(data)
    elif data.startswith(_JPEG):
        size = _jpeg_size(data)
    return size if size and all(size) else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8X":  # extended: 24 bits each, less one
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":  # lossless: 14 bits each, less one, after a signature byte
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":  # lossy: 14 bits each, after the frame tag and the start code
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(
            data[28:30], "little"
        ) & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        if marker == 0xFF:  # filling
            at += 1
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))
    return None


def pdf_pages(data: bytes) -> int | None:
    """Pages of a PDF by its page objects, also compressed ones; None if none is found."""
    if linearized := _LINEARIZED_PAGES.search(data, 0, 1024):
        return max(1, int(linearized[1]))
    pages = sum(1 for _ in _PAGE.finditer(data))
    pages += sum(len(_PAGE.findall(objects)) for objects in islice(_object_streams(data), _STREAMS))
    return pages or None


def _object_streams(data: bytes) -> Iterator[bytes]:
    at = data.find(b"/ObjStm")
    while at >= 0:
        start = data.find(b"stream", at)
        end = data.find(b"endstream", start + 6)
        if start < 0 or end < 0:
            return
        try:
            yield zlib.decompressobj().decompress(data[start + 6 : end].lstrip(b"\r\n"), _INFLATED)
        except zlib.error:
            yield b""  # encrypted, or compressed in another way
        at = data.find(b"/ObjStm", end)


def bytes_a_second(data: bytes) -> int | None:
    """The byte rate in the header of a WAV file."""
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE" and len(data) >= 32:
        return int.from_bytes(data[28:32], "little") or None
    return None
