"""The content kind ``log``: lines that programs write one after another, with times or levels in front."""

from __future__ import annotations

import re

from holdfast.content.shares import enough
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit

from .digest import Digest
from .layout import Layout
from .lines import lines_of
from .repeats import compacted, expanded

_LOOKED_AT = 40_000  # characters that tell whether a text is a log
_FEWEST = 3  # lines
_RECORDS = 0.3  # of the lines that begin a record: the others continue it, as stack traces do
_MOST = 0.5  # of the lines: with fewer records, what continues them must be no source code
_CODED = 0.1  # of the lines open a statement, at least, where source code is read
_CODE = re.compile(
    r"\s*(?:(?:async )?def \w|class \w|from \S+ import |import \w|return\b|raise\b|except\b|try\s*[:{]|if .*[:{]$"
    r"|for .*[:{]$|else\s*[:{]|elif |with .*:$|throw |catch\b|func \w|function\b|const \w|let \w|var \w"
    r"|public |private )"
)
_LEVELLED = 0.8  # of the lines, where only a level tells
_LATEST_TIME = 4  # column: in a listing the time stands farther to the right


class Log:
    """Lines with a time or a level at their head; what is left is every kind of line with its count."""

    name = "log"

    def recognises(self, text: str) -> bool:
        """Whether the lines begin with a time, or nearly all with a level."""
        lines = [line for line in lines_of(text[:_LOOKED_AT]) if line.strip()]
        if len(text) > _LOOKED_AT and len(lines) > 1:
            lines.pop()
        if len(lines) < _FEWEST:
            return False
        layout = Layout.of(lines)
        if 0 <= layout.time_column <= _LATEST_TIME:
            records = enough(lines, layout.split, max(_FEWEST, _RECORDS * len(lines)))
            code = sum(_CODE.match(line) is not None for line in lines) if records else 0
            return bool(records) and (len(records) > _MOST * len(lines) or code <= _CODED * len(lines))
        if layout.time_column > _LATEST_TIME or "level" not in layout.columns:
            return False
        return bool(enough(lines, layout.level, max(_FEWEST, _LEVELLED * len(lines))))

    def compact(self, text: str) -> str | None:
        """The lines with what they share with the line above said once, or None where that saves little."""
        return compacted(text)

    def expand(self, compacted: str) -> str:
        """The lines as they were."""
        return expanded(compacted)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Every kind of line with its count and an example, failures first, and the lines asked for."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        lines = lines_of(text)
        told = Digest(lines, room).text()
        if told is None:
            told = fit.clip(text, room.tokens, room.count, mark="…")
        return Shrunk(told, self.name, omitted=f"most of {len(lines):,} lines; each kind with its count")
