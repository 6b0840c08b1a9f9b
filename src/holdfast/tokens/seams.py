"""Places where a text can be split so that the counts of its parts add up."""

from __future__ import annotations

import re

BLOCK = 1 << 20
"""The longest text that is split into lines, in characters: a bound on memory."""

SEAM = re.compile(
    r"[A-Za-z0-9\u4e00-\u9fff\uac00-\ud7a3](?=[\x00-&(-/:-@\[-`{-\x7f\u3001\u3002\uff0c])"
)
"""A letter or digit before an ASCII sign or a CJK stop, the apostrophe of "it's" excepted.

No piece of either vocabulary reaches across such a place, and none looks back over it.
"""

_LINES = re.compile(r"[^\n]*\n(?:[\s/][^\n]*(?:\n|\Z))*|[^\n]+\Z")
"""A line, with the lines after it that begin with white space or a slash.

No piece of either vocabulary reaches across any other line break, and none looks back over it.
"""


def lines(text: str) -> list[str]:
    """The text in lines, some of them together; one part if it is longer than ``BLOCK``."""
    return _LINES.findall(text) if len(text) <= BLOCK else [text]
