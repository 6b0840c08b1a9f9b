"""What was said and done, as lines of atoms: a message of words, or a call with what it gave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, cast

from holdfast.content.structured.values import DECODER, Value, parse
from holdfast.text.facts import facts
from holdfast.text.memo import Memo
from holdfast.text.sentences import sentences

from .atoms import Atom, Group, Line
from .outputs import telling
from .records import atoms_of

_MARKS = re.compile(r"^[ \t]{0,12}(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+|#{1,6}[ \t]+)|\*\*|`", re.MULTILINE)
_MARKED = re.compile(r"[-*+•#`]|\d[.)]")  # what has none of these has no mark
_SPEAKER = re.compile(r"(user|assistant|system): ")
_ARGUMENTS = Group("", ", ", 1)
_RESULT = Group("", ", ", 2)
_TEXT = Group("", " ", 3)
_LINES = Group("", " | ", 4)
_SHORT = 60  # characters of an argument that opens the line of its call
_LONG = 1_200  # characters of an output of one line, beyond which its kind says what of it matters
_SPEECH, _ENDS = 6_000, 2_000  # characters of a message beyond which its ends are read by sentences
_SENTENCE = 400  # characters of a sentence
_MOST_ATOMS = 600  # of a document
_USER = 3.0  # what the words of a user are worth, against those of the assistant
_SAID, _LENGTH, _LONGEST = 0.2, 0.03, 100  # worth of any sentence, of each character, and of how many at most
_HAPPENED = 1.0  # worth of knowing that a call was made, where its arguments say which


class Words(NamedTuple):
    """What somebody said."""

    role: str
    text: str


class Exchange(NamedTuple):
    """A call and what it gave; None while there is no result."""

    name: str
    arguments: str
    result: str | None


class Older(NamedTuple):
    """A line of an older digest."""

    text: str


Saying = Words | Exchange | Older


def _speech(said: Words) -> Line:
    weight = _USER if said.role == "user" else 1.0
    text = said.text
    before: list[Atom] = []
    if len(text) > _SPEECH:  # something was pasted: what is said about it stands before or behind it
        before = [*_spoken(text[:_ENDS], weight, ()), *_reading(text[_ENDS:-_ENDS], ())]
        text = text[-_ENDS:]
    return Line(f"{said.role}:", (*before, *_spoken(text, weight, ())))


def _spoken(text: str, weight: float, path: tuple[Group, ...]) -> Iterator[Atom]:
    for sentence in sentences(text):
        bare = _MARKS.sub("", sentence) if _MARKED.search(sentence) else sentence
        said = _short(" ".join(bare.split()))
        if said:
            yield _said(said, weight, path)


def _short(said: str) -> str:
    return said if len(said) <= _SENTENCE else f"{said[:_SENTENCE].rsplit(' ', 1)[0]}…"


def _said(said: str, weight: float, path: tuple[Group, ...]) -> Atom:
    found = facts(said)
    worth = _SAID + _LENGTH * min(len(said), _LONGEST) + found.worth
    return Atom(said, weight * worth, len(said) + 1, "", found.things, path, firm=found.told / worth)


def _exchange(made: Exchange) -> Line:
    arguments = list(_document(made.arguments)) if made.arguments.strip() not in ("", "{}") else []
    opening = [atom for atom in arguments if len(atom.path) == 1 and atom.size <= _SHORT]
    rest = [atom for atom in arguments if len(atom.path) > 1 or atom.size > _SHORT]
    result = _result(made.result) if made.result is not None else []
    told = ", ".join(atom.text for atom in opening)
    label = f"{made.name}({told})" if told or not rest else f"{made.name}:"
    worth = sum(atom.worth for atom in opening) + (_HAPPENED if opening or not rest else 0.0)
    things = frozenset(thing for atom in opening for thing in atom.things)
    return Line(label, (*rest, *result), " → ", worth, things)


def _document(text: str) -> Iterator[Atom]:
    values, rest = _parsed(text)
    yield from islice((atom for value in values for atom in atoms_of(value, (_ARGUMENTS,))), _MOST_ATOMS)
    yield from _spoken(rest, 1.0, (_ARGUMENTS,))


def _result(text: str) -> list[Atom]:
    values, rest = _parsed(text)
    atoms = list(islice((atom for value in values for atom in atoms_of(value, (_RESULT,))), _MOST_ATOMS))
    atoms += _reading(rest, ()) if len(rest) > _LONG or "\n" in rest.strip() else _spoken(rest, 1.0, (_TEXT,))
    return atoms or [Atom("nothing", _SAID, 8, "", (), (_TEXT,))]


def _parsed(text: str) -> tuple[list[Value], str]:
    """The JSON documents that the text begins with, and what stands behind them."""
    try:
        return parse(text), ""
    except ValueError:
        pass
    opened = text.lstrip()
    if opened.startswith(("{", "[")):
        try:
            value, end = cast("tuple[Value, int]", DECODER.raw_decode(opened))
        except (ValueError, RecursionError):
            return [], text
        return [value], opened[end:]
    return [], text


def _reading(text: str, path: tuple[Group, ...]) -> Iterator[Atom]:
    """The lines that the kind of the text holds for the most telling, those of one file together."""
    for line in telling(text):
        if line.spoken:
            yield from _spoken(line.text, 1.0, (*path, _TEXT))
        else:
            said = _short(" ".join(line.text.split()))
            within = (*path, _LINES, Group(line.file, " | ")) if line.file else (*path, _LINES)
            yield _said(said, 1.0, within)


def _older(line: Older) -> Line:
    spoken = _SPEAKER.match(line.text)
    if spoken:
        return _speech(Words(spoken[1], line.text[spoken.end() :]))
    return Line("", (_said(line.text, 1.0, ()),))


def _size(saying: Saying, line: Line) -> int:
    del line
    return sum(len(part) for part in saying if part)


def _line_of(saying: Saying) -> Line:
    if isinstance(saying, Words):
        return _speech(saying)
    return _exchange(saying) if isinstance(saying, Exchange) else _older(saying)


_line: Memo[Saying, Line] = Memo(_line_of, _size, 16_000_000)


def line_of(saying: Saying) -> Line:
    """The line of a saying, worked out once for the same words."""
    return _line(saying)
