"""How a strategy says what it is and how it is set: its name and its knobs, as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from holdfast.kernel.compressor import Compressor


def described(compressor: Compressor) -> dict[str, object]:
    """The description of a strategy: its own, or that of a dataclass, its name and its knobs."""
    told = _own(compressor)
    return {"strategy": compressor.name, **knobs(compressor)} if told is None else told


def knobs(compressor: object) -> dict[str, object]:
    """The fields of a dataclass, tuples as lists, strategies by their own description."""
    if not is_dataclass(compressor):
        return {}
    return {f.name: _plain(getattr(compressor, f.name)) for f in fields(compressor) if f.repr}


def _own(value: object) -> dict[str, object] | None:
    describe = getattr(value, "describe", None)  # a check against the protocol takes thirty times as long
    told: object = describe() if callable(describe) else None
    return cast("dict[str, object]", _plain(cast("Any", told))) if isinstance(told, Mapping) else None


def _plain(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    return _own(value) or knobs(value) or str(value)
