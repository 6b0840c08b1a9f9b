"""A summary without a model: the most important sentences of the material, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from holdfast.content.order import order
from holdfast.text.sentences import sentences

# the prefix of quoted lines; the other lines of a prompt are the request
_QUOTED = "| "
# fewer than in most texts, so that the reply keeps to its token limit
_CHARACTERS_A_TOKEN = 3
_LONGEST = 300  # characters of a sentence; a longer one is cut at the end
_SHORTEST = 12  # characters; shorter sentences say nothing by themselves


class Extractive:
    """A model that runs here, and returns the same sentences for the same material."""

    def __init__(self, name: str = "") -> None:
        self.name = name or "extractive"

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> str:
        """The most important sentences in order, one on each line.

        Sentences of an earlier summary count like the others.
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
    """The sentences of the material, each once; long ones are cut."""
    said = (sentence.strip() for text in _texts(prompt) for sentence in sentences(text))
    return list(dict.fromkeys(_cut(piece) for piece in said if len(piece) >= _SHORTEST))


def _texts(prompt: str) -> Sequence[str]:
    """The quoted texts, each a run of quoted lines; without any, the whole prompt."""
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
