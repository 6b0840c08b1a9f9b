"""The types that annotations name: values are checked against them, and JSON is read as them.

Without another package, so that results and stored values are read wherever they are written.
"""

import json
import reprlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from math import inf
from operator import ge, gt, le
from os import PathLike
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from .errors import ConfigError, problem_of

T = TypeVar("T")

_UNIONS = (Union, UnionType)


class Only(NamedTuple):
    """In ``Annotated``: which values of a type are meant, and what an error calls them."""

    words: str
    accepts: Callable[[Any], bool]


# ``partial(le, 1)`` asks whether 1 <= the value, and so on; negative numbers are always refused
Positive = Annotated[int, Only("a whole number of 1 or more", partial(le, 1))]
# a share may be all
Fraction = Annotated[float, Only("a share in [0, 1]", partial(ge, 1))]
# a share that must leave something
Portion = Annotated[float, Only("a share in [0, 1)", partial(gt, 1))]

_WORDS: Mapping[object, str] = {
    int: "a whole number of 0 or more",
    float: "a number of 0 or more",
    str: "text",
    bool: "true or false",
    PathLike[str]: "a path",
}


def what_is(value: object) -> str:
    """A short description of the value, for an error."""
    if value is None:
        return "null"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeioAEIO' else 'a'} {kind}"


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether the value is a JSON object."""
    # most are dictionaries, which are known sooner
    return type(value) is dict or isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether the value is a JSON array."""
    return isinstance(value, (list, tuple))


def walked(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The value and every value in it, each with its path, such as ``steps[1].strategy``."""
    yield path, value
    if is_object(value):
        for key, inner in value.items():
            yield from walked(inner, f"{path}.{key}" if path else key)
    elif is_list(value):
        for n, inner in enumerate(value):
            yield from walked(inner, f"{path}[{n}]")


def check_fields(given: object, *, bare: bool = False) -> None:
    """Check the fields of a dataclass; call it in ``__post_init__``.

    Raises ConfigError for a value of another type, and for a number that is negative or infinite;
    defaults are not checked. Its place is ``Class.field``, or the ``bare`` name of the field.
    """
    kind: Any = type(given)
    hints, prefix = _hints(kind), "" if bare else f"{kind.__name__}."
    for each in fields(kind):
        value = getattr(given, each.name)
        if value is not each.default:
            check_type(value, hints[each.name], f"{prefix}{each.name}")


def check_type(value: object, hint: Any, place: str) -> None:
    """Raise ConfigError, naming the place, unless the value has the type."""
    if fits(value, hint):
        return
    if get_origin(hint) is tuple and is_list(value):  # the first item that does not fit
        value = next(item for item in value if not fits(item, get_args(hint)[0]))
    raise ConfigError(
        f"{value!r:.60} does not belong here", place=place, advice=f"give {_words(hint)}"
    )


def fits(value: object, hint: Any) -> bool:
    """Whether the value has the type.

    Numbers are not negative; in a union with whole numbers, a float is a share.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        if int in inner and isinstance(value, float):
            return 0 <= value <= 1
        return any(fits(value, each) for each in inner)
    if origin is Annotated:
        return (inner[0] not in _WORDS or fits(value, inner[0])) and inner[1].accepts(value)
    if origin is tuple:
        return is_list(value) and all(fits(item, inner[0]) for item in value)
    is_meant = _is(value, origin or hint, inner)
    return is_meant and (hint not in (int, float) or 0 <= cast("float", value) < inf)


def _words(hint: Any) -> str:
    """The values of a type, as an error asks for them."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        if float in inner and int in inner:
            return "a number of tokens or a share in [0, 1]"
        return " or ".join(_words(each) for each in inner if each is not NoneType)
    if origin is Annotated:
        return str(inner[1].words)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is tuple:
        return f"a list, each item {_words(inner[0])}"
    return _WORDS.get(hint) or f"a {hint.__name__}"


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def typed(value: object, hint: Any) -> Any:
    """The value as this type: lists as tuples, objects as dataclasses. Raises ValueError."""
    kind, inner = cast("type", get_origin(hint) or hint), get_args(hint)
    if kind in _UNIONS:
        for each in inner:
            with suppress(ValueError):
                return typed(value, each)
    if is_dataclass(kind) and is_object(value):
        hints, made = _hints(kind), dict[str, object]()
        for each in fields(kind):
            if each.name in value:
                made[each.name] = typed(value[each.name], hints[each.name])
            elif each.default is each.default_factory is MISSING:
                raise ValueError(f"it has no {each.name!r}")
        return kind(**made)
    if kind in (tuple, list) and is_list(value):
        some = [typed(each, inner[0]) for each in value]
        return tuple(some) if kind is tuple else some
    if kind in (dict, Mapping) and is_object(value):
        return {key: typed(each, inner[1]) for key, each in value.items()}
    if kind in _UNIONS or not _is(value, kind, inner):
        # reprlib writes only the beginning: the value may be large, and the error discarded
        raise ValueError(f"{reprlib.repr(value)} is no {getattr(hint, '__name__', hint)}")
    return value


def _is(value: object, kind: Any, inner: Sequence[object]) -> bool:
    if kind is Literal:
        return value in inner
    if kind in (int, float):  # True is an int
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return kind is Any or isinstance(kind, TypeVar) or isinstance(value, kind)


def attributes(of: object, names: str) -> dict[str, Any]:
    """The attributes with these names, which are separated by spaces, as JSON has them."""
    return {name: getattr(of, name) for name in names.split()}


def object_of(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object in the text; None if it holds something else."""
    # not by ``kept_as``, which checks and copies value by value
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


@contextmanager
def as_config_errors(option: str) -> Generator[None]:
    """Turn the exceptions of a caller's function into ConfigError, which names its option."""
    try:
        yield
    except Exception as fault:
        raise ConfigError(f"the function failed: {problem_of(fault)}", place=option) from fault
