"""JSON values: type checks, and their compact text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from holdfast.kernel.errors import FormatError


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether the value is a JSON object."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether the value is a JSON array."""
    return isinstance(value, list | tuple)


def compact(value: object, place: str = "", otherwise: Callable[[object], str] = str) -> str:
    """The value as JSON without white space, as it is counted.

    ``otherwise`` converts what JSON cannot hold. Raises FormatError, naming the place, for a value
    that contains itself or is nested too deeply.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=otherwise)
    except (RecursionError, ValueError) as fault:
        problem = "it is nested too deeply to be counted, or holds itself"
        raise FormatError(problem, place=place, advice="give it less deeply nested") from fault


def parsed_object(text: str) -> Mapping[str, Any]:
    """The JSON object in the text, or ``{"text": text}`` if there is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if is_object(value) else {"text": text}
