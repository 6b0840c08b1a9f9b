"""The warm and the cold form of a segment by rule: what is extracted of it, and facts alone.

Warm keeps the sentences that say most, cold clauses of them, each behind the name of who says it. What else was
named stands behind them, as far as there is room. Both are made of the original, never of each other.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.kernel.forks import cached_property
from holdfast.kernel.ports import Ask, Room
from holdfast.text.fit import choose
from holdfast.text.memo import Memo

from .clauses import TALK, Count, Piece, clauses, opened, readable, rendered, told
from .mentions import completed, named_in, with_names
from .order import order
from .segments import HEAVY, LIGHT

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""By level how many times smaller a form aims to be, and is at least, so that what is named finds room.

V.2 wants 3:1 to 5:1 and 8:1 to 15:1.
"""

KEPT = {LIGHT: 0.95, HEAVY: 0.80}
"""The share of what the text names that a form should name too."""

_SMALL = 24  # tokens that a form may always take: less names nothing
_SAID = 0.35  # share of a form that is said in words at least, if all that is named stands beside it
_LISTED, _MANY, _TABLED = (0.6, 0.8), 2, (0.3,)
"""The share that a list of names has where that cannot be, until enough is named; and where they are so many forms
full, for then they are the cells of tables."""


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
    """Extracts sentences for the warm tier, clauses for the cold one; outputs are shrunk by their kind."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form of the level; the text itself where a form would not be smaller."""
        return _FORMS((text, level, count))


def _form(key: tuple[str, int, Count]) -> str:
    text, level, count = key
    size = count(text)
    aimed, _ = FACTORS[level]
    head, output = opened(text)
    if size >= _SMALL and output and (kind := recognise(output)).name not in TALK:
        return head + kind.shrink(output, Room(max(1, int(size / aimed) - count(head)), count)).text
    pieces = told(text, aimed, count)
    short, named, most = clauses(pieces), named_in(text), room_for(size, level)
    brief = _Said(short)
    whole = brief if level == HEAVY else _Said(pieces)
    names = count(with_names("", named))
    for room in (int(size / aimed), most):
        form = _filled(whole, named, room, count) if names <= room else ""
        if form and count(form) >= _SAID * room:
            return with_names(form, named)
    made = ""
    for share in _LISTED if names <= _MANY * most else _TABLED:
        rooms = (most - int(share * most), most)
        tries = (_filled(said, {}, room, count) for room in rooms for said in (whole, brief))
        form = next(filter(None, tries), "")
        made = completed(form, named, most, count)
        if sum(name in made for name in named) >= KEPT[level] * len(named):
            break
    return made if made and count(made) <= size else text


_FORMS: Memo[tuple[str, int, Count], str] = Memo(_form, lambda key, form: len(key[0]) + len(form), 8_000_000)
"""What is found rises and is demoted again: its form is made once."""


def room_for(size: int, level: int) -> int:
    """The most tokens that a form of a text of this size may take."""
    return max(int(size / FACTORS[level][1]), min(_SMALL, size - 1))


@dataclass(frozen=True)
class _Said:
    """Pieces, and their numbers in the order of what they tell."""

    pieces: Sequence[Piece]

    @cached_property
    def texts(self) -> Sequence[str]:
        return [text for _, text in self.pieces]

    @cached_property
    def ranked(self) -> Sequence[int]:
        if len(self.texts) < 2:
            return range(len(self.texts))
        weights = list(map(readable, self.texts))
        return order(self.texts, weights=weights)


def _filled(said: _Said, named: Mapping[str, str], room: int, count: Count) -> str:
    """As many pieces as fit beside the names that they do not hold; empty if not even one does."""
    pieces = said.pieces

    def alone(kept: Sequence[int]) -> str:
        return rendered([pieces[place] for place in kept])

    def beside(kept: Sequence[int]) -> str:
        return with_names(alone(kept), named)

    chosen = choose(said.ranked, list(map(len, said.texts)), beside, room, count)
    return alone(chosen.pieces) if chosen else ""
