"""Cutting a text or a talk into segments, and the segment itself. The pieces joined are what was cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from holdfast.text.fit import clip
from holdfast.text.sentences import sentences
from holdfast.text.words import terms

from .entities import entities
from .remembered import Remembered

VERBATIM, LIGHT, HEAVY = 0, 1, 2
"""Levels of compression (V.3): the original; what is extracted of it; facts alone."""

_PAUSE = 3_600.0  # seconds without a word, after which another talk begins
_AROUND = 4  # sentences on each side whose words are compared at a possible shift of the topic
_LEAST_SHARE = 0.25  # of the length a piece may have: topics do not shift more often
_LINE_LOSS = 2  # a cut within moves to the end of a line unless that costs more than one part in so many
_LONGEST_WORD = 200  # characters in which the end of a word is looked for
_LONG_TOKEN = 8  # characters: texts with longer tokens on the whole are rare, and are cut into shorter parts
_WORDS = (re.compile(r"\s(?=\S)"), re.compile(r"[^\w\s](?=\w)|[。，、；：！？]"))
"""What words end with; the second where there is no space."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the past, as V.3 lists it. Times are seconds since 1970 UTC, ``tokens`` the content's size.

    ``span`` are the characters that a piece of a split segment has of the one with the id ``origin``.
    """

    id: str
    content: str
    created: float
    tokens: int
    importance: float = 0.5
    level: int = VERBATIM
    accessed: float = -1.0
    access_count: int = 0
    pinned: bool = False
    origin: str = ""
    span: tuple[int, int] | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        if self.accessed < 0:
            object.__setattr__(self, "accessed", self.created)
        if not self.origin:
            object.__setattr__(self, "origin", self.id)


def by_turns(messages: Sequence[Remembered]) -> list[list[Remembered]]:
    """One piece a turn: from a user's message to the next."""
    return _cut(messages, lambda _, after: after.role == "user")


def by_time(messages: Sequence[Remembered], pause: float = _PAUSE) -> list[list[Remembered]]:
    """A new piece after each pause of more than so many seconds; unknown times do not cut."""
    return _cut(
        messages,
        lambda before, after: (
            before.said is not None and after.said is not None and abs(after.said - before.said) > pause
        ),
    )


def by_entities(messages: Sequence[Remembered]) -> list[list[Remembered]]:
    """A new piece where a message names something, and nothing of what the piece so far named."""
    pieces: list[list[Remembered]] = []
    known: set[str] = set()
    for message in messages:
        named = {entity.text for entity in entities(message.body)}
        if not pieces or (named and known and not named & known):
            pieces.append([])
            known = set()
        pieces[-1].append(message)
        known |= named
    return pieces


def at_topic_shifts(text: str, most: int, count: Callable[[str], int]) -> list[str]:
    """The text in pieces of at most ``most`` tokens, cut between sentences where the words change most.

    A sentence that is longer by itself is cut behind a line of it, or behind a word. Compares neighbouring blocks
    of sentences, as TextTiling does (Hearst, "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages",
    1997).
    """
    pieces = [part for sentence in sentences(text) for part in _no_longer(sentence, most, count)]
    sizes = [max(1, count(piece)) for piece in pieces]
    bags = [Counter(terms(piece)) for piece in pieces]
    found: list[str] = []
    start = 0
    while start < len(pieces):
        end = _end(start, sizes, bags, most)
        while end > start + 1 and (size := count("".join(pieces[start:end]))) > most:  # parts need not add up
            end = start + max(1, min(end - start - 1, (end - start) * most // size))
        found.append("".join(pieces[start:end]))
        start = end
    return found


def _end(start: int, sizes: Sequence[int], bags: Sequence[Counter[str]], most: int) -> int:
    """Where the piece that begins here ends: at the deepest change of words within its length."""
    total, reach = 0, start
    while reach < len(sizes) and (total := total + sizes[reach]) <= most:
        reach += 1
    if reach >= len(sizes):
        return reach
    least, spent = start + 1, sizes[start]
    while least < reach and spent < most * _LEAST_SHARE:
        spent += sizes[least]
        least += 1
    choices = range(least, max(reach, start + 1) + 1)
    return min(choices, key=lambda at: (_likeness(bags, at), -at), default=start + 1)


def _likeness(bags: Sequence[Counter[str]], at: int) -> float:
    """How many words the sentences before and after the place share, as a share of the smaller side."""
    before = set[str]().union(*bags[max(0, at - _AROUND) : at])
    after = set[str]().union(*bags[at : at + _AROUND])
    smaller = min(len(before), len(after))
    return len(before & after) / smaller if smaller else 0.0


def _no_longer(text: str, most: int, count: Callable[[str], int]) -> list[str]:
    """The text in parts of at most so many tokens; of what is left, only the beginning is ever looked at."""
    parts: list[str] = []
    at, reach = 0, _LONG_TOKEN * most + _LONGEST_WORD
    while at < len(text):
        rest = text[at : at + reach]
        head = clip(rest, most, count) or rest[:1]
        if at + len(head) < len(text):
            head = head[: _joint(rest, len(head))]
        parts.append(head)
        at += len(head)
    return parts


def _joint(text: str, size: int) -> int:
    """Where the last line ends within so many characters, or if that costs too much the last word; or the size."""
    line = text.rfind("\n", 0, size) + 1
    if line * _LINE_LOSS >= size:
        return line
    if text[size : size + 1].isspace():
        return size
    least = max(line, size - _LONGEST_WORD)
    ends = ([word.end() for word in end.finditer(text, least, size + 1) if word.end() <= size] for end in _WORDS)
    return next((found[-1] for found in ends if found), line or size)


def _cut(
    messages: Sequence[Remembered], apart: Callable[[Remembered, Remembered], bool]
) -> list[list[Remembered]]:
    pieces = [[message] for message in messages[:1]]
    for before, after in pairwise(messages):
        if apart(before, after):
            pieces.append([])
        pieces[-1].append(after)
    return pieces
