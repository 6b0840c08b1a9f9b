"""How an artifact is written: a line of JSON that says what follows, then the content, compressed if that helps.

Pure functions, so that every store keeps the very same thing: a store of bytes the blob as it is, a store of text
the line and the rest in base64.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Protocol, cast

from holdfast.kernel.errors import CorruptError, MissingExtraError, StoreError
from holdfast.kernel.registry import Registry
from holdfast.stores.utf8 import to_bytes

VERSION = 1

PLAIN = "plain"


class Codec(Protocol):
    """One way of making bytes fewer."""

    def compress(self, content: bytes) -> bytes:
        """The content in a form that ``decompress`` takes."""
        ...

    def decompress(self, payload: bytes, size: int) -> bytes:
        """The content, of so many bytes. Raises ValueError if the payload is damaged."""
        ...


CODECS = Registry(
    noun="encoding of artifacts",
    group="codecs",
    table={
        "zstd": "holdfast.stores.artifacts.zstd:Zstd",
        "zlib": "holdfast.stores.artifacts.deflate:Deflate",
    },
)


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line says; ``bytes`` and ``lines`` are those of the content."""

    sha256: str
    kind: str
    encoding: str
    bytes: int
    lines: int


def key_of(content: bytes) -> str:
    """The key of this content and of no other: its SHA-256 in hexadecimal."""
    return sha256(content).hexdigest()


def encode(content: bytes, kind: str) -> tuple[Header, bytes]:
    """The blob of the content, and the header that it begins with."""
    encoding, payload = _compressed(content)
    lines = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
    header = Header(key_of(content), kind, encoding, len(content), lines)
    return header, json.dumps({"holdfast": VERSION, **asdict(header)}).encode() + b"\n" + payload


def decode(name: str, blob: bytes) -> tuple[Header, bytes]:
    """The header and the content. Raises CorruptError unless the content has the hash that the header says."""
    header = header_of(name, blob)
    payload = blob[blob.index(b"\n") + 1 :]
    try:
        content = _codec(header.encoding).decompress(payload, header.bytes)
    except ValueError as fault:
        raise CorruptError(name, str(fault)) from fault
    if key_of(content) != header.sha256:
        raise CorruptError(name)
    return header, content


def header_of(name: str, blob: bytes) -> Header:
    """The header alone. Raises CorruptError if it is none.

    Raises StoreError if a newer Holdfast wrote it.
    """
    line, end, _ = blob.partition(b"\n")
    try:
        return _parsed(json.loads(line) if end else None)
    except (ValueError, RecursionError) as fault:
        raise CorruptError(name, "its first line is not that of an artifact") from fault


def to_armour(blob: bytes) -> str:
    """The blob as ASCII, for a store of text."""
    header, _, payload = blob.partition(b"\n")
    return f"{header.decode()}\n{b64encode(payload).decode()}"


def from_armour(text: str) -> bytes:
    """The inverse of ``to_armour``. What is no base64 gives an empty payload, which ``decode`` refuses."""
    header, _, payload = text.partition("\n")
    try:
        content = b64decode(payload, validate=True)
    except ValueError:
        content = b""
    return to_bytes(header) + b"\n" + content


class _Plain:
    def compress(self, content: bytes) -> bytes:
        return content

    def decompress(self, payload: bytes, size: int) -> bytes:
        if len(payload) != size:
            raise ValueError("its length is not the one that it had")
        return payload


def _codec(encoding: str) -> Codec:
    return _Plain() if encoding == PLAIN else cast("type[Codec]", CODECS.load(encoding))()


def _compressed(content: bytes) -> tuple[str, bytes]:
    for encoding in CODECS.table:
        try:
            payload = _codec(encoding).compress(content)
        except MissingExtraError:
            continue
        return (encoding, payload) if len(payload) < len(content) else (PLAIN, content)
    return PLAIN, content


def _parsed(line: object) -> Header:
    match line:
        case {
            "holdfast": 1,
            "sha256": str(key),
            "kind": str(kind),
            "encoding": str(encoding),
            "bytes": int(size),
            "lines": int(lines),
        }:
            return Header(key, kind, encoding, size, lines)
        case {"holdfast": int(newer)} if newer > VERSION:
            raise StoreError(f"an artifact of form {newer} needs a newer Holdfast: pip install -U holdfast")
        case _:
            raise ValueError("it is not a header")
