"""What the head of a message says: when it was said, and by whom."""

from __future__ import annotations

import re

from .remembered import Remembered
from .times import moment

_BRACKETED = re.compile(
    r"[ \t]{0,4}(?:\((?P<round>[^()\n]{6,60})\)|\[(?P<square>[^\[\]\n]{6,60})\])[:,]?[ \t]{1,4}"
)
_BARE = re.compile(
    r"(?P<bare>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?)[ \t:,|-]{1,4}"
)
_SECOND = re.compile(rf"[^\n]*\n(?:{_BRACKETED.pattern}|{_BARE.pattern})")
_SPEAKER = re.compile(r"(?P<name>[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): {1,4}")


def remembered(position: int, role: str, text: str, *, name: str = "", said: float | None = None) -> Remembered:
    """The message as memory sees it: ``name`` and ``said`` where they are known, else what its head says.

    A head is a date in brackets or in ISO 8601, and a capitalised name with a colon behind it. What a tool gave
    has none, and a date at the head of each line is that of a log.
    """
    header = 0
    if role == "tool":
        return Remembered(position, role, text, name, said)
    match = _BRACKETED.match(text) or _BARE.match(text)
    if match is not None and not _SECOND.match(text):
        stated = moment(match[match.lastgroup or 0])
        if stated is not None:
            said, header = stated, match.end()
    spoken = _SPEAKER.match(text, header)
    if spoken is not None and all(word[0].isupper() for word in spoken["name"].split()):
        name, header = spoken["name"], spoken.end()
    return Remembered(position, role, text, name, said, header)
