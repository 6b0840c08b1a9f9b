"""Which lines of a source text are comments or docstrings, in any of the known languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|else|endif|undef|pragma)|!?\[)|//|/\*|\*(?:[\s/]|$)|--\s|=begin\b)"
)
_FIRST = frozenset("#/*-=rRuUbB\"'")
"""What a comment or a docstring begins with."""
_QUOTES = re.compile(r"\s*[rRuUbB]{0,2}(\"\"\"|''')")


def comments(lines: Sequence[str]) -> Iterator[bool]:
    """For each line whether it is a comment, or belongs to one or to a docstring that stands by itself."""
    closing = ""  # what ends the comment or docstring that is open
    for line in lines:
        if closing:
            yield True
            closing = "" if closing in line else closing
        elif line.lstrip()[:1] not in _FIRST:
            yield False
        else:
            closing = _opens(line)
            yield bool(closing) or _COMMENT.match(line) is not None or _QUOTES.match(line) is not None


def _opens(line: str) -> str:
    """What must come to end the comment or docstring that this line opens, or nothing."""
    quotes = _QUOTES.match(line)
    if quotes:
        return "" if quotes[1] in line[quotes.end() :] else quotes[1]
    code = line.lstrip()
    if code.startswith("=begin"):
        return "=end"
    return "*/" if code.startswith("/*") and "*/" not in code[2:] else ""
