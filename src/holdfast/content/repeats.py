"""A lossless form of a log: the words that a line shares with the line above are not repeated.

``″5 rest`` is a line whose first five words are those of the line above; ``×3`` stands for three
repetitions of the line above. Words end at single spaces, so every line is restored exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_HEADING = "[log: ″n stands for the first n words of the line above, ×n for n more of that line]"
_DITTO, _TIMES = "″", "×"
_WORTH = 12  # characters that a mark must save
_LEAST_SAVING = 0.1  # share of the text that must be saved


def compacted(text: str) -> str | None:
    """The shorter form; None if it saves little or a line looks like one of its marks."""
    lines = text.split("\n")
    if any(line.startswith((_DITTO, _TIMES, _HEADING)) for line in lines):
        return None
    short = "\n".join([_HEADING, *_shortened(lines)])
    return short if len(short) <= (1 - _LEAST_SAVING) * len(text) else None


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    above: list[str] = []
    previous: str | None = None
    repeats = 0
    for line in lines:
        if line == previous and line:
            repeats += 1
            continue
        if repeats:
            yield f"{_TIMES}{repeats}"
            repeats = 0
        words = line.split(" ")
        shared = _shared(above, words)
        rest = words[shared:]
        saved = sum(map(len, words[:shared])) + shared
        yield f"{_DITTO}{shared} {' '.join(rest)}" if saved >= _WORTH and rest else line
        above, previous = words, line
    if repeats:
        yield f"{_TIMES}{repeats}"


def _shared(above: Sequence[str], words: Sequence[str]) -> int:
    for at, (one, other) in enumerate(zip(above, words, strict=False)):
        if one != other:
            return at
    return min(len(above), len(words))
