"""Words and material in what a person sends: pasted logs, code and files are told apart from what is said.

Where it is unclear, a passage counts as words: words are never shortened while anything else can give way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.text.sentences import reads_as_words

_FENCE = re.compile(r"(?:```|~~~)")
_QUOTE = re.compile(r"\s{0,3}>")
_FEWEST = 6  # lines that do not read as sentences in a row: fewer may be a list, an address, a verse


def passages_of(text: str) -> Iterator[tuple[bool, str]]:
    """The passages of a text in order, each with whether it is material."""
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


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line with whether it stands in a fence, a quotation or a long run of what no person types."""
    lines = text.split("\n")
    marks = [False] * len(lines)
    fenced = False
    run: list[int] = []
    for number, line in enumerate(lines):
        opens = _FENCE.match(line.lstrip()) is not None
        if fenced or opens:
            marks[number] = True
            fenced = fenced != opens
            continue
        if _QUOTE.match(line):
            marks[number] = True
        elif line.strip():
            run = [] if reads_as_words(line) else [*run, number]
            if len(run) >= _FEWEST:
                for each in run if len(run) == _FEWEST else run[-1:]:
                    marks[each] = True
    return zip(marks, lines, strict=True)
