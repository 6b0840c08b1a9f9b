"""The JSON compaction of llm4s, for the preset of that name: it loses information, and is never used unasked."""

from __future__ import annotations

from .values import Value, dump, parse

_LONGEST, _ENDS = (
    20,
    10,
)  # items of a list that stays whole; items that stay at each end of a longer one
_DEEPEST = 100  # levels; what lies deeper stays as it is


def cleaned(text: str) -> str:
    """The JSON without members that are null, "" or [], and without the middle of long lists, minified.

    Numbers stay as they are written, keys in their order. Raises ValueError if the text is no JSON.
    """
    return "\n".join(dump(_cleaned(value, 0)) for value in parse(text))


def _cleaned(value: Value, depth: int) -> Value:
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        kept = {
            key: child
            for key, child in value.items()
            if child is not None and child not in ("", [])
        }
        return {key: _cleaned(child, depth + 1) for key, child in kept.items()}
    if isinstance(value, list):
        items: list[Value] = value
        if len(value) > _LONGEST:
            items = [*value[:_ENDS], f"...[+{len(value) - 2 * _ENDS} items]...", *value[-_ENDS:]]
        return [_cleaned(item, depth + 1) for item in items]
    return value
