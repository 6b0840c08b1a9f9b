"""Values read from JSON as the types that annotations name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

_hints = cache(get_type_hints)


def fields_of(kind: type, data: object, names: Iterable[str]) -> dict[str, Any]:
    """The fields of these names, each as the type that the class gives it.

    Raises TypeError for a value of another type, and KeyError for a missing field.
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"{data!r} has no fields")
    given, hints = cast("Mapping[str, object]", data), _hints(kind)
    return {name: typed(given[name], hints[name]) for name in names}


def typed(value: object, hint: Any) -> Any:
    """The value as this type: lists as tuples, objects as dataclasses. Raises as ``fields_of``."""
    kind, inner = cast("type", get_origin(hint) or hint), get_args(hint)
    if kind in (Union, UnionType):
        return _first(value, inner)
    if is_dataclass(kind) and isinstance(value, Mapping):
        given = cast("Mapping[str, object]", value)
        names = [f.name for f in fields(kind) if f.name in given or _is_needed(f)]
        return cast("type", kind)(**fields_of(kind, given, names))
    if kind is tuple and isinstance(value, list):
        return tuple([typed(each, inner[0]) for each in cast("list[object]", value)])
    if not _is(value, kind, inner):
        raise TypeError(f"{value!r} is no {getattr(hint, '__name__', hint)}")
    return value


def _is(value: object, kind: Any, inner: Sequence[object]) -> bool:
    if kind is Literal:
        return value in inner
    if kind in (int, float):  # True is an int
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return kind is Any or isinstance(value, kind)


def _first(value: object, kinds: Iterable[Any]) -> Any:
    """The value as the first of the types that it has."""
    problem: Exception = TypeError()
    for kind in kinds:
        try:
            return typed(value, kind)
        except (TypeError, LookupError) as fault:
            problem = fault
    raise problem


def _is_needed(given: Any) -> bool:
    return given.default is MISSING and given.default_factory is MISSING
