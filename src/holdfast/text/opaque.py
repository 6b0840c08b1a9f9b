"""Runs of base64 or hexadecimal in a text, and the files that they contain."""

from __future__ import annotations

import base64
import binascii
import re

LEAST = 160
"""Characters; shorter runs may be keys, hashes or signatures, which a reader may need."""

_ALPHABET = "A-Za-z0-9+/_-"
_DATA_URL = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,80})?((?:;[\w=.-]{1,60}){0,4}),")
_LEAST_LINE = 40  # characters of a line of wrapped base64
_RUN = re.compile(
    rf"(?:{_DATA_URL.pattern})?(?<![{_ALPHABET}])[%{_ALPHABET}]{{{LEAST},}}+={{0,2}}"
    rf"|^[A-Za-z0-9+/]{{{_LEAST_LINE},100}}\r?\n(?:[A-Za-z0-9+/]{{{_LEAST_LINE},100}}\r?\n){{2,}}+"
    r"[A-Za-z0-9+/]{0,100}={0,2}$",
    re.MULTILINE,
)
_OPAQUE = re.compile(f"[%{_ALPHABET}]{{{_LEAST_LINE}}}")  # the beginning of any such run
_HEX = re.compile(r"[0-9a-fA-F]+")
_SAMPLE = 1_024  # characters by which a run is judged

_MAGIC = (  # (offset, bytes, media type)
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (6, b"JFIF", "image/jpeg"),
    (6, b"Exif", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (0, b"BM", "image/bmp"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (0, b"\xca\xfe\xba\xbe\x00\x00\x00", "application/java-vm"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "video/mp4"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\x00\x01\x00\x00\x00", "font/ttf"),
)
_DECODED = [
    (offset, decoded, name)
    for offset, mark, name in _MAGIC
    for decoded in (
        mark.decode("latin-1"),
        mark.decode("utf-8", "replace"),
        mark.decode("ascii", "surrogateescape"),
    )
    if decoded.strip("\ufffd")
]


def media_type(head: bytes | str) -> str:
    """The media type by the first bytes of a file, or an empty string.

    ``head`` may also be text, decoded in any way.
    """
    text = head if isinstance(head, str) else head.decode("latin-1")
    return next((name for offset, mark, name in _DECODED if text.startswith(mark, offset)), "")


def elide(text: str) -> str:
    """The text with long opaque runs replaced by ``[image/png, 48,213 bytes of base64]``."""
    if not any(len(word) >= _LEAST_LINE and _OPAQUE.search(word) for word in text.split()):
        return text
    return _RUN.sub(lambda run: f"[{describe(run.group())}]", text)


def describe(run: str) -> str:
    """A description of a run, such as ``image/png, 48,213 bytes of base64``."""
    url = _DATA_URL.match(run)
    body = run[url.end() :] if url else run.removeprefix("0x")
    head = "".join(body[:_SAMPLE].split())
    named = url[1] if url else None
    if "base64" in url[2].lower() if url else _is_base64(head):
        size = _length(body.rstrip("=")) * 3 // 4
        return f"{named or media_type(_from_base64(head)) or 'data'}, {size:,} bytes of base64"
    if not url and _HEX.fullmatch(head) and not head.isalpha():
        return (
            f"{media_type(_from_hex(head)) or 'data'}, {_length(body) // 2:,} bytes of hexadecimal"
        )
    return f"{named or 'data'}, {len(body):,} characters without a space"


def _is_base64(head: str) -> bool:
    return (
        any(map(str.isupper, head)) and any(map(str.islower, head)) and any(map(str.isdigit, head))
    )


def _length(body: str) -> int:
    """The characters of the run without line breaks."""
    return len(body) - body.count("\n") - body.count("\r")


def _from_base64(head: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(
            head[: len(head) // 4 * 4].replace("+", "-").replace("/", "_")
        )
    except (binascii.Error, ValueError):  # not ASCII, or padding in the middle
        return b""


def _from_hex(head: str) -> bytes:
    try:
        return bytes.fromhex(head[: len(head) // 2 * 2])
    except ValueError:  # not hexadecimal
        return b""
