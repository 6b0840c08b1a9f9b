"""Tokens of images, documents, sound and video, by what they show and not by their base64.

Media that are not in the message (a URL, a file id) count as usual ones of their kind, with the
figures here and in ``vision``.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from .headers import bytes_a_second, image_size, pdf_pages
from .vision import vision_of

if TYPE_CHECKING:
    from holdfast.kernel.messages import Media

_USUAL_PAGES = 5  # pages of a document that is not in the message. Chosen by hand.
_BYTES_A_PAGE = 50_000  # as in ``document_tokens``. Chosen by hand.
_USUAL_SECONDS = 60  # of sound or video that is not in the message. Chosen by hand.
_A_SECOND = {"audio": 32, "video": 263}
"""Tokens a second, from Gemini's guide "Understand and count tokens"; OpenAI takes 10 for sound."""
_BYTES_A_SECOND = {"audio": 16_000, "video": 250_000}
"""Bytes a second if the file does not say: 128 kbit/s and 2 Mbit/s."""

_DATA_URL = re.compile(r"data:([^,;]{0,200})((?:;[^,;]{0,200}){0,8}),")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-][A-Za-z0-9+/=_\s-]{43}")
"""The start of base64; file ids are shorter, and URLs have a colon or a dot."""
_HEAD, _JPEG_HEAD = 4 << 10, 256 << 10  # bytes; in a JPEG a preview may stand before the size


@dataclass(frozen=True, slots=True)
class _Payload:
    """The content of a source, base64 or percent-encoded, from character ``start`` on."""

    source: str
    start: int
    base64: bool

    @property
    def length(self) -> int:
        """The approximate length in bytes."""
        return (len(self.source) - self.start) * (3 if self.base64 else 4) // 4

    def head(self, size: int | None = None) -> bytes:
        """About ``size`` first bytes, or all for None; empty if they cannot be decoded."""
        end = None if size is None else self.start + size * 4 // 3 + 4
        text = self.source[self.start : end]
        if not self.base64:
            return _ESCAPE.sub(_unescaped, text.encode(errors="replace"))
        text = "".join(text.split()).translate(_URL_SAFE)
        try:
            return a2b_base64(
                text[: len(text) // 4 * 4] if size is not None else text + "=" * (-len(text) % 4)
            )
        except (Error, ValueError):
            return b""


_URL_SAFE = str.maketrans("-_", "+/")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return bytes.fromhex(escape[1].decode())


def _payload(source: str) -> _Payload | None:
    if url := _DATA_URL.match(source):
        return _Payload(source, url.end(), ";base64" in url[2].lower())
    return _Payload(source, 0, base64=True) if _BASE64.match(source) else None


@dataclass(frozen=True, slots=True)
class MediaCounter:
    """Counts an image, document, sound or video for a model.

    ``count`` counts the text of documents.
    """

    model: str | None = None
    count: Callable[[str], int] | None = None

    def __call__(self, media: Media) -> int:
        """Tokens of the media."""
        payload = _payload(media.source)
        if media.kind == "image":
            return self._image(payload, media.detail)
        if media.kind == "document":
            return self._document(payload)
        return _seconds(payload, media.kind) * _A_SECOND[media.kind]

    def _image(self, payload: _Payload | None, detail: str) -> int:
        vision = vision_of(self.model)
        size = _size(payload) if payload else None
        if size:
            return vision.image(*size, detail)
        return (
            min(vision.unsized, vision.image(512, 512, detail))
            if detail == "low"
            else vision.unsized
        )

    def _document(self, payload: _Payload | None) -> int:
        if payload is None:
            return vision_of(self.model).page * _USUAL_PAGES
        if payload.head(6).startswith(b"%PDF-"):
            return vision_of(self.model).page * _pages(payload)
        return document_tokens(payload.head(), model=self.model, count=self.count)


def media_tokens(media: Media) -> int:
    """Tokens of an image, document, sound or video, without a model."""
    return _ANY_MODEL(media)


_ANY_MODEL = MediaCounter()


def document_tokens(
    data: bytes, *, model: str | None = None, count: Callable[[str], int] | None = None
) -> int:
    """Tokens of a document: a PDF by its pages, text by ``count`` or by characters / 4.

    Other files, and PDFs without visible page objects, count a page for each 50,000 bytes.
    """
    page = vision_of(model).page
    if data.startswith(b"%PDF-"):
        return page * (pdf_pages(data) or ceil(len(data) / _BYTES_A_PAGE))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return page * ceil(len(data) / _BYTES_A_PAGE)
    return count(text) if count else ceil(len(text) / 4)


def _size(payload: _Payload) -> tuple[int, int] | None:
    head = payload.head(_HEAD)
    size = image_size(head)
    if size is None and head.startswith(b"\xff\xd8"):  # a JPEG may have a preview before its size
        size = image_size(payload.head(_JPEG_HEAD))
    return size


def _seconds(payload: _Payload | None, kind: str) -> int:
    if payload is None:
        return _USUAL_SECONDS
    return max(1, payload.length // (bytes_a_second(payload.head(32)) or _BYTES_A_SECOND[kind]))


_PAGES: dict[tuple[int, int], int] = {}
"""Pages of PDFs by the hash and length of their source, which may be many megabytes. Cleared when
full."""
_MOST_PAGES_KNOWN = 1_000  # entries of two numbers: some 100 kB


def _pages(payload: _Payload) -> int:
    key = hash(payload.source), len(payload.source)
    pages = _PAGES.get(key)
    if pages is None:
        pages = pdf_pages(payload.head()) or ceil(payload.length / _BYTES_A_PAGE)
        if len(_PAGES) >= _MOST_PAGES_KNOWN:
            _PAGES.clear()
        _PAGES[key] = pages
    return pages
