"""What of a text is plain prose: everything else stands as it is, whatever a rule says."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

Span = tuple[int, int]

# Each quotation ends at the next mark of its kind, on its own line: no search runs further than the next mark.
_QUOTED = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^“”\n]*”|„[^„“\n]*“|«[^«»\n]*»|「[^「」\n]*」|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^‘’\n]*’"
)
_FENCES = ("```", "~~~")
_INDENTS = ("    ", "\t")
_OPENERS = (">", "|", "[", "$ ")  # a quotation, a table, a list of values, a command
_CODE = frozenset("{}<>=;\\")
_REPORTS = ("error:", "exception")


def standing(text: str) -> list[Span]:
    """What stands as it is: code, JSON, quotations, tables, reports of errors. In order, apart from each other."""
    spans: list[Span] = []
    at, fence = 0, ""
    for line in text.split("\n"):
        end = at + len(line)
        bare = line.lstrip(" ")
        mark = next((mark for mark in _FENCES if bare.startswith(mark)), "")
        if fence or mark or _is_code(line, bare):
            spans.append((at, end + 1))
        else:
            spans.extend(found.span() for found in _QUOTED.finditer(text, at, end))
        if mark and fence in ("", mark):
            fence = "" if fence else mark
        at = end + 1
    return spans


def _is_code(line: str, bare: str) -> bool:
    if line.startswith(_INDENTS) or bare.startswith(_OPENERS) or not _CODE.isdisjoint(line):
        return True
    low = line.lower()
    return any(word in low for word in _REPORTS)


def overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether some of what stands lies between the two places."""
    k = bisect_right(spans, (start, end))
    return (k < len(spans) and spans[k][0] < end) or (k > 0 and spans[k - 1][1] > start)


def rewritten(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with every match replaced that touches nothing of what stands."""
    spans = standing(text)
    return pattern.sub(lambda m: m.group() if overlaps(spans, *m.span()) else replace(m), text)


# Where a sentence begins: at the start of a line, behind a list's mark if it has one, or behind a stop.
OPENING = r"(?P<lead>^[ \t]{0,3}(?:(?:[-*+•]|\d{1,3}[.)])[ \t])?|(?<=[.!?…:])[ \t]{1,3})"


def opened(match: re.Match[str], removed: str) -> str:
    """What is left of an opening when ``removed`` goes: its lead, and the next word, with a capital for a capital.

    The match has the groups ``lead`` and ``next``, the word behind what is removed.
    """
    word = match["next"]
    return match["lead"] + (word.capitalize() if removed[:1].isupper() and word.islower() else word)
