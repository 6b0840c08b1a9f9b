"""Tables of text: the header stays, then the rows that the question names, that stand out, and an even sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import ClassVar

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit, rows
from holdfast.text.question import Question

from .grid import Grid, grid

_BAR = " | "
_RULE = "---|---"
_LONGEST_CELL = 60  # characters of a cell, where not all rows fit
_NAMES = 60  # characters of the header that are shown where no row fits


class Table:
    """A header and rows."""

    name: ClassVar[str] = "table"

    def recognises(self, text: str) -> bool:
        """Whether the text is one table: rows with as many cells as a header that can name columns."""
        return grid(text) is not None

    def compact(self, text: str) -> str | None:
        """The table without the blanks and bars that only align its columns; None for CSV, which has none."""
        found = grid(text)
        if found is None or found.style == "delimited":
            return None
        compacted = _written(found, range(len(found.rows)))
        gains = found.style == "ruled" or _BAR not in compacted  # a run of blanks is one token, and so is a bar
        return compacted if gains and len(compacted) < len(text) else None

    def expand(self, compacted: str) -> str:
        """The table with its columns aligned again: the same cells, but for the blanks around them."""
        lines = compacted.split("\n")
        if _BAR in lines[0]:
            cells = [line.split(_BAR) for line in lines if line != _RULE]
            between = _BAR
        else:
            columns = lines[0].count(" ")
            cells, between = [line.split(" ", columns) for line in lines], "   "
        if len({len(row) for row in cells}) > 1:
            return compacted
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        aligned = [
            between.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        if _RULE in lines:
            aligned.insert(1, "-|-".join("-" * width for width in widths))
        return "\n".join(aligned)

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
    if found.style == "ruled":
        return "\n".join([_BAR.join(cells[0]), _RULE, *map(_BAR.join, cells[1:])])
    spaced = any(not cell or " " in cell for row in cells for cell in row[:-1]) or " " in found.header[-1]
    between = _BAR if spaced or not all(row[-1] for row in cells) else " "
    return "\n".join(map(between.join, cells))


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
