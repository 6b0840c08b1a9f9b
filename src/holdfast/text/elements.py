"""Acts that an agent writes as elements with tags: the name of each call and its arguments."""

from __future__ import annotations

import re

_OPENING = re.compile(r"\s*<([A-Za-z][\w.-]*)((?:[=\s][^<>]{0,200})?)>")
_NAMED = re.compile(r"(?:\s+name)?\s*=\s*[\"']?([^\"'\s]+)[\"']?\s*\Z")


def calls_in(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The calls that a text consists of, each with its arguments; empty if it has other parts.

    An element is a call: what it holds is its argument, or each element in it is one. An element
    that holds nothing but such calls has no meaning of its own.
    """
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for name, inner in _elements(text):
        fields = _elements(inner)
        nested = [_elements(value) for _, value in fields]
        if nested and all(nested):
            found += [
                (label, arguments) for (label, _), arguments in zip(fields, nested, strict=True)
            ]
        else:
            found.append((name, fields or [("", inner)]))
    return found


def _elements(text: str) -> list[tuple[str, str]]:
    """The names and contents of the elements in a row that a text consists of, or none."""
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        opening = _OPENING.match(text, at)
        close = f"</{opening[1]}>" if opening else ""
        stop = text.find(close, opening.end()) if opening else -1
        if opening is None or stop < 0:
            return []
        named = _NAMED.match(opening[2])
        name = named[1] if named else f"{opening[1]}{opening[2]}"
        found.append((name, text[opening.end() : stop].strip()))
        at = stop + len(close)
    return found
