"""The lossless form of lines that begin alike: what they begin with stands once above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# before what lines begin with, and before a line that stands for itself
_BELOW, _OTHER = "> ", "= "
_WORTH = 0.95  # of the text: a longer form is not worth its marks


class Once(NamedTuple):
    """A form with this heading.

    ``joint`` is left out where a digit follows what lines begin with.
    """

    heading: str
    joint: str = ""

    def compacted(self, text: str, parted: Iterable[tuple[str, str]]) -> str | None:
        """The text, of whose lines this is what they begin with and the rest.

        None where little is saved.
        """
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
        """The text of which the form was made; any other text as it is."""
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
