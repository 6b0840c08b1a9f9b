"""A call in a few words, as the line of a digest begins with it."""

from __future__ import annotations

from .notation import Exchange, line_of

_LONGEST = 80  # characters of what is told of the arguments


def called(name: str, arguments: str) -> str:
    """The name of the call and which one it was: its short arguments, or the beginning of the first long one."""
    line = line_of(Exchange(name, arguments, None))
    told = line.atoms[0].text if line.label.endswith(":") else line.label[len(name) + 1 : -1]
    return f"{name}({told if len(told) <= _LONGEST else f'{told[:_LONGEST]}…'})"
