"""Reading what a store gave back: it may be anybody's, or half of what it was."""

from __future__ import annotations

import json
from typing import Any, cast


def as_object(value: str | None) -> dict[str, Any]:
    """The JSON object of the text; an empty one where it is none."""
    found = _json(value)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def as_list(value: str | None) -> list[object]:
    """The JSON list of the text; an empty one where it is none."""
    found = _json(value)
    return cast("list[object]", found) if isinstance(found, list) else []


def _json(value: str | None) -> object:
    try:
        return json.loads(value) if value else None
    except (ValueError, RecursionError):
        return None
