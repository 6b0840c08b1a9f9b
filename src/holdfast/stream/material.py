"""Separates words from pasted material in a user's message: logs, code and files.

If it is unclear, a passage counts as words: words are never shortened while anything else can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.text.memo import Memo
from holdfast.text.sentences import reads_as_words

from .acts import opening

_FENCES = ("```", "~~~")
_QUOTED = 3  # spaces at most before the sign of a quotation
_FEWEST = 6  # lines in a row that are not sentences; fewer may be a list, an address, a poem


def passages_of(text: str) -> Sequence[tuple[bool, str]]:
    """The passages of a text in order, and whether each is material."""
    return _PASSAGES(text)


def _passages(text: str) -> Iterator[tuple[bool, str]]:
    held: list[str] = []
    kind = False
    for is_material, line in _lines(text):
        if held and is_material != kind:
            yield kind, "\n".join(held)
            held = []
        kind = is_material
        held.append(line)
    if held:
        yield kind, "\n".join(held)


_PASSAGES: Memo[str, Sequence[tuple[bool, str]]] = Memo(
    lambda text: tuple(_passages(text)), lambda text, _: 2 * len(text), 8_000_000
)
"""Cached, since a growing conversation is read at each call."""


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is in a fence, a quotation or a long run that no person types.

    Many lines that all begin with the same characters and a number, as in a log, are such a run.
    """
    lines = text.split("\n")
    marks = [False] * len(lines)
    fenced = False
    unworded: list[int] = []
    alike: list[int] = []
    before = ""
    for number, line in enumerate(lines):
        bare = line.lstrip()
        opens = bare.startswith(_FENCES)
        if fenced or opens:
            marks[number] = True
            fenced = fenced != opens
            continue
        if bare.startswith(">") and len(line) - len(bare) <= _QUOTED:
            marks[number] = True
        elif bare:
            opens_as = opening(bare)
            if reads_as_words(line):
                unworded.clear()
            else:
                unworded.append(number)
            if opens_as != before or "0" not in opens_as:
                alike.clear()
            alike.append(number)
            before = opens_as
            for run in (unworded, alike):
                for each in run if len(run) == _FEWEST else run[-1:] if len(run) > _FEWEST else ():
                    marks[each] = True
    return zip(marks, lines, strict=True)
