"""What each column of a table costs in tokens, and how much would be lost without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TypeAlias

from .cells import cell
from .columns import Leaf, Many, Node, Records
from .values import MISSING, Cell, Literal
from .write import ROW_END, render

ColumnPath: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a column; a number is the place of a shape among those of its records."""
Fact: TypeAlias = tuple[int, str]
"""A value of a record: the record's number, and the value as text."""

_SAMPLE = 1_500  # characters of a column that are counted; the rest is taken to be alike
_SEPARATOR, _ABSENT = 0.5, 1.5  # tokens, about: between two cells; a mark with what sets it apart
_REPEATED = 0.1  # of a value: what it says once more
_EXACT = 6  # characters: a shorter value says nothing without its key, so it is never found elsewhere


@dataclass(slots=True)
class Column:
    """One column of the table, an inner one too: what it holds, at what cost."""

    path: ColumnPath
    node: Leaf | Records
    fixable: bool
    """Whether a value that is always the same can be written once: not the entries of a list."""
    tokens: float
    keys: float
    """The part of ``tokens`` that the header needs for records whose keys differ."""
    values: float
    """Cells that say something; what another column of the same record says already counts little."""


@dataclass(frozen=True, slots=True)
class _Found:
    path: ColumnPath
    node: Leaf | Records
    owners: Sequence[int]
    fixable: bool
    absent: float
    """Rows in which a mark stands for the list or the record that the column is a part of."""


def survey(root: Records, count: Callable[[str], int]) -> list[Column]:
    """Every column in the order of the header; records of many small shapes are one column."""
    known: set[Fact] = set()
    return [_column(found, known, count) for found in _walk(root, range(len(root.which)), (), 0.0)]


def _walk(node: Node, owners: Sequence[int], path: ColumnPath, absent: float) -> Iterator[_Found]:
    if isinstance(node, Leaf):
        yield _Found(path, node, owners, fixable=True, absent=absent)
    elif isinstance(node, Many):
        inner, absent = _spread(node, owners), absent + len(node.others)
        if isinstance(node.item, Leaf):
            yield _Found(path, node.item, inner, fixable=False, absent=absent)
        else:
            yield from _walk(node.item, inner, path, absent)
    elif isinstance(node, Records) and path and node.without_keys() is not None:
        yield _Found(path, node, owners, fixable=False, absent=absent)
    elif isinstance(node, Records):
        yield from _walk_groups(node, owners, path, absent + len(node.others) if path else 0.0)


def _walk_groups(node: Records, owners: Sequence[int], path: ColumnPath, absent: float) -> Iterator[_Found]:
    each = absent / max(sum(len(group.columns) for group in node.groups), 1)
    for place, group in enumerate(node.groups):
        members = [owner for owner, which in zip(owners, node.which, strict=True) if which == place]
        inner_path = path if node.is_plain() else (*path, place)
        for name, child in group.columns.items():
            yield from _walk(child, members, (*inner_path, name), each)


def _spread(node: Many, owners: Sequence[int]) -> list[int]:
    """The record to which each entry of the lists belongs."""
    filled = ((owner, count) for owner, count in zip(owners, node.counts, strict=True) if count > 0)
    return list(chain.from_iterable(repeat(owner, count) for owner, count in filled))


def _column(found: _Found, known: set[Fact], count: Callable[[str], int]) -> Column:
    facts = _facts(found.node, found.owners)
    exact = {fact for fact in facts if len(fact[1]) >= _EXACT and not fact[1].isalpha()}
    repeated = sum(fact in known for fact in facts)
    known |= exact
    cells, keys = _tokens(found.node, count)
    values = len(facts) - repeated * (1 - _REPEATED)
    tokens = cells + keys + found.absent * _ABSENT
    return Column(found.path, found.node, found.fixable, tokens, keys, values)


def _facts(node: Node, owners: Sequence[int]) -> list[Fact]:
    """What the cells say, and of which record."""
    if isinstance(node, Leaf):
        texts = (value if isinstance(value, str) else _text(value) for value in node.values)
        return [fact for fact in zip(owners, texts, strict=True) if fact[1]]
    if isinstance(node, Many):
        return _facts(node.item, _spread(node, owners))
    found: list[Fact] = []
    if isinstance(node, Records):
        for place, group in enumerate(node.groups):
            members = [owner for owner, which in zip(owners, node.which, strict=True) if which == place]
            for child in group.columns.values():
                found += _facts(child, members)
    return found


def _text(value: Cell) -> str:
    return "" if value is None or value is MISSING or value in ([], {}) else cell(value, ())


def _tokens(node: Leaf | Records, count: Callable[[str], int]) -> tuple[float, float]:
    """What the cells cost, and what the keys of records that differ cost: in the header, and a tag in each row."""
    if isinstance(node, Leaf):
        return _cost([value if isinstance(value, str) else cell(value, ()) for value in node.values], count), 0.0
    values = node.without_keys()
    if values is None:
        return _cost(render(node, (ROW_END,))[1], count), 0.0
    keys = sum(count(" ".join(group.columns)) + _SEPARATOR * len(group.columns) for group in node.groups)
    return _tokens(values, count)[0], keys + len(node.which)


def _cost(cells: Sequence[str], count: Callable[[str], int]) -> float:
    size = taken = 0
    while taken < len(cells) and size < _SAMPLE:
        size += len(cells[taken])
        taken += 1
    return (count(" ".join(cells[:taken])) / max(taken, 1) + _SEPARATOR) * len(cells)


def length(values: Sequence[Cell]) -> float:
    """Characters of a text, on average over the texts; numbers are none."""
    texts = [len(value) for value in values if isinstance(value, str) and not isinstance(value, Literal)]
    return sum(texts) / len(texts) if texts else 0.0
