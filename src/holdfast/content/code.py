"""Source code in any language, read by its indentation: every part stands under the line that opens its block.

Parsers were measured against this, and kept no more of the names that were used later.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from holdfast.selection.pieces import LONGEST, Piece, Reading, clauses

from .lossy import Lossy, Read
from .shares import sampled

_CODE = re.compile(  # a shape that no sentence, record or log line has
    r"\s*+(?:[^\s].*[{};(\[,\\]\s*(?://.*|/\*.*|#.*)?$"  # ends as no sentence ends
    r"|[{}()\]]|end\b|@\w|#\s*(?:include|define|if|endif|else|pragma)|<\?php"
    r"|(?:def|class|import|from|return|elif|else|try|except|finally|raise|async|func|fn|pub|impl|use|mod|package|let"
    r"|const|var|public|private|protected|static|struct|enum|interface|namespace|module|require|function|export"
    r"|yield|await|lambda|begin|rescue|unless|if|for|while|with|switch|match|case|when|elsif|do|fi|done|esac|then"
    r"|echo|local)\b.*\S$"
    r"|[\w.$\[\]\"'@&*]++(?:, ?[\w.$@*]++)*+(?:: ?[\w.\[\], |]++)? ?(?:[-+*/|&%]|<<|\|\||:)?= ?\S"  # an assignment
    r"|[\w.$:]++[!?]?\()"  # a call
)
_SENTENCE = re.compile(r"\s*+(?:[A-Za-z][a-z'’]*,? ){4,}.*[a-z][.:,;]?\s*$")  # as no statement reads
_COMMENTS = ("#", "//", "/*", "*", "--", '"""', "'''")
_FENCE = "```"  # a page about code
_FEWEST = 3  # lines
_LONGEST_LINE = 300  # characters of a line by which it is told
_NUMBER = re.compile(r"\s{0,8}(\d{1,7})( ?[:|│]|[\t→-]|  |$)")
_NUMBERED = 0.6  # of the lines have a number, one more than the line above, and the same sign behind it
_TAB = 4
_LEVELS = 1  # blocks whose first lines are told with what is in them: two kept fewer names in recorded runs
_CLOSING = (")", "]", "}", "end")


class Line(NamedTuple):
    """A line as it is shown, its code without the number in front, and how deep that is indented."""

    shown: str
    code: str
    depth: int


class Code(Lossy, Read):
    """A source file or a part of one, with or without line numbers in front."""

    name = "code"

    def fit(self, text: str) -> float:
        """The share of the lines, comments apart, that have the shape of a statement."""
        lines = [line.code for line in _lines(sampled(text))]
        said = [line[:_LONGEST_LINE] for line in lines if line and not line.startswith(_COMMENTS)]
        if len(said) < _FEWEST or any(line.startswith(_FENCE) for line in said[1:]):
            return 0.0
        return sum(_CODE.match(line) is not None and not _SENTENCE.match(line) for line in said) / len(said)

    def read(self, text: str) -> Reading:
        """Neighbouring lines together, under the line at the margin that opens their block."""
        lines = _lines(text)
        return Reading(tuple(_pieces(lines)), len(lines))


def _pieces(lines: Sequence[Line]) -> Iterator[Piece]:
    heads = _heads(lines)
    around: list[tuple[int, int]] = []  # the depth of each open block, and the piece with the line that opens it
    pieces = start = size = 0
    under = -1  # what the open piece is under
    held: list[str] = []
    for number, line in enumerate(lines):
        if not line.code:
            continue
        while around and around[-1][0] >= line.depth:
            around.pop()
        block = around[-1][1] if around else -1
        opens = number in heads and len(around) < _LEVELS
        long = len(" ".join(line.shown.split()))
        if held and (opens or size + long > LONGEST or block not in {under, pieces}):
            yield Piece("\n".join(held), start, number - start, under=under)
            pieces += 1
            held, size = [], 0
        if not held:
            start, under = number, block
        if opens:
            around.append((line.depth, pieces))
        if long > LONGEST:
            parts = clauses(line.shown)
            yield from (Piece(part, number, under=under) for part in parts)
            pieces += len(parts)
            continue
        held.append(line.shown)
        size += long
    if held:
        yield Piece("\n".join(held), start, len(lines) - start, under=under)


def _heads(lines: Sequence[Line]) -> set[int]:
    """The lines behind which the code goes deeper; a bracket on a line of its own opens nothing by itself."""
    worded = [(number, line.depth) for number, line in enumerate(lines) if any(map(str.isalnum, line.code))]
    return {number for (number, depth), (_, following) in pairwise(worded) if following > depth}


def _lines(text: str) -> list[Line]:
    shown = text.split("\n")
    sign = numbered(shown)
    return [_line(line.rstrip(), sign) for line in shown]


def _line(shown: str, sign: str) -> Line:
    number = _NUMBER.match(shown) if sign else None
    if number is None or number[2] not in {sign, ""}:
        code = shown
    else:
        code, shown = shown[number.end() :], shown.lstrip()
    bare = code.lstrip()
    depth = len(code[: len(code) - len(bare)].expandtabs(_TAB))
    return Line(shown, bare, depth + bare.startswith(_CLOSING))  # what closes a block belongs to it


def numbered(lines: Sequence[str]) -> str:
    """The sign behind the line numbers with which a tool shows a file; nothing if it shows none."""
    found = [(match[1], match[2]) for line in lines if (match := _NUMBER.match(line))]
    signs = Counter(sign for _, sign in found if sign)
    if len(found) < 2 or not signs:
        return ""
    sign, _ = signs.most_common(1)[0]
    numbers = [int(number) for number, behind in found if behind in {sign, ""}]
    ascends = sum(other == one + 1 for one, other in pairwise(numbers))
    said = sum(bool(line.strip()) for line in lines)
    return sign if min(len(numbers), ascends + 1) >= _NUMBERED * said else ""
