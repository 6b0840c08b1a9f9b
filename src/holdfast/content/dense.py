"""Dense text: minified scripts and styles, base64, hex dumps, lines with hardly any space."""

from __future__ import annotations

import re
from itertools import pairwise

from holdfast.selection.pieces import LONGEST, Piece, Reading
from holdfast.text.opaque import LEAST, media_type

from .lossy import LossyKind, by_lines, sampled

_SAMPLE = 200_000  # characters from the beginning that identify the language
_LONG_LINE = 400  # characters
_SPACES = (
    # share of white space in a line: minified code has 3 to 6 %, English 17 %, ordinary code 20 %
    # and more
    0.09
)
_BLOCK = re.compile(r"[A-Za-z0-9+/=_-]{32,}")  # one line of wrapped base64 or hexadecimal
# of xxd, hexdump, od -x
_DUMPED = re.compile(r"[0-9a-fA-F]{6,16}[:*]?\s{1,4}((?:[0-9a-fA-F]{2,8}\s{1,3}){4,16})")
_DUMP_ROWS = 20  # rows that are examined; all but two must match
_SCRIPT = re.compile(r"function\b|=>|\b(?:var|let|const|return)\b")
_STYLE = re.compile(r"[.#\w\]-]\{[a-z-]{2,30}:[^{}]{1,200}\}")
_ENDS = 40  # characters of the beginning and the end
_CELL = re.compile(rf"(?s:.{{1,{LONGEST}}}[;}}]|.{{1,{LONGEST}}})")  # up to a statement's end
_FEW = 3  # keywords of a language


class Dense(LossyKind):
    """Text that is not made for reading; its ends and what the question names identify it."""

    name = "dense"

    def fit(self, text: str) -> float:
        """The share in long lines with hardly any white space, or in a hex dump."""
        if not text or _is_dump(text):
            return float(bool(text))
        sample = sampled(text)
        lines = sample.splitlines()
        dense = sum(
            len(line)
            for line in lines
            if len(line) >= _LONG_LINE and _spaces(line) <= _SPACES * len(line)
        )
        blocks = (
            sum(len(line) + 1 for line in lines if _BLOCK.fullmatch(line))
            if len(sample) >= LEAST
            else 0
        )
        return min(1.0, max(dense, blocks) / len(sample))

    def read(self, text: str) -> Reading:
        """A piece with the type and size, then the rows, or pieces of one length.

        The first and last piece have things of their own, so that both are kept.
        """
        if _is_dump(text):
            found = _DUMPED.match(text)
            first = bytes.fromhex("".join(found[1].split())) if found else b""
            rows = by_lines(text)
            what, told, unit = (
                f"hex dump of {media_type(first) or 'data'}, {rows.total:,} rows",
                rows.pieces,
                "line",
            )
        elif len(text) <= LEAST:
            return by_lines(text)
        else:
            ends = [cell.end() for cell in _CELL.finditer(text, _ENDS, len(text) - _ENDS)]
            cuts = [0, _ENDS, *ends, len(text)]
            told = [Piece(text[at:end], at, end - at) for at, end in pairwise(cuts)]
            what, unit = f"{_language(text)}, {len(text):,} characters", "character"
        pieces = [Piece(f"[{what}]", 0, 0), *(piece._replace(under=0) for piece in told)]
        pieces[1] = pieces[1]._replace(things=("the beginning",))
        pieces[-1] = pieces[-1]._replace(things=("the end",))
        return Reading(pieces, told[-1].at + told[-1].units, unit)


def _spaces(line: str) -> int:
    return sum(map(line.count, " \t"))


def _is_dump(text: str) -> bool:
    rows = text[:_SAMPLE].split("\n", _DUMP_ROWS)[:_DUMP_ROWS]
    dumped = sum(_DUMPED.match(row) is not None for row in rows)
    return len(rows) > 2 and dumped >= len(rows) - 2


def _language(text: str) -> str:
    sample = text[:_SAMPLE]
    script, style = len(_SCRIPT.findall(sample)), len(_STYLE.findall(sample))
    if max(script, style) < _FEW:
        return "dense text"
    return "minified JavaScript" if script > style else "minified CSS"
