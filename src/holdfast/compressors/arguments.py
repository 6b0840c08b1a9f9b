"""A shorter form of the arguments of a call."""

from __future__ import annotations

from bisect import bisect_right

from holdfast.content.structured.values import dump, parse
from holdfast.text.fit import Count, head_tail

_SHORT = 4  # tokens; shorter values stay, since a mark in quotes takes as much


def brief(
    arguments: str,
    tokens: int,
    count: Count,
    least: int = _SHORT,
    reference: str = "",
) -> str:
    """The JSON object of a call's arguments with its longest values cut, under the same keys.

    No value is cut below ``least`` tokens. A value that is not text is cut as its JSON. The
    reference is the last line of the longest value, if that is cut. Empty if the arguments are not
    a JSON object, or an empty one.
    """
    try:
        found = parse(arguments)
    except ValueError:
        return ""
    values = found[0] if len(found) == 1 else None
    if not isinstance(values, dict) or not values:
        return ""
    lengths = {key: count(dump(value)) for key, value in values.items()}
    longest = max(lengths, key=lengths.__getitem__)

    def shortened_to(level: int) -> str:
        room = level if level > _SHORT else 0
        now = dict(values)
        for key, value in values.items():
            if lengths[key] > level:
                text = cut(value if isinstance(value, str) else dump(value), room, count)
                now[key] = f"{text}\n{reference}" if reference and key == longest else text
        return dump(now)

    levels = range(least, max(tokens, least) + 1)
    more = bisect_right(levels[1:], tokens, key=lambda level: count(shortened_to(level)))
    return shortened_to(levels[more])


def cut(text: str, tokens: int, count: Count) -> str:
    """The start and end of the text around a mark, or the mark alone if no more fits.

    There is no white space at the end: some vendors refuse it in the last message.
    """
    short = head_tail(text, tokens, count) if tokens > 0 else ""
    return short.rstrip() if "…" in short or short == text else "…"
