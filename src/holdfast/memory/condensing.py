"""The warm and the cold form of a segment by rule: what is extracted of it, and facts alone.

Warm keeps the sentences that say most, each behind the name of who says it, and names what else was named. Cold
keeps relations, names and what is exact. Both are made of the original, never of each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.content import recognise
from holdfast.kernel.ports import Ask, Room
from holdfast.text.fit import choose
from holdfast.text.memo import Memo
from holdfast.text.question import Question
from holdfast.text.salience import order
from holdfast.text.sentences import sentences

from .entities import HEAD, RELATED, entities, relations
from .pleasantries import without_pleasantries
from .segments import HEAVY, LIGHT

Count = Callable[[str], int]

FACTORS = {LIGHT: (4.0, 3.2), HEAVY: (11.0, 8.2)}
"""By level how many times smaller a form aims to be, and is at least, so that what is named finds room.

V.2 wants 3:1 to 5:1 and 8:1 to 15:1.
"""

_TALK = frozenset({"prose", "dense"})  # other kinds of text are what tools returned, and know what they may lose
_SMALL = 24  # tokens that a form may always take: less names nothing
_MOST_SENTENCES = 2_000  # of a segment that are weighed against each other
_SPEAKER = re.compile(r"[^\W\d_][\w.'’ -]{0,40}: ")
_FACT = "Facts: "
_BRIEF = 160  # characters of a sentence that is a fact by itself
_NO_QUESTION = Question.of("")


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
    """Extracts for the warm tier, and lists facts for the cold one; outputs of tools are shrunk by their kind."""

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form of the level; the text itself where a form would not be smaller."""
        return _FORMS((text, level, count))


def _form(key: tuple[str, int, Count]) -> str:
    text, level, count = key
    size = count(text)
    aimed, _ = FACTORS[level]
    if size >= _SMALL and not HEAD.match(text) and (kind := recognise(text)).name not in _TALK:
        return kind.shrink(text, Room(int(size / aimed), count)).text
    told = _told(text)
    pieces = told if level == LIGHT else [*_facts(text), *(piece for piece in told if len(piece[1]) <= _BRIEF)]
    named = named_in(text)
    for room in (int(size / aimed), room_for(size, level)):
        form = _filled(pieces, named, room, count)
        if form:
            return form
    return _names_alone(named, room, count) or text


_FORMS: Memo[tuple[str, int, Count], str] = Memo(_form, lambda key, form: len(key[0]) + len(form), 8_000_000)
"""What is found rises and is demoted again: its form is made once."""


def named_in(text: str) -> list[str]:
    """What a form should name: the names of the text and what is exact in it."""
    return [entity.text for entity in entities(text, None) if entity.kind != "phrase"]


def room_for(size: int, level: int) -> int:
    """The most tokens that a form of a text of this size may take."""
    return max(int(size / FACTORS[level][1]), min(_SMALL, size - 1))


def with_names(form: str, named: Sequence[str]) -> str:
    """The form, and behind it what it does not name."""
    missing = [name for name in named if name not in form]
    if not missing:
        return form
    return f"{form}\nAlso: {', '.join(missing)}" if form else ", ".join(missing)


_Piece = tuple[str, str]
"""Who says it, ``_FACT`` where nobody does, and what is said."""


def _filled(pieces: Sequence[_Piece], named: Sequence[str], room: int, count: Count) -> str:
    """As many pieces as fit beside the names that they do not hold; empty if not even the names do."""

    def whole(kept: Sequence[int]) -> str:
        return with_names(_rendered([pieces[place] for place in kept]), named)

    if count(whole(())) > room:
        return ""
    ranked = order([text for _, text in pieces], _NO_QUESTION, most=_MOST_SENTENCES)
    chosen = choose(ranked, [len(text) for _, text in pieces], whole, room, count)
    return chosen.text if chosen else whole(())


def _told(text: str) -> list[_Piece]:
    """The telling sentences, each with who says it."""
    found: list[_Piece] = []
    for line in text.split("\n"):
        match = _SPEAKER.match(line)
        speaker = match.group() if match else ""
        bare = without_pleasantries(line[len(speaker) :])
        found += [(speaker, sentence.strip()) for sentence in sentences(bare) if sentence.strip()]
    return found


def _rendered(pieces: Sequence[_Piece]) -> str:
    """The pieces in their order, the speaker where another speaks."""
    lines: list[str] = []
    before: str | None = None
    for speaker, sentence in pieces:
        if lines and speaker == before:
            lines[-1] += f"; {sentence}" if speaker == _FACT else f" {sentence}"
        else:
            lines.append(speaker + sentence)
        before = speaker
    return "\n".join(lines)


def _facts(text: str) -> list[_Piece]:
    """The relations of the text as short phrases."""
    return [
        (_FACT, f"{found.subject} {found.verb} {found.object}")
        for found in relations(text, None)
        if found.verb != RELATED
    ]


def _names_alone(named: Sequence[str], room: int, count: Count) -> str:
    """As many of the names as fit, in their order: the short ones leave room for others."""
    kept: set[int] = set()
    left = room
    for place in sorted(range(len(named)), key=lambda place: (len(named[place]), place)):
        left -= count(f", {named[place]}")
        if left < 0:
            break
        kept.add(place)
    return ", ".join(named[place] for place in sorted(kept))
