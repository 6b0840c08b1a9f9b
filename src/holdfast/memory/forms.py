"""The warm and the cold form of a segment by rule: what is extracted of it, and facts alone.

Warm keeps the sentences that say most, cold clauses of them, each behind the name of who says it.
What else was named stands behind them, as far as there is room. Both are made of the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.content.order import order
from holdfast.kernel.ports import Ask, Room
from holdfast.selection.pieces import clauses
from holdfast.text.fit import choose
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences

from .entities import HEAD, completed, named_in, telling, with_names

VERBATIM, LIGHT, HEAVY = 0, 1, 2
"""Levels of compression (V.3): the original; what is extracted of it; facts alone."""

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""By level how many times smaller a form aims to be, and is at least, so that names find room.

V.2 wants 3:1 to 5:1 and 8:1 to 15:1.
"""

KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""The share of what the text names that a form should name too."""

Count = Callable[[str], int]
Said = tuple[str, str]
"""The name of who says it, with a colon, empty where nobody is named; and what is said."""

_SMALL = 24  # tokens that a form may always take: less names nothing
_SAID = (
    0.35  # share of a form that is said in words at least, if all that is named stands beside it
)
_LISTED = (
    0.6,
    0.8,
)  # the share that a list of names has where that cannot be, until enough is named
_TALK = frozenset({"prose", "dense"})  # other kinds are what tools returned
_OUTPUT = 600  # characters from which on what is fenced is read by its kind
_CLAUSE = 80  # characters of a clause
_BRIEF = 20  # characters of a sentence that may be of one word, which says nothing by itself
_ROW, _UNSPOKEN = 4, 0.3  # tokens of a row, and what one of numbers is worth without its table
_SPEAKER = re.compile(r"[^\W\d_][\w.'’ -]{0,40}: ")
_FENCED = re.compile(
    r"^[ \t]{0,3}```[^\n]*\n(.*?)(?:^[ \t]{0,3}```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_MARK = re.compile(r"^(?:[-*+•>|]|#{1,6}|```\w*|~~~\w*)(?=\s|$)\s*|\|$|\*\*")
_EXACT = re.compile(r"\d|(?<=\w )[A-Z]|[A-Z]{2}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_EDGES = " ,;:–—-"


class Condenser(Protocol):
    """Makes the warm or the cold form of a text."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form of the level, in fewer tokens than the text."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """A form that was asked for; where it was refused, why, and the text is that of the rule."""

    text: str
    refused: str = ""
    asked: bool = True
    """False where the text is too short to be worth a request: then it is that of the rule too."""


@runtime_checkable
class AskingCondenser(Condenser, Protocol):
    """A condenser whose own form has to be asked for; ``condense`` is what stands until then."""

    def asking(self, text: str, level: int, count: Count) -> Generator[Ask[object], Any, Form]:
        """The form of the level. Raises ModelError where there is no answer."""
        ...


@dataclass(frozen=True, slots=True)
class RuleCondenser:
    """Extracts sentences for warm, clauses for cold; outputs are shrunk by their kind."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form of the level; the text itself where a form would not be smaller."""
        return _FORMS((text, level, count))


def room_for(size: int, level: int) -> int:
    """The most tokens that a form of a text of this size may take."""
    return max(int(size / FACTORS[level][1]), min(_SMALL, size - 1))


def _form(key: tuple[str, int, Count]) -> str:
    text, level, count = key
    size, aimed = count(text), FACTORS[level][0]
    head = HEAD.match(text)
    start = head.end() if head else 0
    if size >= _SMALL and not HEAD.search(text, start):
        kind = recognise(text[start:])
        if kind.name not in _TALK:
            left = max(1, int(size / aimed) - count(text[:start]))
            return text[:start] + kind.shrink(text[start:], Room(left, count)).text
    told = _told(text, aimed, count)
    if level == HEAVY:
        told = [(by, part.strip(_EDGES)) for by, said in told for part in clauses(said, _CLAUSE)]
    named, most = named_in(text), room_for(size, level)
    ranked = ranked_by_worth([said for _, said in told])
    sizes = [len(said) for _, said in told]
    tries = [(int(size / aimed), named), (most, named)]
    tries += [(int(most * (1 - share)), {}) for share in _LISTED]
    made = ""
    for room, listed in tries:

        def written(kept: Sequence[int], listed: Mapping[str, str] = listed) -> str:
            return with_names(_rendered(told[n] for n in kept), listed)

        chosen = choose(ranked, sizes, written, room, count)
        said = _rendered(told[n] for n in chosen.pieces) if chosen else ""
        if listed and count(said) < _SAID * room:
            continue
        made = completed(said, named, most, count)
        if sum(name in made for name in named) >= KEPT[level] * len(named):
            break
    return made if made and count(made) <= size else text


_FORMS: Memo[tuple[str, int, Count], str] = Memo(
    _form, lambda key, form: len(key[0]) + len(form), 8_000_000
)
"""What is found rises and is demoted again: its form is made once."""


def ranked_by_worth(texts: Sequence[str], question: str = "") -> list[int]:
    """The numbers of the pieces, first those that are readable and tell something new.

    And what answers the question.
    """
    return order(texts, question, [_readable(text) for text in texts], decisions=False)


def _told(text: str, factor: float, count: Count) -> list[Said]:
    """The sentences and lines, each with who says it; what is fenced is read by its kind."""

    def read(fenced: re.Match[str]) -> str:
        output = fenced[1]
        kind = recognise(output) if len(output) > _OUTPUT else None
        if kind is None or kind.name in _TALK:
            return output
        return kind.shrink(output, Room(max(1, int(count(output) / factor)), count)).text

    heads = HEAD if HEAD.search(text) else _SPEAKER
    found: list[Said] = []
    speaker = ""
    for line in _FENCED.sub(read, text).split("\n"):
        head = heads.match(line)
        speaker = head.group() if head else speaker
        for sentence in sentences(line[head.end() if head else 0 :]):
            said = " ".join(_MARK.sub("", sentence.strip()).split())
            if _says_something(said):
                found.append((speaker, said))
    return found


def _says_something(said: str) -> bool:
    if len(said) >= _BRIEF or _EXACT.search(said):
        return any(map(str.isalpha, said))
    return len(telling(said)) > 1


def _rendered(told: Iterable[Said]) -> str:
    """The pieces in order, with the speaker's name wherever the speaker changes."""
    lines: list[str] = []
    before: str | None = None
    for speaker, said in told:
        if lines and speaker == before:
            lines[-1] += f" {said}" if not lines[-1][-1].isalnum() else f"; {said}"
        else:
            lines.append(speaker + said)
        before = speaker
    return "\n".join(lines)


def _readable(said: str) -> float:
    """How much a piece is worth as reading: a row of numbers says little without its table."""
    tokens = said.split()
    spoken = sum(map(bool, map(_WORD.search, tokens)))
    return 1.0 if len(tokens) < _ROW or 2 * spoken >= len(tokens) else _UNSPOKEN
