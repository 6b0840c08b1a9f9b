"""Tokens of images, documents, sound and video, by what they show and not by their base64.

Images and pages count by each vendor's published rule; all such counts are estimates. Media that
are not in the message (a URL, a file id) count as usual ones of their kind. Of a file as little as
possible is read: the size of an image, the pages of a PDF, the rate of a sound.
"""

import re
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from math import ceil, floor, sqrt
from struct import unpack_from
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from holdfast.kernel.messages import Media
from holdfast.kernel.ports import Count

from .families import first

_BYTES_A_PAGE = 50_000  # of a document whose pages cannot be counted: text with a font or a picture
# tokens a second, from Gemini's guide "Understand and count tokens"; OpenAI takes 10 for sound
_A_SECOND = {"audio": 32, "video": 263}
# bytes a second if the file does not say: 128 kbit/s and 2 Mbit/s
_BYTES_A_SECOND = {"audio": 16_000, "video": 250_000}

_DATA_URL = re.compile(r"data:([^,;]{0,200})((?:;[^,;]{0,200}){0,8}),")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-][A-Za-z0-9+/=_\s-]{43}")
"""The start of base64; file ids are shorter, and URLs have a colon or a dot."""
_HEAD, _JPEG_HEAD = 4 << 10, 256 << 10  # bytes; in a JPEG a preview may stand before the size


Size = tuple[int, int]
"""Width and height in pixels."""


class _Payload(NamedTuple):
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
            return unquote_to_bytes(text.encode(errors="replace"))
        text = "".join(text.split())
        try:
            return urlsafe_b64decode(text + "==" if size is None else text[: len(text) // 4 * 4])
        except ValueError:
            return b""


def _payload(source: str) -> _Payload | None:
    if url := _DATA_URL.match(source):
        return _Payload(source, url.end(), ";base64" in url[2].lower())
    return _Payload(source, 0, base64=True) if _BASE64.match(source) else None


def media_tokens(media: Media, model: str | None = None, count: Count | None = None) -> int:
    """Tokens of an image, document, sound or video for a model.

    A text is counted by ``count`` or by characters / 4. Of another document that is no PDF, 50,000
    bytes count as a page.
    """
    payload, vision = _payload(media.source), vision_of(model)
    if media.kind == "image":
        size = _size(payload) if payload else None
        if size:
            return vision.image(*size, media.detail)
        low = media.detail == "low"
        return min(vision.unsized, vision.image(512, 512, "low")) if low else vision.unsized
    if media.kind == "document":
        if payload is None:
            return vision.page * 5  # if the document is elsewhere
        if payload.head(6).startswith(b"%PDF-"):
            return vision.page * _pages(payload)
        data = payload.head()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return vision.page * ceil(len(data) / _BYTES_A_PAGE)
        return count(text) if count else ceil(len(text) / 4)
    seconds = 60  # if the file is elsewhere
    if payload:
        rate = bytes_a_second(payload.head(32)) or _BYTES_A_SECOND[media.kind]
        seconds = max(1, payload.length // rate)
    return seconds * _A_SECOND[media.kind]


def _size(payload: _Payload) -> Size | None:
    head = payload.head(_HEAD)
    size = image_size(head)
    if size is None and head.startswith(_JPEG):  # it may have a preview before its size
        size = image_size(payload.head(_JPEG_HEAD))
    return size


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


ImageRule = Callable[[int, int, str], int]
"""Tokens from width and height in pixels and the hint on detail (``low``, ``high`` or empty)."""


def tiles(width: int, height: int, detail: str = "", *, base: int = 85, tile: int = 170) -> int:
    """OpenAI's tiles of 512 px: within 2,048 x 2,048, the shorter side at most 768.

    Source: OpenAI, "Images and vision".
    """
    if detail == "low":
        return base
    scale = min(1, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return base + tile * ceil(round(width * scale) / 512) * ceil(round(height * scale) / 512)


def patches(width: int, height: int, detail: str = "", *, factor: float, most: int) -> int:
    """OpenAI's patches of 32 x 32 px: at most ``most``, times ``factor``.

    Source: OpenAI, "Images and vision".
    """
    if detail == "low":
        most = 256  # 512 x 512 px
    across, down = width / 32, height / 32
    if ceil(across) * ceil(down) > most:
        shrink = sqrt(most / (across * down))
        across, down = across * shrink, down * shrink
        whole = min(max(1, floor(across)) / across, max(1, floor(down)) / down)
        across, down = round(across * whole, 6), round(down * whole, 6)
    return ceil(min(ceil(across) * ceil(down), most) * factor)  # at least one patch wide


def area(width: int, height: int, _detail: str = "", *, edge: int = 1568, most: int = 1600) -> int:
    """Anthropic's width x height / 750, after shrinking to the longest edge and the most tokens.

    Source: Anthropic, "Vision".
    """
    scale = min(1, edge / max(width, height))
    return min(most, ceil(width * height * scale * scale / 750))


def large_tiles(width: int, height: int, _detail: str = "") -> int:
    """Gemini 2's 258 tokens up to 384 x 384 px, else 258 for each tile of 768 x 768.

    Source: Google, "Understand and count tokens".
    """
    if max(width, height) <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


def media_resolution(_width: int, _height: int, detail: str = "") -> int:
    """Gemini 3's tokens by the requested resolution, whatever the size.

    Source: Google, "Media resolution".
    """
    return 280 if detail == "low" else 1_120


class Vision(NamedTuple):
    """Tokens of an image, of an image of unknown size, and of a page of a PDF, for some models."""

    image: ImageRule
    unsized: int
    page: int


_RULES: Mapping[str, Callable[..., int]] = {
    rule.__name__: rule for rule in (tiles, patches, area, large_tiles, media_resolution)
}


@lru_cache(maxsize=256)
def vision_of(model: str | None) -> Vision:
    """The rules for a model; OpenAI's tiles for an unknown one."""
    return _vision(**first("images", model))


def _vision(rule: str, unsized: int, page: int, **numbers: int) -> Vision:
    return Vision(partial(_RULES[rule], **numbers), unsized, page)


_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
# markers of a frame header (ITU-T T.81, table B.1), without two of tables and a reserved one
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_LINEARIZED_PAGES = re.compile(rb"/Linearized\b[^>]{0,500}?/N\s+(\d{1,6})")
_STREAMS, _INFLATED = 2_000, 1 << 20
"""The number of object streams of a PDF that are read, and the bytes of each: producers put some
hundred objects into one, and a damaged file may claim any number.
"""


def image_size(data: bytes) -> Size | None:
    """Width and height of a PNG, JPEG, GIF or WebP in pixels, or None.

    A JPEG may need its first 256 KB.
    """
    size: tuple[int, ...] | None = None
    if data.startswith(_PNG) and len(data) >= 24:
        size = unpack_from(">II", data, 16)
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        size = unpack_from("<HH", data, 6)
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        size = _webp_size(data)
    elif data.startswith(_JPEG):
        size = _jpeg_size(data)
    return (size[0], size[1]) if size and all(size) else None


def _webp_size(data: bytes) -> Size | None:
    form = data[12:16]
    if form == b"VP8X":  # extended: 24 bits each, less one
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":  # lossless: 14 bits each, less one, after a signature byte
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":  # lossy: 14 bits each, after the frame tag and the start code
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
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
