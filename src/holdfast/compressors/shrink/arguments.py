"""Arguments of a call that stay JSON: long texts among them lose their middle, everything else stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

from holdfast.text.fit import head_tail

_WORTH = 40  # tokens; a text that is not longer is left whole


def shortened(arguments: str, tokens: int, count: Callable[[str], int]) -> str | None:
    """The arguments with their long texts clamped to fit; None where they are no JSON object or cannot shrink."""
    try:
        found: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    values = cast("dict[str, object]", found)
    long = {name: count(text) for name, text in values.items() if isinstance(text, str) and len(text) > _WORTH}
    long = {name: size for name, size in long.items() if size > _WORTH}
    if not long:
        return None
    room = tokens - (count(arguments) - sum(long.values()))
    for name, size in long.items():
        part = max(_WORTH // 2, room * size // sum(long.values()))
        if part < size:
            values[name] = head_tail(cast("str", values[name]), part, count)
    return json.dumps(values, ensure_ascii=False)
