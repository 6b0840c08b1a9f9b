"""The shape of records: the keys that most of them share, with what these hold."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from holdfast.text.json_values import DEEPEST, MISSING, Value

from .lossy import FEWEST

Record: TypeAlias = dict[str, Value]
Column: TypeAlias = "Shape | Many | Same | None"
"""The content of a key: a record, a list of records, a constant (which is left out of rows), or
anything else.
"""
Shape: TypeAlias = dict[str, Column]
"""The keys of a record in order, with their contents."""

# characters, one or two words, of a constant value that may stay in every row; half and double kept
# as much of real texts
_SHORT_STAYS = 15
# sets of keys that are compared, each with the others; further ones stay whole. Half and double
# read real texts alike
_MOST_SHAPES = 60
_SHARED = 0.5  # least share of a record's keys among the usual ones; .25 kept less of recorded runs


class Many(NamedTuple):
    """A list of records of one shape."""

    shape: Shape


class Same(NamedTuple):
    """The same value in every record."""

    value: Value


def shape_of(values: Sequence[Value], depth: int = 0) -> Shape:
    """The keys that most records among the values share; none if they share too few."""
    records = [value for value in values if type(value) is dict]
    # the commonest keys, and the other keys of records that share most of those
    usual = Counter(map(tuple, records)).most_common(_MOST_SHAPES)
    order = list(usual[0][0]) if usual else []
    for keys, _ in usual[1:]:
        shared = len(set(order).intersection(keys))
        if shared >= _SHARED * max(len(keys), len(order)):
            order = _merged(order, keys) or order
    if not order or depth > DEEPEST:
        return {}
    fitting = [record for record in records if is_of(record, order)]
    return {
        key: _column([record.get(key, MISSING) for record in fitting], depth + 1) for key in order
    }


def all_records(values: Collection[Value]) -> list[Record]:
    """The values, if all of them are records; else none."""
    records = [value for value in values if type(value) is dict]
    return records if len(records) == len(values) else []


def is_of(record: Record, keys: Iterable[str]) -> bool:
    """Whether the record has no other keys, and its keys in this order."""
    if list(record) == list(keys):
        return True
    order = iter(keys)
    return all(key in order for key in record)


def _column(values: Sequence[Value], depth: int) -> Column:
    kinds = set(map(type, values))
    if list not in kinds and dict in kinds:
        return shape_of(values, depth) or None
    if list in kinds and dict not in kinds:
        items = list(chain.from_iterable(value for value in values if type(value) is list))
        if records := all_records(items):
            shape = shape_of(records, depth)
            return Many(shape) if shape else None
    first = values[0]
    if len(values) < FEWEST or len(kinds) > 1 or kinds & {dict, list} or first is MISSING:
        return None
    stays = isinstance(first, str) and 0 < len(first) <= _SHORT_STAYS
    return None if stays or values.count(first) < len(values) else Same(first)


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
