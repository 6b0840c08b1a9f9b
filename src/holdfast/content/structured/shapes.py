"""The keys that the records of a list share, so that they are written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from .values import MISSING, Cell, Value

Record: TypeAlias = dict[str, Value]
Shape: TypeAlias = "dict[str, Shape | Many | Same | None]"
"""The keys of a record in order, with their contents: a record, a list of records, a constant
(which is left out of rows), or anything else.
"""

_DEEPEST = 12  # levels of nesting with columns
_SHORT_STAYS = 15  # characters of a constant value that still appears in every row
_FEWEST = 5  # records that prove a value to be constant
_MOST_SHAPES = 60  # sets of keys that are compared; a record with other keys stays whole
_SHARED = 0.5  # least share of its keys that a record has in common with the usual ones


class Many:
    """A list of records of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


class Same:
    """The same value in every record."""

    def __init__(self, value: Value) -> None:
        self.value = value


def shape_of(values: Sequence[Cell], depth: int = 0) -> Shape:
    """The keys that most records among the values share; none if they share too few."""
    records = [value for value in values if type(value) is dict]
    keys = _keys(records)
    if not keys or depth > _DEEPEST:
        return {}
    fitting = [record for record in records if is_of(record, keys)]
    return {
        key: _column([record.get(key, MISSING) for record in fitting], depth + 1) for key in keys
    }


def is_of(record: Record, keys: Iterable[str]) -> bool:
    """Whether the record has no other keys, and its keys in this order."""
    if list(record) == list(keys):
        return True
    order = iter(keys)
    return all(key in order for key in record)


def _column(values: Sequence[Cell], depth: int) -> Shape | Many | Same | None:
    kinds = set(map(type, values))
    if list not in kinds and dict in kinds:
        return shape_of(values, depth) or None
    if list in kinds and dict not in kinds:
        items = list(chain.from_iterable(value for value in values if type(value) is list))
        if items and set(map(type, items)) == {dict}:
            shape = shape_of(items, depth)
            return Many(shape) if shape else None
    first = values[0]
    if len(values) < _FEWEST or len(kinds) > 1 or kinds & {dict, list} or first is MISSING:
        return None
    stays = isinstance(first, str) and 0 < len(first) <= _SHORT_STAYS
    return None if stays or values.count(first) < len(values) else Same(first)


def _keys(records: Sequence[Record]) -> list[str]:
    """The commonest keys, and the other keys of records that share most of those."""
    usual = Counter(map(tuple, records)).most_common(_MOST_SHAPES)
    order = list(usual[0][0]) if usual else []
    for keys, _ in usual[1:]:
        shared = len(set(order).intersection(keys))
        if shared >= _SHARED * max(len(keys), len(order)):
            order = _merged(order, keys) or order
    return order


def _merged(order: list[str], keys: Sequence[str]) -> list[str] | None:
    """The keys of both in one order that preserves each; None if there is no such order."""
    places = {key: place for place, key in enumerate(order)}
    merged: list[str] = []
    at = 0
    for key in keys:
        place = places.get(key)
        if place is None:
            merged.append(key)
        elif place < at:
            return None
        else:
            merged += order[at : place + 1]
            at = place + 1
    return merged + order[at:]
