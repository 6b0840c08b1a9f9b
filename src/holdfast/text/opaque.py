"""Runs of base64 or hexadecimal in a text, and the files that they contain."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator

LEAST = 160
"""Characters; shorter runs may be keys, hashes or signatures, which a reader may need: SHA-512 has
128 hexadecimal digits.
"""

_ALPHABET = "A-Za-z0-9+/_-"
_DATA_URL = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,80})?((?:;[\w=.-]{1,60}){0,4}),")
# characters of a line of wrapped base64; PEM has 64 (RFC 7468), MIME up to 76 (RFC 2045)
_LEAST_LINE = 40
_RUN = re.compile(
    rf"(?:{_DATA_URL.pattern})?(?<![{_ALPHABET}])[%{_ALPHABET}]{{{LEAST},}}+={{0,2}}"
    rf"|^[A-Za-z0-9+/]{{{_LEAST_LINE},100}}\r?\n(?:[A-Za-z0-9+/]{{{_LEAST_LINE},100}}\r?\n){{2,}}+"
    r"[A-Za-z0-9+/]{0,100}={0,2}$",
    re.MULTILINE,
)
_OPAQUE = re.compile(f"[%{_ALPHABET}]{{{_LEAST_LINE}}}")  # the beginning of any such run
_HEX = re.compile(r"[0-9a-fA-F]+")
_SPACES = str.maketrans("/_-", "   ")
# characters between the signs of a path or an address at most, in the mean; base64 has 32
_MEAN_PART = 12
_SAMPLE = 1_024  # characters by which a run is judged: in 1 kB all 64 signs of base64 appear

_MAGIC = """
    0 89504e470d0a1a0a image/png
    0 ffd8ff image/jpeg
    6 4a464946 image/jpeg
    6 45786966 image/jpeg
    0 47494638 image/gif
    8 57454250 image/webp
    0 49492a00 image/tiff
    0 4d4d002a image/tiff
    0 00000100 image/x-icon
    0 424d image/bmp
    0 255044462d application/pdf
    0 25215053 application/postscript
    0 504b0304 application/zip
    0 1f8b application/gzip
    0 425a68 application/x-bzip2
    0 fd377a585a00 application/x-xz
    0 28b52ffd application/zstd
    0 377abcaf271c application/x-7z-compressed
    0 526172211a07 application/vnd.rar
    257 7573746172 application/x-tar
    0 7f454c46 application/x-elf
    0 4d5a application/vnd.microsoft.portable-executable
    0 cffaedfe application/x-mach-binary
    0 cafebabe000000 application/java-vm
    0 0061736d application/wasm
    0 53514c69746520666f726d6174203300 application/vnd.sqlite3
    0 50415231 application/vnd.apache.parquet
    8 57415645 audio/wav
    0 4f676753 audio/ogg
    0 494433 audio/mpeg
    0 664c6143 audio/flac
    4 66747970 video/mp4
    8 41564920 video/x-msvideo
    0 1a45dfa3 video/webm
    0 774f4646 font/woff
    0 774f4632 font/woff2
    0 0001000000 font/ttf
"""
"""The first bytes of files: their offset, they in hexadecimal, and the media type."""


def _decoded(row: str) -> Iterator[tuple[int, str, str]]:
    """A row with its bytes as text, decoded in each way in which they may have been."""
    offset, digits, name = row.split()
    mark = bytes.fromhex(digits)
    for encoding, errors in (
        ("latin-1", "strict"),
        ("utf-8", "replace"),
        ("ascii", "surrogateescape"),
    ):
        text = mark.decode(encoding, errors)
        if text.strip("\ufffd"):
            yield int(offset), text, name


_DECODED = [each for row in _MAGIC.strip().splitlines() for each in _decoded(row)]


def media_type(head: bytes | str) -> str:
    """The media type by the first bytes of a file, or an empty string.

    ``head`` may also be text, decoded in any way.
    """
    text = head if isinstance(head, str) else head.decode("latin-1")
    return next((name for offset, mark, name in _DECODED if text.startswith(mark, offset)), "")


def elide(text: str) -> str:
    """The text with long opaque runs replaced by ``[image/png, 48,213 bytes of base64]``."""
    words = text.split()
    if max(map(len, words), default=0) < _LEAST_LINE or not any(map(_OPAQUE.search, words)):
        return text
    return _RUN.sub(_named, text)


def _named(run: re.Match[str]) -> str:
    """A description of a run, or the run itself if it is a path or an address in words."""
    text = run[0]
    head = text[:_SAMPLE]
    is_of_words = _MEAN_PART * len(head.translate(_SPACES).split()) >= len(head)
    # which base64 has where bytes are 255, and an address only before it
    is_of_words &= "///" not in head.lstrip("/")
    return text if is_of_words and not _DATA_URL.match(text) else f"[{describe(text)}]"


def describe(run: str) -> str:
    """A description of a run, such as ``image/png, 48,213 bytes of base64``."""
    url = _DATA_URL.match(run)
    body = run[url.end() :] if url else run.removeprefix("0x")
    head = "".join(body[:_SAMPLE].split())
    digits = "".join(body.split())
    named = url[1] if url else None
    classes = str.isupper, str.islower, str.isdigit
    is_mixed = all(any(map(is_one, head)) for is_one in classes)
    if "base64" in url[2].lower() if url else is_mixed:
        size = len(digits.rstrip("=")) * 3 // 4
        standard = head.replace("-", "+").replace("_", "/")
        return f"{named or _type_of(standard, b64decode, 4)}, {size:,} bytes of base64"
    if not url and _HEX.fullmatch(head) and not head.isalpha():
        return f"{_type_of(head, bytes.fromhex, 2)}, {len(digits) // 2:,} bytes of hexadecimal"
    return f"{named or 'data'}, {len(body):,} characters without a space"


def _type_of(head: str, decode: Callable[[str], bytes], digits: int) -> str:
    """The media type of encoded bytes, of which so many ``digits`` are decoded together."""
    try:
        return media_type(decode(head[: len(head) // digits * digits])) or "data"
    except ValueError:  # other characters, or padding in the middle
        return "data"
