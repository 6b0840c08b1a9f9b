"""Tables of text: the header stays, then the rows that the question names, that stand out, and an even sample."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import ClassVar

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit, rows
from holdfast.text.question import Question

from .grid import Grid, grid

_BAR = " | "
_HEADS = {" ": "a space between cells", _BAR: "a bar between cells"}
_COMPACT = re.compile(r"\[[\d,]+ rows, (a space|a bar) between cells\]\n")
_LONGEST_CELL = 60  # characters of a cell, where not all rows fit
_NAMES = 60  # characters of the header that are shown where no row fits


class Table:
    """A header and rows."""

    name: ClassVar[str] = "table"

    def recognises(self, text: str) -> bool:
        """Whether the text is one table: rows with as many cells as a header that can name columns."""
        return grid(text) is not None

    def compact(self, text: str) -> str | None:
        """The table without what only aligns its columns; None where that saves no tokens."""
        found = grid(text)
        between = _between(found) if found else ""
        if found is None or (
            between == _BAR and found.style == "aligned"
        ):  # a bar is a token, a run of blanks too
            return None
        compacted = f"[{len(found.rows):,} rows, {_HEADS[between]}]\n{_written(found, range(len(found.rows)))}"
        return compacted if found.style != "delimited" and len(compacted) < len(text) else None

    def expand(self, compacted: str) -> str:
        """The table as Markdown or as aligned columns: the same cells, but for the blanks around them."""
        head = _COMPACT.match(compacted)
        if head is None:
            return compacted
        lines = compacted[head.end() :].split("\n")
        if head.group(1) == "a bar":
            cells = [line.split(_BAR) for line in lines]
            cells.insert(1, ["---"] * len(cells[0]))
            return "\n".join(f"| {_BAR.join(row)} |" for row in cells)
        words = [line.split(" ", lines[0].count(" ")) for line in lines]
        widths = [max(map(len, column)) for column in zip(*words, strict=True)]
        padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in words)
        return "\n".join("   ".join(row).rstrip() for row in padded)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The table without its padding where that fits; else the header and the rows that say most."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        found = grid(text)
        if found is None:
            return Shrunk(fit.head_tail(text, room.tokens, room.count), self.name, omitted="the middle")
        whole = self.compact(text)
        if whole is not None and fit.fits(whole, room.tokens, room.count):
            return Shrunk(whole, self.name, lossless=True)
        return self._chosen(found, room)

    def _chosen(self, found: Grid, room: Room) -> Shrunk:
        total = len(found.rows)
        short = _shortened(found)
        lines = [" ".join(row) for row in short.rows]
        named = rows.named(found.raw, Question.of(room.question))
        columns = [
            [row[place] if place < len(row) else "" for row in short.rows] for place in range(len(found.header))
        ]
        order = rows.order(columns, lines, named)
        choice = fit.choose(
            order,
            [len(line) + 2 for line in short.raw],
            lambda chosen: f"[{len(chosen):,} of {total:,} rows]\n{_written(short, sorted(chosen))}",
            room.tokens,
            room.count,
        )
        if choice is None:
            names = ", ".join(found.header)
            cut = fit.clip(f"[{total:,} rows left out: {names}]", room.tokens, room.count, mark="…")
            return Shrunk(cut, self.name, omitted=f"all {total:,} rows")
        return Shrunk(choice.text, self.name, omitted=f"{total - len(choice.pieces):,} of {total:,} rows")


def _written(found: Grid, chosen: Sequence[int]) -> str:
    """Header and rows, CSV as it stood, other tables with their cells as near to each other as can be read."""
    if found.style == "delimited":
        return "\n".join([found.head, *(found.raw[row] for row in chosen)])
    cells = [found.header, *(found.rows[row] for row in chosen)]
    return "\n".join(map(_between(found).join, cells))


def _between(found: Grid) -> str:
    """What sets the cells apart that no cell holds: a space where that will do."""
    if found.style == "ruled":
        return _BAR
    cells = [found.header, *found.rows]
    spaced = any(not row[-1] or not cell or " " in cell for row in cells for cell in row[:-1])
    return _BAR if spaced or " " in found.header[-1] else " "


def _shortened(found: Grid) -> Grid:
    """The table with its longest cells cut."""
    if not any(len(cell) > _LONGEST_CELL for row in found.rows for cell in row):
        return found
    cut = [[_cut(cell) for cell in row] for row in found.rows]
    raw = [
        found.raw[place] if row == found.rows[place] else _delimited(row, found) for place, row in enumerate(cut)
    ]
    return Grid(found.style, found.header, cut, raw, found.head)


def _cut(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else cell[:_LONGEST_CELL].rstrip() + "…"


def _delimited(row: Sequence[str], found: Grid) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=found.delimiter, lineterminator="").writerow(row)
    return line.getvalue()
