"""What a program adds to texts: openings with the name of what was called, and frames of messages.

Of openings such as ``Command search returned:`` each tool has another, and most are seen once or
twice: they are alike without the name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from string import punctuation
from typing import NamedTuple

from holdfast.text.words import masked

# times that a regularity must appear; in recorded runs 1 and 6 kept less
_FEWEST = 3
_NEARLY_ALL = 0.9  # share of the messages that have a frame, as of acts that are commands alone
OPENING = 60  # characters at the start of outputs that are compared
_CLOSING = ":>)]}：】"
"""Signs with which such an opening ends."""


class CalledName(NamedTuple):
    """What stands before and behind the name; empty if outputs have none."""

    before: str = ""
    behind: str = ""

    @property
    def opening(self) -> str:
        """The opening without a name."""
        return self.before + self.behind

    def left_out(self, text: str) -> str:
        """A text from its first letter on, without the name in its opening."""
        text = text.lstrip()
        if not self.behind or not text.startswith(self.before):
            return text
        start = len(self.before)
        name, found, _ = text[start:OPENING].partition(self.behind)
        is_one = found and name.split() == [name]
        return text[:start] + text[start + len(name) :] if is_one else text


UNNAMED = CalledName()


def named_in(exchanges: Sequence[tuple[str, str]]) -> CalledName:
    """What half of the answers have around a word of the act that they answer, which differs."""
    found = defaultdict[CalledName, list[str]](list)
    for act, answer in exchanges:
        line = answer.lstrip()[:OPENING].partition("\n")[0]
        for name in {word.strip(punctuation) for word in line.split()} - {""}:
            before, _, behind = line.partition(name)
            end = next((at for at, sign in enumerate(behind, 1) if sign in _CLOSING), 0)
            if end and name in act:
                found[CalledName(before, behind[:end])].append(name)
    least = max(_FEWEST, len(exchanges) / 2)
    often = [each for each, names in found.items() if len(names) >= least and len({*names}) > 1]
    return max(often, key=lambda each: len(found[each]), default=UNNAMED)


def frame_of(texts: Sequence[str]) -> str:
    """The first line that nearly all user messages have, the first too, below other lines."""
    if len(texts) < _FEWEST:
        return ""
    lines = dict.fromkeys(map(masked, texts[0].split("\n")[1:]))
    found: list[str] = [line for line in lines if any(map(str.isalpha, line))]
    lacking, spare = Counter[str](), (1 - _NEARLY_ALL) * len(texts)
    for text in texts[1:]:
        if not found:  # as nearly always, which is soon known
            break
        below = frozenset(map(masked, text.split("\n")[1:]))
        lacking.update(line for line in found if line not in below)
        found = [line for line in found if lacking[line] <= spare]
    return next(iter(found), "")
