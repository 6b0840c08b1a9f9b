"""Columns as text: one record a row, its cells set apart by what none of them holds.

The header lists the columns with the very separators of the rows, so that it can be laid over any of them::

    2 records, one a line: id user{name, city} items[name,price; ] | (currency="EUR") status
    17 Ada Lovelace, London Desk,120.50; Lamp,9.99 | paid
    18 Grace Hopper, New York Lamp,9.99 | open

``user{...}`` is an object, ``items[...; ]`` a list with what stands between its entries, ``(currency="EUR")`` is
the same in every record and stands in no row. ``-`` is a key that the record does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf
from string import ascii_lowercase

from .cells import cell, cells, is_text
from .columns import Fixed, Group, Leaf, Many, Node, Records
from .values import dump, quote

NAME = re.compile(r"[@$]?[^\W\d][\w./@$-]*")
"""A column name that stands without quotes."""

ROW_END = "\n"

_NOTHING = frozenset({"null", "-", "[]", "{}"})
"""What stands where a list or a record is missing or empty: a list of one record must not look like it."""

_FIELD, _ITEM, _CLOSING = " ,;|~", ";|,~", "|;,~"
_LOOSE = {" ": " ", ",": ", ", ";": "; ", "|": " | ", "~": " ~ "}
_SAMPLE = 120  # values of a column that decide on its separator
_SPACE_COST, _COST, _QUOTES = 0.4, 1.0, 2.0  # tokens, about: a separator, and the quotes of a cell that holds it


def render(node: Node, follow: tuple[str, ...], taken: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The node's part of the header, and its cells: each can be read up to the first of ``follow`` behind it.

    No separator in the cells begins with one of ``taken``.
    """
    if isinstance(node, Records):
        return _records(node, follow, taken)
    if isinstance(node, Many):
        return _many(node, follow, taken)
    if isinstance(node, Leaf):
        text = is_text(node.values)
        return (":text" if text else ""), cells(node.values, follow, text=text)
    raise TypeError(f"{type(node).__name__} has no cells")


def _records(node: Records, follow: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, list[str]]:
    if len(node.groups) != 1 or (node.others and len(node.groups[0].open_columns()) == 1):
        return _tagged(node, follow, taken)
    spec, rows = _group(node.groups[0], follow, (*taken, *follow))
    if not node.others:
        return spec, rows
    return f"?{spec}", _merged(node.which, [rows], [cell(other, follow) for other in node.others])


def _tagged(node: Records, follow: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, list[str]]:
    """Each record behind the tag of its shape, so that nothing else can be taken for one."""
    specs: list[str] = []
    tagged: list[list[str]] = []
    for tag, group in zip(_tags(), node.groups, strict=False):
        spec, rows = _group(group, follow, (*taken, *follow))
        specs.append(tag + spec)
        tagged.append([f"{tag} {row}" for row in rows])
    return f"<{' '.join(specs)}>", _merged(node.which, tagged, [cell(other, follow) for other in node.others])


def _tags() -> Iterator[str]:
    """The short names of the shapes that the records of one column have: a, b, ... z, aa, ab, ..."""
    yield from ascii_lowercase
    for first in ascii_lowercase:
        for second in ascii_lowercase:
            yield first + second


def _merged(which: Sequence[int], groups: Sequence[list[str]], others: list[str]) -> list[str]:
    """The rows of all groups in the order of the records; -1 takes the next of the others."""
    streams = [iter(rows) for rows in (*groups, others)]
    return [next(streams[place]) for place in which]


def _group(group: Group, follow: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, list[str]]:
    open_columns = group.open_columns()
    ends: dict[str, str] = {}
    columns: list[list[str]] = []
    specs: dict[str, str] = {}
    for place, (name, node) in enumerate(open_columns):
        if place + 1 == len(open_columns):
            specs[name], rendered = render(node, follow, taken)
        else:
            closing = isinstance(node, Many) and isinstance(node.item, Records)
            end = _separator(node, open_columns[place + 1][1], _CLOSING if closing else _FIELD, taken)
            ends[name] = end
            specs[name], rendered = render(node, (end,), taken)
        columns.append(rendered)
    template = "%s".join(("", *(ends.get(name, "") for name, _ in open_columns)))
    header = "".join(_column(name, node, specs, ends) for name, node in group.columns.items())
    return f"{{{header.strip()}}}", [template % row for row in zip(*columns, strict=True)]


def _column(name: str, node: Node, specs: dict[str, str], ends: dict[str, str]) -> str:
    shown = name if NAME.fullmatch(name) else quote(name)
    if isinstance(node, Fixed):
        return f"({shown}={dump(node.value)}) "
    return shown + specs[name] + ends.get(name, " ")


def _many(node: Many, follow: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, list[str]]:
    taken = (*taken, *follow)
    order = _ITEM if isinstance(node.item, Records) else _FIELD
    between = _separator(node.item, node.item, order, taken)
    spec, items = render(node.item, (between, *follow), taken)
    if isinstance(node.item, Records) and not _NOTHING.isdisjoint(items):
        spec, items = _tagged(node.item, (between, *follow), taken)
    if spec.startswith("{"):
        spec = spec[1:-1]
    rows: list[str] = []
    others, at = iter(node.others), 0
    for count in node.counts:
        if count < 0:
            rows.append(cell(next(others), follow))
        else:
            rows.append(between.join(items[at : at + count]))
            at += count
    return f"[{spec}{between}]", rows


def _separator(node: Node, following: Node, order: str, taken: tuple[str, ...]) -> str:
    """The cheapest separator between the cells of two columns: the one that fewest cells hold."""
    tight = _starts_with_digit(following)
    texts = list(_tail(node))
    whole = ROW_END.join(texts)
    best, least = "", inf
    for family in order:
        candidate = family if tight else _LOOSE[family]
        if candidate.startswith(taken):
            continue
        cost = (_SPACE_COST if family == " " else _COST) * max(len(texts), 1) + _QUOTES * whole.count(candidate)
        if cost < least:
            best, least = candidate, cost
    return best or next(name for number in range(1, 99) if (name := f"~{number}~") not in taken)


def _tail(node: Node) -> Iterator[str]:
    """Some of the bare texts with which cells of the node end."""
    if isinstance(node, Leaf):
        yield from (value for value in node.values[:_SAMPLE] if type(value) is str)
    elif isinstance(node, Many):
        yield from _tail(node.item)
    elif isinstance(node, Records):
        for group in node.groups:
            yield from _tail(group.open_columns()[-1][1])


def _starts_with_digit(node: Node) -> bool:
    """Whether most cells of the node start with a digit: there a space in front costs a token of its own."""
    if isinstance(node, Records):
        return _starts_with_digit(node.groups[0].open_columns()[0][1])
    if isinstance(node, Many):
        return _starts_with_digit(node.item)
    if isinstance(node, Leaf):
        texts = [value for value in node.values[:9] if isinstance(value, str) and value]
        return sum(text[0].isdigit() for text in texts) * 2 > len(texts)
    return False
