"""Whether a text is made of lines, as what a program prints, or of sentences that lines only wrap."""

from __future__ import annotations

import re
from itertools import pairwise

_SAMPLE = 300  # lines that decide
_FEWEST = 4
_ENDS = tuple(".!?…。！？;,\"'”’»")  # how lines of prose end, where they end with their sentence
_CLOSED = 0.35  # of the lines of prose do, at least, unless they are wrapped
_WRAPPED = 0.65  # of the lines of wrapped prose could not have taken the next word, at least
_WIDEST = 120  # characters to which prose is wrapped
_FEWEST_WORDS = 4  # of a line of prose, on average
_WORD = 12  # characters that a next word has at most
_GUTTER = re.compile(r"\S(?: {2,}|\t)\S")  # what sets columns apart
_COLUMNS = 0.5  # of the lines have one where they are columns
_PADDING = re.compile(r"(?<=\S) {3,}(?=\S)")
_LINE = re.compile(r"[^\n]*\n(?:[ \t\r]*\n)*|[^\n]+\Z")


def is_of_lines(text: str) -> bool:
    """Whether each line says something of its own."""
    lines = [line.rstrip() for line in text.split("\n", _SAMPLE)[:_SAMPLE]]
    said = [line for line in lines if line]
    if len(said) < _FEWEST:
        return False
    if sum(_GUTTER.search(line.lstrip()) is not None for line in said) >= _COLUMNS * len(said):
        return True
    closed = sum(line.endswith(_ENDS) for line in said)
    return closed < _CLOSED * len(said) and not _is_wrapped(lines)


def _is_wrapped(lines: list[str]) -> bool:
    """Whether most lines end where the next word would have been too long for them."""
    lengths = sorted(len(line) for line in lines if line)
    width = lengths[len(lengths) * 9 // 10]
    if width > _WIDEST or sum(len(line.split()) for line in lines) < _FEWEST_WORDS * len(lengths):
        return False
    pairs = [(one, other) for one, other in pairwise(lines) if one and other]
    full = sum(len(one) + 1 + min(len(other.split(None, 1)[0]), _WORD) > width for one, other in pairs)
    return bool(pairs) and full >= _WRAPPED * len(pairs)


def lines(text: str) -> list[str]:
    """The lines, each with its end and the blank lines behind it; columns stand two blanks apart."""
    return _LINE.findall(_PADDING.sub("  ", text))
