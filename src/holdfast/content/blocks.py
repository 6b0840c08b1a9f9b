"""The content kind ``blocks``: what devices and tools report, in indented blocks, fields and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.selection.pieces import Piece, Reading, clauses, in_lines
from holdfast.text.sentences import reads_as_words

from .lossy import MOST, Lossy, Read

_SAMPLE = 64_000  # characters by which a text is recognised
_FEWEST = 8  # lines
_MOST = 0.6  # of the lines are of blocks, or it is something else
_SHORT, _LONG = 120, 160  # characters of a piece, and of a line from which it is cut
_SAID = 6  # words from which on a line may be what somebody says
_FIELD = re.compile(r"\s*\S[^:=\n]{0,40}\s?[:=]\s*\S|.*\S {2,}\S")  # a name and its value, or columns


class Blocks(Lossy, Read):
    """Blocks of fields and rows; a line is told with the heading of its block or the names of its columns."""

    name = "blocks"

    def fit(self, text: str) -> float:
        """Half, where most lines are indented, fields, or rows: any kind that knows more fits better."""
        lines = [line for line in text[:_SAMPLE].split("\n") if line.strip()]
        if len(lines) < _FEWEST:
            return 0.0
        return MOST if sum(map(_is_of_a_block, lines)) >= _MOST * len(lines) else 0.0

    def read(self, text: str) -> Reading:
        """Short neighbouring lines of one indentation together."""
        lines = text.replace("\r\n", "\n").split("\n")
        return in_lines(_pieces(lines), lines)


def _is_of_a_block(line: str) -> bool:
    """Whether a line is indented, a field or a row; what somebody says behind a name is none."""
    if line[0] == " ":
        return True
    words = len(line.split())
    return _FIELD.match(line) is not None and (words < _SAID or not reads_as_words(line))


def _pieces(lines: Sequence[str]) -> Iterator[Piece]:
    """The first line of a block is told with each other piece of it, and so is what a line is indented under."""
    above: list[tuple[int, int]] = []  # the indentations of what the next lines may belong to, and its pieces
    made, last, starts = 0, 0, True
    for row, part in _parts(lines):
        if not part:
            starts = True
            continue
        depth = len(part) - len(part.lstrip())
        root = above[0][0] if above else depth
        if not above or (depth <= root and (starts or last > root)):
            above = []
        while len(above) > 1 and above[-1][0] >= depth:
            above.pop()
        under = above[-1][1] if above else -1
        for clause in clauses(part, _LONG) if "\n" not in part else [part]:
            yield Piece(clause if clause != part.strip() else part, row, part.count("\n") + 1, under=under)
            made += 1
        above.append((depth, made - 1))
        last, starts = depth, False


def _parts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Neighbouring lines of one indentation; the first line of a block alone; nothing for an empty line."""
    held, start, indent, first = list[str](), 0, 0, True
    for row, line in enumerate([*lines, ""]):
        bare = line.rstrip()
        depth = len(bare) - len(bare.lstrip())
        if held and (not bare or first or depth != indent or sum(map(len, held)) + len(bare) > _SHORT):
            yield start, "\n".join(held)
            held, first = [], first and not bare
            first = depth < indent
        if not bare:
            yield row, ""
            first = True
            continue
        if not held:
            start, indent = row, depth
        held.append(bare)
