"""The paths of parts in a message, and copies of the message with other texts there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.kernel.messages import Part

from .values import is_object, parsed_object

Path = tuple[str | int, ...]
"""Keys and indices from the message to the value with the part's text."""

Located = Iterator[tuple[Part, Path]]
"""The parts of a message in order, each with the path of its text."""


def rewritten(original: Mapping[str, Any], texts: Mapping[Path, str]) -> Mapping[str, Any]:
    """A copy of the message with these texts at these paths; everything else is shared.

    An object at a path, such as the arguments of a call, is replaced by the JSON object that the
    text holds.
    """
    copy: dict[str, Any] = dict(original)
    ours: dict[Path, Any] = {(): copy}
    for path, text in texts.items():
        holder: Any = copy
        for depth, step in enumerate(path[:-1], 1):
            if path[:depth] not in ours:
                ours[path[:depth]] = holder[step] = _copied(holder[step])
            holder = holder[step]
        holder[path[-1]] = parsed_object(text) if is_object(holder.get(path[-1])) else text
    return copy


def _copied(value: Any) -> dict[str, Any] | list[Any]:
    return dict(value) if is_object(value) else list(value)
