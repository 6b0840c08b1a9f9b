"""How a strategy says what it is and how it is set: its name and its knobs, as JSON has them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import cast

from holdfast.kernel.compressor import Compressor, Describes


def described(compressor: Compressor) -> dict[str, object]:
    """The description of a strategy that is a dataclass: its name and its knobs, as JSON has them."""
    describe = getattr(compressor, "describe", None)  # a check against the protocol takes thirty times as long
    if describe is not None:
        return dict(cast("Describes", compressor).describe())
    return {"strategy": compressor.name, **knobs(compressor)}


def knobs(compressor: object) -> dict[str, object]:
    """The fields of a dataclass, tuples as lists, strategies by their own description."""
    if not is_dataclass(compressor):
        return {}
    return {f.name: _plain(getattr(compressor, f.name)) for f in fields(compressor) if f.repr}


def _plain(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("list[object]", value)]
    if hasattr(value, "describe"):
        return dict(cast("Describes", value).describe())
    return knobs(value) or str(value)
