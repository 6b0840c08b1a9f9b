"""Records turned into columns: what keys they share, what stands under each, and what does not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import TypeAlias, cast

from .values import KEY, MISSING, VALUE, Cell, Literal, Missing, Value, dump

_DEEPEST = 12  # levels of nesting that become columns; what lies deeper stands as JSON in its cell
WHOLE_ROWS, SHORT_STAYS, NOTHING_STAYS = inf, 15.0, 0.0
"""How long a text or a number is that stays in every row although it is the same in all: a short one costs little
there, and a row with it can be read without the header."""

_ENDLESS = 1e9
_FEWEST = 5  # rows that show that a column is the same in all
_MOST_SHAPES = 200  # different sets of keys that are looked at; the rest stand as JSON
_MOST_GROUPS = 40
_KEY, _TAG, _MARK = 2.5, 1.2, 1.3  # tokens, about: a key in the header, a tag in a row, a "-" in a row

Record: TypeAlias = dict[str, Value]
Shape: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class Leaf:
    """Cells without inner columns: scalars, or whatever stands there as JSON."""

    values: list[Cell]

    def is_scalar(self) -> bool:
        """Whether no cell holds an object or a list."""
        return not {dict, list}.intersection(map(type, self.values))


@dataclass(slots=True)
class Fixed:
    """A column that is the same in every row, and stands in none."""

    value: Value


@dataclass(slots=True)
class Group:
    """Records that share their keys, as columns in the order of the keys."""

    columns: dict[str, Node]

    def open_columns(self) -> list[tuple[str, Node]]:
        """The columns that stand in the rows, at least one."""
        return [(name, node) for name, node in self.columns.items() if not isinstance(node, Fixed)]


@dataclass(slots=True)
class Records:
    """One record a row: ``which`` names the group of each, -1 stands for the next one of ``others``."""

    groups: list[Group]
    which: list[int]
    others: list[Cell]

    def is_plain(self) -> bool:
        """Whether all are of one shape, and nothing stands in a record's place."""
        return len(self.groups) == 1 and not self.others

    def without_keys(self) -> Leaf | None:
        """The values of records whose keys differ, as texts; None where they share their keys, or hold more."""
        columns = [column for group in self.groups for column in group.columns.values()]
        if len(self.groups) < 2 or not all(isinstance(column, Leaf) and column.is_scalar() for column in columns):
            return None
        streams = [_texts(group) for group in self.groups]
        others = iter(self.others)
        return Leaf([next(streams[place]) if place >= 0 else next(others) for place in self.which])


def _texts(group: Group) -> Iterator[str]:
    """The values of each record, one behind the other."""
    columns = [cast("Leaf", column).values for column in group.columns.values()]
    for row in zip(*columns, strict=True):
        yield " ".join(value if isinstance(value, str) else dump(value) for value in row if value is not MISSING)


@dataclass(slots=True)
class Many:
    """A list a row: ``counts`` are the lengths, -1 stands for the next one of ``others``."""

    item: Node
    counts: list[int]
    others: list[Cell]


Node: TypeAlias = Leaf | Fixed | Records | Many


def infer(values: Sequence[Cell], *, keep: float, depth: int = 0) -> Node:
    """The columns that describe the values, one a row.

    What is the same in every row is fixed, but for texts and numbers of up to ``keep`` characters.
    """
    kinds = set(map(type, values))
    rest = kinds - {type(None), Missing}
    if depth < _DEEPEST:
        if rest == {dict}:
            return _records(values, keep, depth)
        if rest == {list}:
            return _many(values, keep, depth)
    return Leaf(list(values))


def infer_table(records: Sequence[Record], *, keep: float) -> Records:
    """The columns of a table; records of a shape that no others have stand in no group."""
    places, orders = _cluster(Counter(map(tuple, records)))
    return _grouped(records, places, orders, keep, 0)


def _many(values: Sequence[Cell], keep: float, depth: int) -> Node:
    lists = [value for value in values if value and isinstance(value, list)]
    items = list(chain.from_iterable(lists))
    kinds = set(map(type, items))
    if not items or not (kinds == {dict} or kinds <= {str, Literal, bool}):
        return Leaf(list(values))
    item = infer(items, keep=keep, depth=depth + 1)
    if kinds == {dict} and not isinstance(item, Records):
        return Leaf(list(values))
    counts = [len(value) if value and isinstance(value, list) else -1 for value in values]
    return Many(item, counts, [value for value in values if not (value and isinstance(value, list))])


def _records(values: Sequence[Cell], keep: float, depth: int) -> Node:
    records = cast("list[Record]", [value for value in values if value and isinstance(value, dict)])
    if len(records) < 2 or any(KEY in record for record in records):
        return Leaf(list(values))
    places, orders = _cluster(Counter(map(tuple, records)))
    if sum(tuple(record) in places for record in records) * 2 < len(records):
        return _entries(values, keep, depth) or Leaf(list(values))
    return _grouped(values, places, orders, keep, depth)


def _grouped(
    values: Sequence[Cell], places: dict[Shape, int], orders: list[list[str]], keep: float, depth: int
) -> Records:
    which = [places.get(tuple(value), -1) if isinstance(value, dict) else -1 for value in values]
    members: list[list[Record]] = [[] for _ in orders]
    for place, value in zip(which, values, strict=True):
        if place >= 0:
            members[place].append(cast("Record", value))
    groups = [_group(order, rows, keep, depth) for order, rows in zip(orders, members, strict=True)]
    others = [value for place, value in zip(which, values, strict=True) if place < 0]
    return Records(groups, which, others)


def _entries(values: Sequence[Cell], keep: float, depth: int) -> Many | None:
    """Objects whose keys are data rather than names, as lists of entries; None where these are not alike."""
    lists = [entries(value) if value and isinstance(value, dict) else [] for value in values]
    items = list(chain.from_iterable(one for one in lists if one is not None))
    if not items or None in lists:
        return None
    places, orders = _cluster(Counter(map(tuple, items)))
    if len(orders) != 1 or not all(tuple(item) in places for item in items):
        return None
    item = _grouped(items, places, orders, keep, depth + 1)
    rest = [value for value, one in zip(values, lists, strict=True) if not one]
    return Many(item, [len(one or ()) or -1 for one in lists], rest)


def entries(value: Record) -> list[Record] | None:
    """The object as a list of its entries, the key first; None where it holds neither records nor scalars only."""
    if all(isinstance(child, dict) and KEY not in child and VALUE not in child for child in value.values()):
        return [{KEY: key, **cast("Record", child)} for key, child in value.items()]
    if any(isinstance(child, dict | list) for child in value.values()):
        return None
    return [{KEY: key, VALUE: child} for key, child in value.items()]


def from_entries(found: Sequence[Record]) -> Record:
    """The object of which ``entries`` made the list."""
    made: Record = {}
    for entry in found:
        rest = {name: value for name, value in entry.items() if name != KEY}
        made[cast("str", entry[KEY])] = rest.get(VALUE, rest)
    return made


def _group(order: list[str], rows: list[Record], keep: float, depth: int) -> Group:
    columns: dict[str, Node] = {}
    for key in order:
        values = [row.get(key, MISSING) for row in rows]
        fixed = constant(values)
        out = fixed is not MISSING and _length(fixed) > keep
        columns[key] = Fixed(fixed) if out and fixed is not MISSING else infer(values, keep=keep, depth=depth + 1)
    if all(isinstance(column, Fixed) for column in columns.values()):
        columns[order[0]] = Leaf([row[order[0]] for row in rows])
    return Group(columns)


def _length(value: Cell) -> float:
    """The characters of a text or a number; what says nothing in a row, or too much, counts as endless."""
    return len(value) if isinstance(value, str) and value else _ENDLESS


def constant(values: Sequence[Cell]) -> Cell:
    """The one value that all of them are, or MISSING."""
    first = values[0]
    if len(values) < _FEWEST or len(set(map(type, values))) > 1:
        return MISSING
    if isinstance(first, dict | list):
        written = dump(first)  # for 1 is not "1", the order of keys counts, and no depth is too deep
        return first if all(dump(cast("Value", value)) == written for value in values) else MISSING
    return first if values.count(first) == len(values) else MISSING


@dataclass(slots=True)
class _Cluster:
    order: list[str]
    keys: set[str]
    count: int

    def cost_of(self, shape: Shape, count: int) -> float:
        """Tokens that it costs to put records of the shape here instead of under keys of their own."""
        shared = len(self.keys.intersection(shape))
        marks = (len(shape) - shared) * self.count + (len(self.keys) - shared) * count
        return _MARK * marks - _KEY * shared - _TAG * count

    def merged(self, shape: Shape) -> list[str] | None:
        """The keys of both in one order that keeps each one's own, or None."""
        places = {key: place for place, key in enumerate(self.order)}
        order: list[str] = []
        at = 0
        for key in shape:
            place = places.get(key)
            if place is None:
                order.append(key)
            elif place < at:
                return None
            else:
                order += self.order[at : place + 1]
                at = place + 1
        return order + self.order[at:]


def _cluster(shapes: Counter[Shape]) -> tuple[dict[Shape, int], list[list[str]]]:
    """Which group each shape belongs to, and the keys of each group; a shape without a group stands alone."""
    places: dict[Shape, int] = {}
    clusters: list[_Cluster] = []
    for shape, count in shapes.most_common(_MOST_SHAPES):
        if not shape:
            continue
        place = _join(clusters, shape, count)
        if place < 0 and len(clusters) < _MOST_GROUPS and (count > 1 or len(shapes) == 1):
            clusters.append(_Cluster(list(shape), set(shape), count))
            place = len(clusters) - 1
        if place >= 0:
            places[shape] = place
    return places, [cluster.order for cluster in clusters]


def _join(clusters: list[_Cluster], shape: Shape, count: int) -> int:
    """Puts the shape where it costs least, and says where; -1 when a group of its own is cheaper."""
    ranked = sorted((cluster.cost_of(shape, count), place) for place, cluster in enumerate(clusters))
    for cost, place in ranked:
        cluster = clusters[place]
        if cost >= (_TAG * cluster.count if len(clusters) == 1 else 0):
            return -1
        order = cluster.merged(shape)
        if order is not None:
            cluster.order, cluster.keys = order, set(order)
            cluster.count += count
            return place
    return -1
