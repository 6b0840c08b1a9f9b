"""What a user chooses, so that a later choice that names what it stands in for can be seen to take it back.

Read narrowly on purpose, as statements are: one plain sentence with one thing in it. ``Use spaces`` takes nothing
back, for who says so may want tabs too; ``Use spaces instead of tabs`` takes back ``Use tabs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile

from holdfast.text.statements import Statement

KIND = "choice"
_USE = "use "  # how the subject of a choice begins
_EDGES = ",.!\"'`*“”‘’()"
_LONGEST = 160  # characters of a sentence
_MOST_WORDS = 3  # of a thing
_OPENERS = frozenset(
    """
    please actually no sorry ok okay now then so well hmm oh wait and but just always rather let's let’s we i you
    should will i'd i’d we'll we’ll
    """.split()
)
_CORRECTS = frozenset("actually no sorry oh rather wait".split())
_VERBS = frozenset("use prefer choose pick take".split())
_PARTICLES = {"go": "with", "stick": "with", "switch": "to"}
_ARTICLES = frozenset("a an the".split())
_CLOSERS = frozenset("instead now please again".split())
_LIMITS = frozenset("for in on at with when while if unless during within under inside as by to from of".split())
_NO_THING = frozenset(
    """
    it this that these those them one ones both and or not either neither any all some more less same other another
    every each my your our his her their what which whatever something anything nothing care
    """.split()
)


@lru_cache(maxsize=1 << 12)
def choices(sentence: str) -> tuple[Statement, ...]:
    """What the sentence chooses, as a statement about what it takes the place of, and one about itself."""
    if len(sentence) > _LONGEST or sentence.endswith("?"):
        return ()
    words = sentence.split()
    low = [word.strip(_EDGES).lower() for word in words]
    start = _start(low)
    if start == 0 or any(word[-1] in ";:" for word in words):
        return ()
    over, end = _over(words, low, start)
    chosen, limited = _thing(words[start:over], low[start:over])
    other, also = _thing(words[end:], low[end:]) if end < len(low) else ("", False)
    if not chosen or (end < len(low) and not other):
        return ()
    itself = Statement(f"{_USE}{chosen}", KIND, chosen, corrects=False)
    corrects = (
        not _CORRECTS.isdisjoint(low[:start]) or "instead" in low or low[start - 2 : start] == ["switch", "to"]
    )
    if limited or also or not (other or corrects):
        return (itself,)
    return Statement(f"{_USE}{other}" if other else "", KIND, chosen, corrects=True), itself


def given_up(choice: Statement) -> str:
    """What the choice takes the place of, in lower case; empty where it does not name it."""
    return choice.subject.removeprefix(_USE) if choice.kind == KIND and choice.corrects else ""


def _start(low: Sequence[str]) -> int:
    """Where the thing that is chosen begins; 0 where nothing is."""
    at = len(low) - len(list(dropwhile(_OPENERS.__contains__, low)))
    if at < len(low) and low[at] in _VERBS:
        return at + 1
    return at + 2 if at + 1 < len(low) and _PARTICLES.get(low[at]) == low[at + 1] else 0


def _over(words: Sequence[str], low: Sequence[str], start: int) -> tuple[int, int]:
    """Where the thing that is chosen ends, and where that begins which it takes the place of."""
    for at in range(start + 1, len(low) - 1):
        if low[at : at + 2] in (["instead", "of"], ["rather", "than"]):
            return at, at + 2
        if low[at] == "not" and words[at - 1][-1] == ",":
            return at, at + 1
    return len(low), len(low)


def _thing(words: Sequence[str], low: Sequence[str]) -> tuple[str, bool]:
    """The one thing that the words name, empty if they may name more or nothing; and whether it is limited."""
    named = list(takewhile(lambda word: word not in _LIMITS, low))
    limited = len(named) < len(low)
    while named and named[-1] in _CLOSERS:
        named.pop()
    is_list = any(word[-1] == "," for word in words[: max(len(named) - 1, 0)])
    thing = [word for word in named if word not in _ARTICLES]
    if is_list or not 0 < len(thing) <= _MOST_WORDS or not _NO_THING.isdisjoint(thing) or not all(thing):
        return "", limited
    return " ".join(thing), limited
