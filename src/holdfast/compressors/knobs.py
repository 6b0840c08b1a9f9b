"""The knobs of a strategy: checked when it is made, and listed in its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, cast

from holdfast.kernel.compressor import Compressor
from holdfast.kernel.typed import Only, check_fields


def is_strategy(value: object) -> bool:
    """Whether this object can plan and has a name."""
    plans = not isinstance(value, type) and callable(getattr(value, "plan", None))
    return plans and isinstance(getattr(value, "name", None), str)


Planner = Annotated[
    Compressor,
    Only("a strategy, which has a name and a method plan(transcript, allowance)", is_strategy),
]
"""The type of a knob that is a strategy."""


class Configured:
    """A strategy whose fields are its knobs: checked when it is made, listed by ``describe``."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

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
