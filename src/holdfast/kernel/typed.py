"""Values of JSON as the types that annotations name.

Without another package, so that results and stored values are read wherever they are written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_hints = cache(get_type_hints)


def typed(value: object, hint: Any) -> Any:
    """The value as this type: lists as tuples, objects as dataclasses. Raises ValueError."""
    kind, inner = cast("type", get_origin(hint) or hint), get_args(hint)
    if kind in (Union, UnionType):
        return _first(value, inner)
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _object(cast("Mapping[str, object]", value), kind)
    if kind in (tuple, list) and isinstance(value, list):
        some = [typed(each, inner[0]) for each in cast("list[object]", value)]
        return tuple(some) if kind is tuple else some
    if kind in (dict, Mapping) and isinstance(value, dict):
        given = cast("dict[str, object]", value)
        return {key: typed(each, inner[1]) for key, each in given.items()}
    if not _is(value, kind, inner):
        raise ValueError(f"{value!r} is no {getattr(hint, '__name__', hint)}")
    return value


def _object(given: Mapping[str, object], kind: Any) -> Any:
    hints = _hints(kind)
    needed = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
    missing = [name for name in needed if name not in given]
    if missing:
        raise ValueError(f"it has no {missing[0]!r}")
    names = [f.name for f in fields(kind) if f.name in given]
    return kind(**{name: typed(given[name], hints[name]) for name in names})


def _is(value: object, kind: Any, inner: Sequence[object]) -> bool:
    if kind is Literal:
        return value in inner
    if kind in (int, float):  # True is an int
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return kind is Any or isinstance(value, kind)


def _first(value: object, kinds: Sequence[Any]) -> Any:
    """The value as the first of the types that it has."""
    problem = ValueError()
    for kind in kinds:
        try:
            return typed(value, kind)
        except ValueError as fault:
            problem = fault
    raise problem


def object_of(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object in the text; None if it holds something else."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def kept_as(text: str | None, kind: type[T]) -> T | None:
    """What a stored text of JSON holds, if it has this type; else None."""
    try:
        return typed(json.loads(text), kind) if text else None
    except (ValueError, RecursionError):
        return None
