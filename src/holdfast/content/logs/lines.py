"""The lines of a log, made safe to print, and their shapes: what is left of a line without its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.text.states import coded, with_codes

_ONES = bytes.maketrans(b"123456789", b"000000000")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CONTROLS = bytes((*range(9), 11, 12, *range(14, 32), 127))
_UNPRINTABLE = re.compile(f"[{re.escape(_CONTROLS.decode())}]+")


def lines_of(text: str) -> list[str]:
    """The lines without byte-order mark, carriage returns, colours and control characters."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw.translate(None, _CONTROLS)) < len(raw):  # told in a fraction of the time of a search
        text = _UNPRINTABLE.sub("\ufffd", text)
    return text.removesuffix("\n").split("\n")


def shapes_of(lines: Sequence[str]) -> list[str]:
    """Each line with every run of digits as one ``0``; the digits of status and exit codes as signs."""
    shapes = _masked("\n".join(lines))
    near, names = coded(set(shapes))
    if near:
        rows = [row for row, shape in enumerate(shapes) if shape in near]
        told = _masked(with_codes("\n".join(lines[row] for row in rows), names))
        for row, shape in zip(rows, told, strict=True):
            shapes[row] = shape
    return shapes


def _masked(text: str) -> list[str]:
    """The lines without their digits: a few passes over bytes, each half as long as the last."""
    raw = text.encode("utf-8", "surrogatepass").translate(_ONES)
    for run in (b"0000", b"00"):
        while run in raw:
            raw = raw.replace(run, b"0")
    return raw.decode("utf-8", "surrogatepass").split("\n")
