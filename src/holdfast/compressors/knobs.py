"""The knobs of a strategy: checked when it is made, and listed in its description."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from holdfast.kernel.compressor import Compressor
from holdfast.kernel.errors import ConfigError

Fraction = Annotated[float, "a share in [0, 1]"]
"""The type of a knob that is a share of something."""

_UNIONS = (Union, UnionType)
_WORDS: dict[object, str] = {
    int: "a whole number of 0 or more",
    float: "a number of 0 or more",
    str: "text",
    bool: "true or false",
    Compressor: "a strategy, which has a name and a method plan(transcript, allowance)",
}
_SHARE = "a number of tokens or a share in [0, 1]"


def check_knobs(strategy: object) -> None:
    """Check the fields of a strategy that is a dataclass; call it in ``__post_init__``.

    Raises ConfigError for a value of another type, a negative number or a share above 1.
    """
    for name, hint in _hints(cast("Hashable", type(strategy))).items():
        value = getattr(strategy, name)
        if not _is(value, hint):
            place = f"{type(strategy).__name__}.{name}"
            raise ConfigError(
                f"{value!r} does not belong here", place=place, advice=f"give {_words(hint)}"
            )


def is_strategy(value: object) -> bool:
    """Whether this object can plan and has a name."""
    plans = not isinstance(value, type) and callable(getattr(value, "plan", None))
    return plans and isinstance(getattr(value, "name", None), str)


@cache
def _hints(strategy: Hashable) -> dict[str, Any]:
    kind = cast("Any", strategy)
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _is(value: object, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        if int in inner and isinstance(value, float):
            return 0 <= value <= 1
        return any(_is(value, each) for each in inner)
    if origin is Annotated:
        return _is(value, float) and cast("float", value) <= 1
    if origin is Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, list | tuple) and all(
            _is(item, inner[0]) for item in cast("list[object]", value)
        )
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool) and value >= 0
    if hint is Compressor:
        return is_strategy(value)
    return isinstance(value, hint)


def _words(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return (
            _SHARE
            if float in inner and int in inner
            else " or ".join(_words(h) for h in inner if h in _WORDS)
        )
    if origin is Annotated:
        return str(inner[1])
    if origin is Literal:
        return " or ".join(map(repr, inner))
    return f"a list, each item {_words(inner[0])}" if origin is tuple else _WORDS[hint]


class Configured:
    """A strategy whose fields are its knobs: checked when it is made, listed by ``describe``."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": cast("Compressor", self).name, **knobs(self)}


def described(compressor: Compressor) -> dict[str, object]:
    """The description of a strategy: its own, or its name and its fields."""
    told = _own(compressor)
    return {"strategy": compressor.name, **knobs(compressor)} if told is None else told


def knobs(compressor: object) -> dict[str, object]:
    """The fields of a dataclass as plain values: tuples as lists, strategies as descriptions."""
    if not is_dataclass(compressor):
        return {}
    return {f.name: _plain(getattr(compressor, f.name)) for f in fields(compressor) if f.repr}


def _own(value: object) -> dict[str, object] | None:
    # measured: isinstance with a protocol takes thirty times as long
    describe = getattr(value, "describe", None)
    told: object = describe() if callable(describe) else None
    return (
        cast("dict[str, object]", _plain(cast("Any", told))) if isinstance(told, Mapping) else None
    )


def _plain(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()
        }
    return _own(value) or knobs(value) or str(value)
