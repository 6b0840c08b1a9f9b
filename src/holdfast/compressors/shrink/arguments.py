"""Arguments of a call that stay JSON: long texts among them lose their middle, everything else stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.content.structured.values import Literal, Value, dump, parse
from holdfast.text.fit import head_tail

_WORTH = 40  # tokens; a text that is not longer is left whole


class _Long(NamedTuple):
    """A long text: the object that has it, and under which key."""

    holder: dict[str, Value]
    key: str
    text: str
    tokens: int


def shortened(arguments: str, tokens: int, count: Callable[[str], int], reference: str = "") -> str | None:
    """The arguments with their long texts clamped to fit, and the reference at the end of the last one.

    None where they are no JSON object, or hold no long text. Numbers and the order of keys stay as written.
    """
    try:
        found = parse(arguments)
    except ValueError:
        return None
    long = list(_long(found[0], count)) if len(found) == 1 else []
    if not long:
        return None
    in_long = sum(each.tokens for each in long)
    room = tokens - (count(arguments) - in_long) - count(reference)
    for each in long:
        part = max(_WORTH // 2, room * each.tokens // in_long)
        if part < each.tokens:
            each.holder[each.key] = head_tail(each.text, part, count)
    if reference:
        last = long[-1]
        last.holder[last.key] = f"{last.holder[last.key]}\n{reference}"
    return dump(found[0])


def _long(values: Value, count: Callable[[str], int]) -> Iterator[_Long]:
    """The long texts under keys, at any depth."""
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            texts = {k: v for k, v in value.items() if isinstance(v, str) and not isinstance(v, Literal)}
            sizes = {key: count(text) for key, text in texts.items() if len(text) > _WORTH}
            yield from (_Long(value, key, texts[key], size) for key, size in sizes.items() if size > _WORTH)
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
