"""Vectors as embedders return them, checked before anybody reckons with them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, cast

from holdfast.kernel.errors import ModelError

Vector = Sequence[float]


def checked(answer: object, texts: int, who: str) -> list[Vector]:
    """One vector of finite numbers a text, all of one length. Raises ModelError for anything else."""
    try:
        rows = [_numbers(row) for row in cast("Sequence[object]", answer)]
    except (TypeError, ValueError, OverflowError) as fault:
        raise ModelError(f"{who} returned something else than vectors of numbers: {fault}") from fault
    if len(rows) != texts:
        raise ModelError(f"{who} returned {len(rows):,} vectors for {texts:,} texts")
    check_lengths(rows, who)
    if not all(isfinite(sum(row)) for row in rows):
        raise ModelError(f"{who} returned a vector with numbers that are not finite")
    return rows


def check_lengths(rows: Sequence[Vector], who: str) -> None:
    """Raises ModelError unless all are of one length."""
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        told = " and ".join(f"{length:,}" for length in sorted(lengths)[:2])
        raise ModelError(
            f"{who} returned vectors of different lengths ({told}); clear the cache if it has changed"
        )


def _numbers(row: object) -> Vector:
    """The row as Python's own numbers; an array knows a fast way."""
    listed: Any = getattr(row, "tolist", None)
    return [float(number) for number in cast("Sequence[Any]", listed() if callable(listed) else row)]
