"""A lossless form of lines with common beginnings: each is written once above its lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# marks a beginning, and a line without one
_BELOW, _OTHER = "> ", "= "
_WORTH = 0.95  # share of the text's length; a longer form is not worth its marks


class Once(NamedTuple):
    """A form with this heading; ``joint`` is omitted between a beginning and a digit."""

    heading: str
    joint: str = ""

    def compacted(self, text: str, parted: Iterable[tuple[str, str]]) -> str | None:
        """The short form, given each line's beginning and rest; None if it saves little."""
        lines = [self.heading]
        above = ""
        for beginning, rest in parted:
            if not beginning:
                lines.append(_OTHER + rest)
                continue
            if beginning != above:
                above = beginning
                lines.append(_BELOW + above)
            bare = rest.removeprefix(self.joint)
            lines.append(bare if bare[:1].isdigit() and rest.startswith(self.joint) else rest)
        short = "\n".join(lines)
        return short if len(short) <= _WORTH * len(text) and self.expanded(short) == text else None

    def expanded(self, short: str) -> str:
        """The original text of a short form; any other text unchanged."""
        heading, _, body = short.partition("\n")
        if heading != self.heading:
            return short
        lines: list[str] = []
        above = ""
        for line in body.split("\n"):
            if line.startswith(_BELOW):
                above = line.removeprefix(_BELOW)
            elif line.startswith(_OTHER):
                lines.append(line.removeprefix(_OTHER))
            else:
                lines.append(f"{above}{self.joint if line[:1].isdigit() else ''}{line}")
        return "\n".join(lines)
