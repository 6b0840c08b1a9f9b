"""A document as a reader sees it: pieces that are kept or left out, and how the kept ones are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from holdfast.text.opaque import elide
from holdfast.text.question import Question
from holdfast.text.salience import order
from holdfast.text.sentences import sentences

from .page import blocks
from .tree import ROOT, Line, lines, written

_LONGEST_BLOCK = 320  # characters of a block that is kept or left out as a whole
_FREE_SIBLINGS, _MANY = (
    3,
    0.6,
)  # elements of a name before the rest counts as one of many, and what one is worth then
_ADDRESS = re.compile(r" \([^()\s]{1,200}\)")  # of a link: it is exact, but seldom what a page says
_MOST_ANCESTORS = 12
_SHORT = 48  # characters of an element that is shown for what it holds
_GAP = "[…]"


class Reading(Protocol):
    """What the kind needs of either form."""

    dropped: str
    """What is never shown."""
    noun: str
    """What a piece is called, in the plural."""

    @property
    def sizes(self) -> Sequence[int]:
        """The characters of each piece."""
        ...

    def whole(self) -> str:
        """All pieces, written."""
        ...

    def order(self, question: Question, most: int) -> list[int]:
        """The numbers of the pieces, the most telling first."""
        ...

    def written(self, chosen: Sequence[int]) -> str:
        """The chosen pieces with what stands in the gaps."""
        ...


@dataclass(frozen=True)
class Page:
    """A page as sentences; a piece that ``follows`` goes on in the line of the one before it."""

    pieces: Sequence[str]
    worth: Sequence[float]
    follows: Sequence[bool]
    dropped: str = "tags, scripts and styles"
    noun: str = "parts of the text"

    @property
    def sizes(self) -> Sequence[int]:
        """The characters of each piece."""
        return [len(piece) + 1 for piece in self.pieces]

    def whole(self) -> str:
        """All blocks, one a line."""
        return self.written(range(len(self.pieces)))

    def order(self, question: Question, most: int) -> list[int]:
        """As prose, with less weight on navigation and on the many rows of a table."""
        return order([_ADDRESS.sub("", piece) for piece in self.pieces], question, most, self.worth)

    def written(self, chosen: Sequence[int]) -> str:
        """The chosen pieces, ``[…]`` in the gaps."""
        parts: list[str] = []
        following = 0
        for number in chosen:
            if number > following:
                parts.append(f" {_GAP}" if self.follows[following] and parts else f"\n{_GAP}")
            parts.append(f"{' ' if self.follows[number] else chr(10)}{self.pieces[number]}")
            following = number + 1
        if following < len(self.pieces):
            parts.append(f"\n{_GAP}")
        return "".join(parts).strip()


@dataclass(frozen=True)
class Tree:
    """A document as lines, one an element."""

    lines: Sequence[Line]
    dropped: str = "end tags, comments and namespaces"
    noun: str = "elements"

    @property
    def sizes(self) -> Sequence[int]:
        """The characters of each line."""
        return [len(line.text) + 2 * line.depth + 1 for line in self.lines]

    def whole(self) -> str:
        """All lines."""
        return "\n".join(written(self.lines, dict(enumerate(self.lines))))

    def order(self, question: Question, most: int) -> list[int]:
        """As prose, with less weight on what has many siblings of its name."""
        worth = [1.0 if line.sibling < _FREE_SIBLINGS else _MANY for line in self.lines]
        return order([line.text for line in self.lines], question, most, worth)

    def written(self, chosen: Sequence[int]) -> str:
        """The chosen lines below the elements that hold them, with the elements left out counted."""
        shown: dict[int, Line] = {number: self.lines[number] for number in chosen}
        for number in chosen:
            above = self.lines[number].parent
            for _ in range(_MOST_ANCESTORS):
                if above == ROOT or above in shown:
                    break
                shown[above] = _cut(self.lines[above], _SHORT)
                above = self.lines[above].parent
        return "\n".join(written(self.lines, shown))


def of_page(source: str) -> Page:
    """A page, its long blocks cut into sentences."""
    pieces: list[str] = []
    worth: list[float] = []
    follows: list[bool] = []
    for block in blocks(elide(source)):
        parts = [block.text] if len(block.text) <= _LONGEST_BLOCK else sentences(block.text)
        pieces += [part.strip("\n") for part in parts]
        worth += [block.worth] * len(parts)
        follows += [number > 0 and not parts[number - 1].endswith("\n") for number in range(len(parts))]
    return Page([piece.rstrip() for piece in pieces], worth, follows)


def of_tree(source: str, longest: int) -> Tree:
    """A document; ``longest`` is how many characters an element may say."""
    return Tree([_cut(line, longest) for line in lines(source)])


def _cut(line: Line, longest: int) -> Line:
    return line if len(line.text) <= longest else replace(line, text=line.text[:longest] + "…", fields=())
