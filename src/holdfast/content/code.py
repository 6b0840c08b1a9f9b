"""Source code in any language, read line by line.

Parsers and indentation kept no more of what matters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from holdfast.selection.pieces import Reading, passages

from .lossy import LossyKind, sampled

_CODE = re.compile(  # what no sentence, record or log line looks like
    r"\s*+(?:[^\s].*[{};(\[,\\]\s*(?://.*|/\*.*|#.*)?$"  # ends like no sentence
    r"|[{}()\]]|end\b|@\w|#\s*(?:include|define|if|endif|else|pragma)|<\?php"
    r"|(?:def|class|import|from|return|elif|else|try|except|finally|raise|async|func|fn|pub"
    r"|impl|use|mod|package|let"
    r"|const|var|public|private|protected|static|struct|enum|interface|namespace|module|require"
    r"|function|export"
    r"|yield|await|lambda|begin|rescue|unless|if|for|while|with|switch|match|case|when|elsif|do"
    r"|fi|done|esac|then"
    r"|echo|local)\b.*\S$"
    # an assignment
    r"|[\w.$\[\]\"'@&*]++(?:, ?[\w.$@*]++)*+(?:: ?[\w.\[\], |]++)? ?(?:[-+*/|&%]|<<|\|\||:)?= ?\S"
    r"|[\w.$:]++[!?]?\()"  # a call
)
# looks like no statement
_SENTENCE = re.compile(r"\s*+(?:[A-Za-z][a-z'’]*,? ){4,}.*[a-z][.:,;]?\s*$")
_COMMENTS = ("#", "//", "/*", "*", "--", '"""', "'''")
_FENCE = "```"  # a text about code
_FEWEST = 3  # lines
_LONGEST_LINE = 300  # characters of a line that are examined
_NUMBER = re.compile(r"\s{0,8}(\d{1,7})( ?[:|│]|[\t→-]|  |$)")
# share of the lines with a number, one more than the line above, and the same separator after it
_NUMBERED = 0.6


class Code(LossyKind):
    """A source file or a part of one, with or without line numbers in front."""

    name = "code"

    def fit(self, text: str) -> float:
        """The share of the lines that look like statements, without comments."""
        lines = sampled(text).split("\n")
        sign = numbered(lines)
        bare = [_without_number(line, sign).strip()[:_LONGEST_LINE] for line in lines]
        said = [line for line in bare if line and not line.startswith(_COMMENTS)]
        if len(said) < _FEWEST or any(line.startswith(_FENCE) for line in said[1:]):
            return 0.0
        return sum(
            _CODE.match(line) is not None and not _SENTENCE.match(line) for line in said
        ) / len(said)

    def read(self, text: str) -> Reading:
        """The passages of any text, whose longer pieces keep more of the declarations."""
        return passages(text)


def _without_number(line: str, sign: str) -> str:
    number = _NUMBER.match(line) if sign else None
    return line[number.end() :] if number and number[2] in {sign, ""} else line


def numbered(lines: Sequence[str]) -> str:
    """The separator after a tool's line numbers; empty if the lines have no numbers."""
    found = [(match[1], match[2]) for line in lines if (match := _NUMBER.match(line))]
    signs = Counter(sign for _, sign in found if sign)
    if len(found) < 2 or not signs:
        return ""
    sign, _ = signs.most_common(1)[0]
    numbers = [int(number) for number, behind in found if behind in {sign, ""}]
    ascends = sum(other == one + 1 for one, other in pairwise(numbers))
    said = sum(bool(line.strip()) for line in lines)
    return sign if min(len(numbers), ascends + 1) >= _NUMBERED * said else ""
