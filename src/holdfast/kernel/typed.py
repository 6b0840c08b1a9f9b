"""Values of JSON as the types that annotations name."""

from __future__ import annotations

import json
from typing import Any, TypeVar, cast

from .registry import imported

T = TypeVar("T")


def typed(value: object, kind: Any) -> Any:
    """The value as this type: lists as tuples, objects as dataclasses. Raises ValueError."""
    return imported("msgspec:convert")(value, kind)  # compressing needs none of it


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
