"""Kinds of line: lines with the same words, whatever their numbers, ids and names are.

Lines of one shape are put together first, then shapes that are the same with their values masked; ``merge`` does
the rest. Each line is touched once as a whole, each distinct shape once word by word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from holdfast.text.states import states

from .layout import Head, Layout
from .levels import bare
from .lines import shapes_of
from .merge import MASK, Kind, merge

MORE = "…"
"""Stands for what differs or is left out."""

_MOST_WORDS = 48  # of a message that tell its kind; what comes later is taken as values
_LONGEST = 1_500  # characters of a line that are read
_SHORT_ROW = 4  # values in a row that are still written out

# In a shape every digit is a 0 already. Hexadecimal runs, then rows of them (addresses, dates, ids, lists).
_HEX = re.compile(r"(?<=0x)[0a-fA-F]++|(?<![^\W_])[a-fA-F]*+0[0a-fA-F]*+(?![^\W_])")
_ROW = re.compile(r"[-+]?0(?:[,.:;/_+-]++0|-[a-f]{4}(?=-))*+")
_NAMES_OF_DAYS = "Jan Feb Apr Jun Jul Aug Sep Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun"  # Mar and May are words
_CALENDAR = frozenset(_NAMES_OF_DAYS.split())


class Miner:
    """The lines of one log, and what each of them says."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.layout = Layout.of(lines)
        self._shapes = shapes_of(lines)
        self._masks: dict[str, str] = {}
        self._heads: dict[int, Head] = {}

    def kinds(self) -> list[Kind]:
        """The kinds of line in the order in which they first appear; empty lines are none.

        Lines that differ in their level, or in how they say that things stand, are of different kinds.
        """
        return merge(self._by_shape())

    def head(self, row: int) -> Head:
        """What the line begins with; nothing where it continues another."""
        known = self._heads.get(row)
        if known is None:
            line = self.lines[row][:_LONGEST]
            known = self._heads[row] = self.layout.split(line) or Head(message=line)
        return known

    def words(self, row: int) -> list[str]:
        """The words of the line's message as they are written, one for each word of its kind.

        Values in a row count as one word: all of a short row are given, else the first.
        """
        rows: list[list[str]] = []
        masked = self._words_of_shape(self._shapes[row])[1]
        for word, mask in zip(self.head(row).message.split(), masked, strict=False):
            if mask or not rows:
                rows.append([word])
            else:
                rows[-1].append(word)
        return [" ".join(row) if len(row) <= _SHORT_ROW else f"{row[0]} {MORE}" for row in rows]

    def _by_shape(self) -> list[Kind]:
        rows_of: dict[str, list[int]] = {}
        for row, shape in enumerate(self._shapes):
            rows_of.setdefault(shape, []).append(row)
        kinds: dict[tuple[object, ...], Kind] = {}
        for shape, rows in rows_of.items():
            head, masked = self._words_of_shape(shape)
            words = tuple(filter(None, masked))
            if not words and (head is None or not shape.strip()):
                continue
            level, standing = (bare(head.level), states((head.tag,))) if head else ("", ())
            key = (words, level, standing)
            known = kinds.get(key)
            if known is None:
                known = kinds[key] = Kind(words, level=level, standing=standing, continues=head is None)
            known.rows.extend(rows)
            if head is not None and (head.level or head.tag):
                label = (head.level, head.tag)
                known.labels[label] = known.labels.get(label, 0) + len(rows)
        for kind in kinds.values():
            kind.rows.sort()
        return list(kinds.values())

    def _words_of_shape(self, shape: str) -> tuple[Head | None, list[str]]:
        """The head of a shape and the masked words of its message, nothing where a word repeats a value."""
        shape = shape[:_LONGEST]
        head = self.layout.split(shape)
        known = self._masks
        words = (shape if head is None else head.message).split()[:_MOST_WORDS]
        masked = [known.get(word) or self._mask(word) for word in words]
        if len(set(masked)) < len(masked):
            repeats = [at for at, (one, other) in enumerate(pairwise(masked), 1) if one == other and MASK in one]
            for at in repeats:
                masked[at] = ""
        return head, masked

    def _mask(self, word: str) -> str:
        """The word of a shape with ``0`` for each of its values."""
        masked = MASK if word.strip(",") in _CALENDAR else word
        if MASK in word:
            masked = _ROW.sub(MASK, _HEX.sub(MASK, word))
        self._masks[word] = masked
        return masked
