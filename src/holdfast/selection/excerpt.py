"""The pieces of one text that fit a room: the best of them in their order, what is left out named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.question import Question

from .order import ordered
from .pieces import Piece, Reading
from .things import quoted, things
from .weights import table, worth_in_one_text

_SEAM = 8  # characters that a piece costs beside its text: its line break, and now and then the mark of a gap
_MOST = 8  # characters a token, in the order that is looked at
_VARIABLE = re.compile(r"\d+|0x[0-9a-f]+")


def form(text: str) -> str:
    """The text without its numbers: pieces of one form report the same kind of event."""
    return _VARIABLE.sub("0", text)


def tells_of(pieces: Sequence[Piece]) -> list[list[str]]:
    """The things of each piece, with those that its kind named and its form."""
    return [[*things(piece.text), *piece.things, f"form {form(piece.text)}"] for piece in pieces]


def asked_for(question: str, texts: Sequence[str]) -> list[float]:
    """What each text answers of the question, as a share of the best answer; no question asks nothing."""
    if not question:
        return [0.0] * len(texts)
    answers = [sum(terms.values()) for terms in Question.of(question).answers(texts)]
    best = max(answers, default=0.0)
    return [answer / best for answer in answers] if best else [0.0] * len(texts)


def excerpt(reading: Reading, room: Room, worth: Mapping[str, float] | None = None) -> fit.Choice | None:
    """As many of the best pieces as fit, or None if not even one does.

    ``worth`` is that of the things in the conversation; without one the text stands alone.
    """
    pieces = reading.pieces
    tells = tells_of(pieces)
    values = dict(worth or _alone(pieces, tells))
    weights = table()
    for told in tells:
        values[told[-1]] = weights.form
    asked = asked_for(room.question, [piece.text for piece in pieces])
    costs = [float(len(piece.text) + _SEAM) for piece in pieces]
    bonus = [weights.asked * share for share in asked]
    order = ordered(pieces, tells, costs, values, again=weights.again, bonus=bonus, enough=room.tokens * _MOST)
    sizes = [len(piece.text) + _SEAM for piece in pieces]
    return fit.choose(order, sizes, writer(reading), room.tokens, room.count)


def writer(reading: Reading) -> Callable[[Sequence[int]], str]:
    """How the chosen pieces, ascending, are written: one below the other, each gap named."""

    def written(chosen: Sequence[int]) -> str:
        lines: list[str] = []
        reached = 0
        for number in chosen:
            piece = reading.pieces[number]
            lines += gap(piece.at - reached, reading.unit)
            lines.append(piece.text)
            reached = max(reached, piece.at + piece.units)
        return "\n".join([*lines, *gap(reading.total - reached, reading.unit)])

    return written


def gap(units: int, unit: str) -> list[str]:
    """The line that stands for so many units; none where nothing is missing."""
    if units <= 0 or not unit:
        return []
    return [f"… {units:,} {unit}{'s' if units > 1 else ''} …"]


def _alone(pieces: Sequence[Piece], tells: Sequence[Sequence[str]]) -> dict[str, float]:
    marked: set[str] = set()
    for piece in pieces:
        marked |= quoted(piece.text)
    found = dict.fromkeys(thing for told in tells for thing in told)
    return worth_in_one_text(found, marked, len(found))
