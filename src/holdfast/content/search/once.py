"""The lossless form of search hits: each path once, its hits below it."""

from __future__ import annotations

from collections.abc import Sequence

from .parse import Hit

HEADING = "[search hits, each path once: N:text is a hit, -N-text a line near one]"
_PATH, _OTHER = "> ", "= "


def compacted(found: Sequence[Hit]) -> str:
    """The hits below their paths; lines that are no hits keep their place."""
    lines = [HEADING]
    path = ""
    for hit in found:
        if not hit.path:
            lines.append(_OTHER + hit.rest)
            continue
        if hit.path != path:
            path = hit.path
            lines.append(_PATH + path)
        digit = hit.rest[:1] == ":" and hit.rest[1:2].isdigit()
        lines.append(hit.rest[1:] if digit else hit.rest)
    return "\n".join(lines)


def expanded(text: str) -> str:
    """The lines that ``compacted`` was made of; any other text as it is."""
    heading, _, body = text.partition("\n")
    if heading != HEADING:
        return text
    lines: list[str] = []
    path = ""
    for line in body.split("\n"):
        if line.startswith(_PATH):
            path = line[len(_PATH) :]
        elif line.startswith(_OTHER):
            lines.append(line[len(_OTHER) :])
        elif line[:1].isdigit():
            lines.append(f"{path}:{line}")
        else:
            lines.append(path + line)
    return "\n".join(lines)
