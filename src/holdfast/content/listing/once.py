"""The lossless form of a list of paths: each folder once, its entries below it."""

from __future__ import annotations

HEADING = "[paths, each folder once: names stand below theirs]"
_FOLDER, _OTHER = "> ", "= "


def compacted(text: str) -> str:
    """The names below their folders, in their order."""
    lines = [HEADING]
    folder = ""
    for line in text.split("\n"):
        above, sign, name = line.rpartition("/")
        if not sign:
            lines.append(_OTHER + line)
            continue
        if above + sign != folder:
            folder = above + sign
            lines.append(_FOLDER + folder)
        lines.append(name)
    return "\n".join(lines)


def expanded(text: str) -> str:
    """The paths that ``compacted`` was made of; any other text as it is."""
    heading, _, body = text.partition("\n")
    if heading != HEADING:
        return text
    lines: list[str] = []
    folder = ""
    for line in body.split("\n"):
        if line.startswith(_FOLDER):
            folder = line[len(_FOLDER) :]
        elif line.startswith(_OTHER):
            lines.append(line[len(_OTHER) :])
        else:
            lines.append(folder + line)
    return "\n".join(lines)
