"""A model that is none.

Its summary is the most telling sentences of what it is given, word for word.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from holdfast.content.order import order
from holdfast.text.sentences import sentences

# in front of each line of material; what is asked of a model stands in the other lines
_QUOTED = "| "
# fewer than there are in most texts, so that the reply stays within its tokens
_CHARACTERS_A_TOKEN = 3
_LONGEST = 300  # characters of a sentence; of one that has no end the beginning is quoted
_SHORTEST = 12  # characters; what is shorter says nothing by itself


class Extractive:
    """Asks nobody and nothing: the same sentences for the same material."""

    def __init__(self, name: str = "") -> None:
        self.name = name or "extractive"

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> str:
        """The sentences that say most, in their order, one a line.

        An older summary counts like the rest.
        """
        del system
        pieces = _pieces(prompt)
        room = max_tokens * _CHARACTERS_A_TOKEN
        chosen: list[int] = []
        for place in order(pieces):
            size = len(pieces[place]) + 1
            if size <= room:
                chosen.append(place)
                room -= size
        return "\n".join(pieces[place] for place in sorted(chosen))


def _pieces(prompt: str) -> Sequence[str]:
    """The sentences of the material, each once; one that has no end is cut."""
    said = (sentence.strip() for text in _texts(prompt) for sentence in sentences(text))
    return list(dict.fromkeys(_cut(piece) for piece in said if len(piece) >= _SHORTEST))


def _texts(prompt: str) -> Sequence[str]:
    """The quoted texts, each a run of quoted lines.

    Where nothing is quoted, all of the prompt is material.
    """
    runs = groupby(prompt.splitlines(), key=lambda line: line.startswith(_QUOTED))
    quoted = [
        "\n".join(line.removeprefix(_QUOTED) for line in lines)
        for is_quoted, lines in runs
        if is_quoted
    ]
    return quoted or [prompt]


def _cut(piece: str) -> str:
    if len(piece) <= _LONGEST:
        return piece
    start = piece[:_LONGEST]
    return f"{start[: start.rfind(' ') + 1 or _LONGEST].rstrip()} …"
