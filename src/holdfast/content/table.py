"""Tables as text: delimited (CSV, TSV), ruled (Markdown, psql, mysql) or in aligned columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, zip_longest
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from holdfast.text.json_values import Value
from holdfast.text.memo import Memo
from holdfast.text.pieces import Piece, Reading, clauses, passages
from holdfast.text.sentences import GUTTER
from holdfast.text.words import unfenced

from .events import events_of
from .lossy import FEWEST, MOSTLY, SAMPLE, Lines, LossyKind, mostly, rows
from .structured import facts

Style: TypeAlias = Literal["delimited", "ruled", "aligned"]

_BAR = " | "
_HEADS = {" ": "a space between cells", _BAR: "a bar between cells"}
# share of the rows or lines that read as those of a table; half of it read all real outputs alike
_MOSTLY = 0.8
# share of the rows with as many cells as the header; half of it read all real outputs alike
_REGULAR = 0.95
# rows of which one may have other cells, a total or the end of a truncated text: of fewer, one is
# no exception; half and double read real tables alike
_FEWEST_FOR_ONE = 5
_MOST_CUT = 2  # lines at the end that a truncated quotation leaves; 1 and 4 read runs alike
# characters of the median cell at most: longer cells are prose with commas; half and double read
# recorded runs alike
_SHORT = 60
_DELIMITERS = "\t,;|"
_RULE = re.compile(r"[\s|+\-=:─━═│┃┼╋┬┴├┤┌┐└┘╭╮╰╯╞╡╪┏┓┗┛┠┨┡┩╇╈]+")
_STROKES = frozenset("-=─━═")
_BARS = re.compile(r"(?<!\\)[|│┃]")  # in Markdown one of a cell stands behind a backslash
_FOOT = re.compile(
    r"\(?\d{1,12} rows?(?: (?:in set|returned|affected|selected))?(?: \([\d.]{1,9} sec\))?[).]?"
)
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/ ]?[QqHh]?\d{1,2})?")
_is_number = re.compile(r"\s*[-+]?[$€£]?\d[\d.,]{0,20}%?\s*").fullmatch


class Table(LossyKind):
    """Rows, mostly under a header."""

    name = "table"
    takes_apart = True
    least = _MOSTLY

    def share(self, text: str) -> float:
        """The share of rows with as many cells as the header; 0 without rows.

        It is less without a header, so that another kind that fits as well comes first.
        """
        found = grid(text)
        if found is None:
            return 0.0
        width, rows = len(found.cells[0]), found.rows
        share = sum(len(row) == width for row in rows) / len(rows)
        return share if found.headed else MOSTLY * share

    def compact(self, text: str) -> str | None:
        """The table without padding; None for delimited cells, and if that saves nothing."""
        found = grid(text)
        if found is None or found.style == "delimited":
            return None
        between = _between(found)
        if between == _BAR and found.style == "aligned":
            return None  # a bar is one token, and so is a run of spaces
        lines = "\n".join(map(between.join, found.cells))
        compacted = f"[{len(found.rows):,} rows, {_HEADS[between]}]\n{lines}"
        return compacted if len(compacted) < len(text) else None

    def heading(self, text: str) -> str:
        """The header, without which a row further down cannot be read."""
        found = grid(text)
        return found.raw[0] if found and found.headed else ""

    def read(self, text: str) -> Reading:
        """The header, if any, and under it each row; parts of a long row are under its first.

        Rows of events under a header are told as a log.
        """
        found = grid(text)
        if found is None:
            return passages(text)
        return events_of(_records(found)) or Reading(list(_pieces(found)), len(found.rows), "row")


def _records(found: Grid) -> list[Value]:
    """The rows as records; none if not every cell has a name of its own."""
    names, rows = found.cells[0], found.rows
    is_announced = "\n" in found.raw[0]
    if not found.headed or is_announced or len({*names}) < len(names):
        return []
    if any(len(row) > len(names) for row in rows):
        return []
    return [dict(zip(names, row, strict=False)) for row in rows]


def _pieces(found: Grid) -> Iterator[Piece]:
    lines = found.raw
    if found.style != "delimited":
        lines = list(map(_between(found).join, found.cells))
    number, header = 0, -1
    if found.headed:
        yield Piece(lines[0], 0, 0)
        number, header = 1, 0
    for place, line in enumerate(lines[number:]):
        above = header
        for part in clauses(line):
            yield Piece(part, place, 1, facts(part, line), above)
            above = number if above == header else above
            number += 1


def _between(found: Grid) -> str:
    """The shortest separator that no cell contains."""
    if found.style == "ruled":
        return _BAR
    cells = found.cells
    spaced = any(not row[-1] or not cell or " " in cell for row in cells for cell in row[:-1])
    return _BAR if spaced or " " in cells[0][-1] else " "


class Grid(NamedTuple):
    """The cells of each row, of which the first may be a header, and its original line."""

    style: Style
    cells: list[list[str]]
    raw: list[str]
    headed: bool = True

    @property
    def rows(self) -> list[list[str]]:
        """The rows under the header."""
        return self.cells[1:] if self.headed else self.cells


@Memo  # since it is recognised before it is read
def grid(text: str) -> Grid | None:
    """The table in a text, or None."""
    lines = rows(unfenced(text).strip("\r\n"))
    if _FOOT.fullmatch(lines[-1]):
        lines.pop()
    sample = [line for line in lines[:SAMPLE] if line.strip()]
    if len(lines) < FEWEST or not sample:
        return None
    return (
        _ruled(lines, sample)
        or _delimited(lines, sample)
        or _announced(lines, sample)
        or _aligned(lines)
        or _delimited(lines, sample, headed=False)
    )


def _is_rule(line: str) -> bool:
    return not _STROKES.isdisjoint(line) and _RULE.fullmatch(line) is not None


def _ruled(lines: Lines, sample: Lines) -> Grid | None:
    """Cells between bars; rules are not rows, and the header is above the first inner rule."""
    if not any(map(_is_rule, sample[:4])):
        return None
    if not mostly(sample, lambda line: _BARS.search(line) or _is_rule(line), _REGULAR):
        return None
    kept = [line for line in lines if _BARS.search(line) and not _is_rule(line)]
    cells = list(map(_barred, kept))
    return Grid("ruled", cells, kept) if _regular(cells) else None


def _barred(line: str) -> list[str]:
    cells = [cell.strip() for cell in _BARS.split(line.strip())]
    framed = line.strip()[0] in "|│┃"
    return cells[1:-1] if framed and len(cells) > 2 and not cells[-1] else cells


def _delimited(lines: Lines, sample: Lines, *, headed: bool = True) -> Grid | None:
    """Cells between delimiters; without a header, a column must be of numbers."""
    for delimiter in _DELIMITERS:
        if sample[0].count(delimiter) and (likely := _plausible(sample, delimiter)) is not None:
            found = _read(lines, delimiter, headed=headed)
            columns = zip(*found.rows[:SAMPLE], strict=False) if found else ()
            sure = likely and headed
            if found and (sure or any(mostly(each, _is_number, _REGULAR) for each in columns)):
                return found
    return None


def _announced(lines: Lines, sample: Lines) -> Grid | None:
    """A table below a line that announces it; that line stays with the header."""
    if len(sample) < FEWEST or not sample[0].rstrip().endswith(":"):
        return None
    start = lines.index(sample[1], lines.index(sample[0]) + 1)
    found = _delimited(lines[start:], sample[1:])
    return found and found._replace(raw=["\n".join([*lines[:start], found.raw[0]]), *found.raw[1:]])


def _plausible(sample: Lines, delimiter: str) -> bool | None:
    """Whether the delimiter likely separates cells; None if it does not.

    A comma followed by a space is usually prose, unless a column is of numbers.
    """
    counts = Counter(line.count(delimiter) for line in sample if '"' not in line)
    usual, often = counts.most_common(1)[0] if counts else (sample[0].count(delimiter), len(sample))
    if usual == 0 or often < 0.8 * counts.total():
        return None
    spaced = sum(line.count(f"{delimiter} ") for line in sample)
    return delimiter == "\t" or usual > 2 or spaced * 2 < usual * len(sample)


def _read(lines: Lines, delimiter: str, *, headed: bool) -> Grid | None:
    cells: list[list[str]] = []
    raw: list[str] = []
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    start = 0
    try:
        for row in reader:
            if row:
                if headed and not cells and not _is_header(row):
                    return None
                cells.append(row)
                raw.append("\n".join(lines[start : reader.line_num]))
                if len(cells) == SAMPLE and not _are_rows(cells, headed=headed):
                    return None  # before all others are read
            start = reader.line_num
    except csv.Error:
        if not cells or len(lines) - start > _MOST_CUT:
            return None
        cells.append(lines[start].split(delimiter))  # the text was truncated within quotes
        raw.append("\n".join(lines[start:]))
    return Grid("delimited", cells, raw, headed) if _are_rows(cells, headed=headed) else None


def _are_rows(cells: Sequence[Sequence[str]], *, headed: bool) -> bool:
    """Whether the lines are rows; two cells without a header may be a line's number and text."""
    return _regular(cells) and (headed or len(cells[0]) > 2)


def _regular(cells: Sequence[Sequence[str]]) -> bool:
    if len(cells) < FEWEST:
        return False
    width = len(cells[0])
    sample = cells[:SAMPLE]
    same = sum(len(row) == width for row in sample)
    others = len(sample) - same
    regular = same >= _REGULAR * len(sample) or others <= (len(sample) >= _FEWEST_FOR_ONE)
    return width > 1 and regular and median(len(cell) for row in sample for cell in row) <= _SHORT


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the cells can name columns: no numbers, no repeats, few empty."""
    names = [cell.strip() for cell in cells if cell.strip()]
    if len(names) < len(cells) - 1 or len(set(names)) < len(names):
        return False
    named = [name for name in names if not _YEAR.fullmatch(name)]
    return bool(named) and not any(name[0].isdigit() or len(name) > _SHORT for name in named)


def _aligned(lines: Lines) -> Grid | None:
    """Columns separated only by spaces, as ``ps``, ``df`` and ``docker ps`` print them."""
    fewest = FEWEST - any(map(_is_rule, lines[1:2]))  # columns
    told = (line for line in lines if line.strip() and not _is_rule(line))
    first = list(islice(told, SAMPLE))
    if len(first) <= FEWEST or first[0].lstrip()[0].isdigit():  # not column names
        return None
    # a line without a gap above columns is a command
    if not GUTTER.search(first[0].strip()) or not mostly(
        first, lambda line: GUTTER.search(line.strip()), _MOSTLY
    ):
        return None
    lines = [line.expandtabs().rstrip() for line in (*first, *told)]
    # columns begin after the gaps that all lines have in common; the last one reaches to the end
    shown, last = lines[:SAMPLE], lines[0].rfind(" ") + 1
    columns = zip_longest(*[line[: last + 1] for line in shown], fillvalue=" ")
    taken = [not "".join(column).isspace() for column in columns]
    starts = [at for at, (before, now) in enumerate(pairwise([False, *taken])) if now > before]
    parts = zip(starts, [*starts[1:], None], strict=True)
    cuts = [at for at, end in parts if at == starts[0] or _begins_column(shown, at, end)]
    spans = list(pairwise([*cuts, None]))
    cells = [[line[start:end].strip() for start, end in spans] for line in lines]
    head, sample = cells[0], cells[:SAMPLE]
    if len(head) < fewest or not _is_header(head):
        return None
    if not mostly(sample, lambda row: sum(map(bool, row)) * 2 > len(row), _MOSTLY):
        return None
    # what should be a heading equals a value below it
    if any(each[1:].count(each[0]) * 2 > len(each) for each in zip(*sample, strict=True)):
        return None
    return Grid("aligned", cells, lines)


def _begins_column(sample: Lines, cut: int, end: int | None) -> bool:
    """Whether a new heading follows the gap, not just the next word of the same heading."""
    if not sample[0][cut:end].strip():
        return False
    apart = not sample[0][cut - 2 : cut].strip()
    return apart or sum(bool(line[cut:end].strip()) for line in sample[1:]) * 2 >= len(sample) - 1
