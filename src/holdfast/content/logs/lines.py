"""The lines of a log, made safe to print, and their shapes: what is left of a line without its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ONES = bytes.maketrans(b"123456789", b"000000000")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")


def lines_of(text: str) -> list[str]:
    """The lines without byte-order mark, carriage returns, colours and control characters."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if _UNPRINTABLE.search(text):
        text = _UNPRINTABLE.sub("\ufffd", text)
    return text.removesuffix("\n").split("\n")


def shapes_of(lines: Sequence[str]) -> list[str]:
    """Each line with every run of digits as one ``0``: a few passes over bytes, each half as long as the last."""
    raw = "\n".join(lines).encode("utf-8", "surrogatepass").translate(_ONES)
    for run in (b"0000", b"00"):
        while run in raw:
            raw = raw.replace(run, b"0")
    return raw.decode("utf-8", "surrogatepass").split("\n")
