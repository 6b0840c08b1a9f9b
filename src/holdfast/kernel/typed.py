"""Values of JSON as the types that annotations name."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from .registry import imported

T = TypeVar("T")


def typed(value: object, kind: Any) -> Any:
    """The value as this type: lists as tuples, objects as dataclasses. Raises ValueError."""
    return imported("msgspec:convert")(value, kind)  # compressing needs none of it


def kept_as(text: str | None, kind: type[T]) -> T | None:
    """What a stored text of JSON holds, if it has this type; else None."""
    try:
        return typed(json.loads(text), kind) if text else None
    except (ValueError, RecursionError):
        return None
