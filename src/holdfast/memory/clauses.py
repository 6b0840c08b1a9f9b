"""What a text says, in pieces that can stand alone: who says it, and a sentence, a clause or a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from holdfast.content import recognise
from holdfast.kernel.ports import Room
from holdfast.text.sentences import sentences
from holdfast.text.words import STOP_WORDS, words

from .entities import HEAD
from .pleasantries import COURTESY, without_pleasantries

Count = Callable[[str], int]
Piece = tuple[str, str]
"""The name of who says it, with a colon, empty where nobody is named; and what is said."""

TALK = frozenset({"prose", "dense"})
"""Other kinds of text are what tools returned, and know what they may lose."""

_SPEAKER = re.compile(r"[^\W\d_][\w.'’ -]{0,40}: ")
_FENCED = re.compile(r"^[ \t]{0,3}```[^\n]*\n(.*?)(?:^[ \t]{0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_OUTPUT = 600  # characters from which on what is fenced is read by its kind
_LEFT_OUT = ("…", "[…", "[columns left out")  # what a short form of an output says of itself
_MARK = re.compile(r"^(?:[-*+•>|]|#{1,6}|```\w*|~~~\w*)(?=\s|$)\s*|\|$|\*\*|([^\w\s.])(?:\s?\1){3,}")
_SPACE = re.compile(r"\s+")
_LONG = 60  # characters from which on a sentence is taken apart
_LEAST_WORDS = 3  # of a clause
_JOINT = re.compile(
    r"(?<=[,;:])\s(?!\d)|\s[-–—]+\s|\s(?=because\s)"
    r"|\s(?=(?:and|but|so) (?:I|we|you|he|she|it|they|this|that|there|the|then)\b)"
)
_BRIEF = 20  # characters of a sentence that may be of one word, which says nothing without what it answers
_EXACT = re.compile(r"\d|(?<=\w )[A-Z]|[A-Z]{2}")
_OPENER = re.compile(r"^(?:and|but|so)\s", re.IGNORECASE)
_SPOKEN = re.compile(  # only from where a word begins, and never back into one: a long word is read once
    r"(?:^|(?<![^\W\d_])[^\W\d_]++,? )(?:[^\W\d_]++,? ){2}[^\W\d_]++[.?!:,](?:\s|$)"
)
_ENDS = 600  # characters of an output in which somebody may say something of it
_EDGES = " ,;:–—-"
_WORD = re.compile(r"[^\W\d_]{2,}")
_ROW, _LEAST_SPOKEN, _UNSPOKEN = 4, 0.5, 0.3
"""The tokens of a row, the share of words that reads well, and what a row with fewer is worth."""


def opened(text: str) -> tuple[str, str]:
    """The name before the one thing that the text is, and what may be an output; empty for what somebody says."""
    head = HEAD.match(text)
    if head is None:
        return "", text
    output = text[head.end() :]
    talked = HEAD.search(output) or any(map(_SPOKEN.search, (output[:_ENDS], output[-_ENDS:])))
    return head.group(), "" if talked else output


def told(text: str, factor: float, count: Count) -> list[Piece]:
    """The telling sentences and lines, each with who says it; what is fenced is read by its kind."""
    heads = HEAD if HEAD.search(text) else _SPEAKER
    lines = _FENCED.sub(lambda fenced: _read(fenced[1], factor, count), text).split("\n")
    opened = [heads.match(line) for line in lines]
    speakers = frozenset(word for head in opened if head for word in words(head.group()))
    found: list[Piece] = []
    speaker = ""
    for line, head in zip(lines, opened, strict=True):
        speaker = head.group() if head else speaker
        bare = without_pleasantries(line[head.end() if head else 0 :], speakers)
        found += [(speaker, said) for sentence in sentences(bare) if (said := _plain(sentence))]
    return found


def clauses(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, those that are long taken apart where a clause ends."""
    return [(speaker, clause) for speaker, said in pieces for clause in _clauses(said)]


def rendered(pieces: Sequence[Piece]) -> str:
    """The pieces in their order, the speaker where another speaks."""
    lines: list[str] = []
    before: str | None = None
    for speaker, said in pieces:
        if lines and speaker == before:
            lines[-1] += f" {said}" if not lines[-1][-1].isalnum() else f"; {said}"
        else:
            lines.append(speaker + said)
        before = speaker
    return "\n".join(lines)


def readable(said: str) -> float:
    """How much a piece is worth as reading: a row of numbers says little without its table."""
    tokens = said.split()
    spoken = sum(map(bool, map(_WORD.search, tokens)))
    return 1.0 if len(tokens) < _ROW or spoken >= _LEAST_SPOKEN * len(tokens) else _UNSPOKEN


def _read(output: str, factor: float, count: Count) -> str:
    kind = recognise(output) if len(output) > _OUTPUT else None
    if kind is None or kind.name in TALK:
        return output
    lines = kind.shrink(output, Room(max(1, int(count(output) / factor)), count)).text.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith((*_LEFT_OUT, f"[{kind.name},")))


def _plain(sentence: str) -> str:
    """The sentence without the marks of a list, a heading or a table; empty where it says nothing by itself."""
    said = _SPACE.sub(" ", _MARK.sub("", sentence.strip())).strip()
    if not any(map(str.isalpha, said)):
        return ""
    if len(said) >= _BRIEF or _EXACT.search(said):
        return said
    telling = [word for word in words(said) if word not in STOP_WORDS and word not in COURTESY]
    return said if len(telling) > 1 else ""


def _clauses(said: str) -> list[str]:
    if len(said) <= _LONG or said.startswith("["):
        return [said]
    cuts = [0]
    for joint in _JOINT.finditer(said):
        if len(said[cuts[-1] : joint.start()].split()) >= _LEAST_WORDS:
            cuts.append(joint.end())
    if len(cuts) > 1 and len(said[cuts[-1] :].split()) < _LEAST_WORDS:
        cuts.pop()
    return [_OPENER.sub("", said[one:other].strip(_EDGES)) for one, other in pairwise((*cuts, len(said)))]
