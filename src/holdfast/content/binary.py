"""Binary content that arrived as text: data URLs, wrongly decoded bytes, escaped bytes."""

import re

from holdfast.text.opaque import LEAST, media_type
from holdfast.text.pieces import Piece, Reading
from holdfast.text.words import READ

from .lossy import LEAST_SHARE, LossyKind, sampled

# colour codes start with \x1b
_STRANGE = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
# share of such characters from which a text reads as bytes: a third of that in random bytes as
# Latin-1, which has 60 controls of 256; half and double read real texts alike
_STRANGE_SHARE = 0.08
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")  # bytes as Python and C write them
# share of the characters in them from which a text reads as bytes; half and double read real texts
# alike
_ESCAPED_SHARE = 0.3
_DATA_URL = re.compile(r"\s{0,8}data:[\w.+-]{1,60}/[\w.+-]{1,80}[;,]\S*\s*\Z")
_NAMED = re.compile(
    r"\s*\[([\w.+-]+(?:/[\w.+-]+)?, [\d,]+ (?:bytes|characters) [a-z0-9 ]+)\]\s*\Z"
)  # in its place
# letters beyond ASCII may also be wrongly decoded bytes
_READABLE = re.compile(r"[A-Za-z0-9][ -~]{7,160}")
_WORD = re.compile(
    r"(?<![^\W\d_])(?=[a-zA-Z]{0,40}[aeiouAEIOU])(?:[A-Z]?[a-z]{4,40}|[A-Z]{5,40})(?![^\W\d_])"
)
# share of a readable part in words; with half, more noise is shown of real files, and with double 3
# of their 21 facts are not
_WORDY_SHARE = 0.35


class Binary(LossyKind):
    """Bytes, of which a reader can use only the type, the size and the words in them."""

    name = "binary"

    def share(self, text: str) -> float:
        """1.0 for one data URL, else depends on the share of control and replacement characters."""
        if len(text) >= LEAST and _DATA_URL.match(text):
            return 1.0
        sample = sampled(text)
        escaped = 4 * len(_ESCAPED.findall(sample)) if "\\x" in sample else 0
        strange = len(_STRANGE.findall(sample))
        share = max(strange / _STRANGE_SHARE, escaped / _ESCAPED_SHARE) / max(1, len(sample))
        return min(1.0, LEAST_SHARE * share)

    def read(self, text: str) -> Reading:
        """``[binary: image/png, 48,213 bytes]``, and below it the parts with words in them."""
        notice = Piece(f"[binary: {_described(text)}]", 0)
        found = () if _NAMED.match(text) else map(str.strip, _READABLE.findall(text))
        parts = dict.fromkeys(
            part
            for part in found
            if sum(map(len, _WORD.findall(part))) >= _WORDY_SHARE * len(part)
            and not _ESCAPED.search(part)
        )
        heading = [Piece("readable parts:", 0, parent=0)] if parts else []
        return Reading([notice, *heading, *(Piece(part, 0, parent=1) for part in parts)], 0, "")


def _described(text: str) -> str:
    if named := _NAMED.match(text):
        return named[1]
    escapes = len(_ESCAPED.findall(text))
    if escapes * 4 > _ESCAPED_SHARE * len(text):
        head = _ESCAPED.sub(lambda byte: chr(int(byte[1], 16)), text[:READ].lstrip(" b\"'"))
        head = head.replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0")
        return f"{media_type(head) or 'data'}, about {len(text) - 3 * escapes:,} bytes, escaped"
    return f"{media_type(text) or 'data'}, about {len(text):,} bytes"
