"""The best pieces of one text that fit a room, in their order, with gaps named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.importance import alarm, signals
from holdfast.text.question import Question, Term
from holdfast.text.words import DIGITS

from .order import MOST, ordered, pattern, picked, shortlist, with_context
from .pieces import SEAM, Piece, Reading
from .things import form, quoted, things
from .weights import table, worth_in_one_text, worth_of_form

_MOST = 8  # characters per token of the candidates that are ranked
_TELLING = 0.1  # share of the best answer; below it, a piece adds nothing to its neighbours
_FEW = 12  # pieces with a term of the question; if more have it, it does not distinguish them
_RARE = 0.03  # share of many pieces that are few, too
_NEAR = 30  # pieces before and after an answer, as many as a long record has
_APART = 0.3  # share of the value of being near an answer that is left in another block


class Valued(NamedTuple):
    """What a question adds: things in pieces, their value, and a bonus for each piece."""

    tells: list[list[str]]
    worth: dict[str, float]
    bonus: list[float]


def valued(
    pieces: Sequence[Piece], question: str, share: float, kinds: float = 1.0, alone: bool = True
) -> Valued:
    """The value of the pieces: of their events and patterns, and of their answer to the question.

    ``share`` is the value of the best answer; an answer to the caller's question is worth more than
    one to a guessed question. ``kinds`` scales the value of an event's kind: in a conversation
    kinds compete with names that were used. ``alone``: the pieces are from one text, so that
    failures count in full, and being near an answer counts.
    """
    weights = table()
    failure = weights.failure * (1.0 if alone else kinds)
    worth: dict[str, float] = {}
    tells: list[list[str]] = []
    for piece in pieces:
        named = list(piece.things)
        if not named and alone:
            named = [pattern(piece)]
        fresh = [thing for thing in named if thing not in worth]
        if fresh:
            usual = kinds * (weights.named if piece.things else weights.pattern)
            worth.update(dict.fromkeys(fresh, max(usual, failure * alarm(piece.text))))
        tells.append(named)
    answers = _answers(question, pieces, alone)
    holders = Counter(term for terms in answers for term in terms)
    few = max(_FEW, _RARE * len(pieces))
    for number, (told, terms) in enumerate(zip(tells, answers, strict=True)):
        of = told[-1] if told else number
        said = {
            f"{t} in {of if holders[t] <= few else 'many'}": share * part
            for t, part in terms.items()
        }
        told.extend(said)
        worth.update(said)
    near = _beside(pieces, answers, holders) if alone else [0.0] * len(pieces)
    return Valued(tells, worth, [share * weights.beside * each for each in near])


def _answers(question: str, pieces: Sequence[Piece], alone: bool) -> list[dict[str, float]]:
    """How well each piece answers the question, with its heading, for each term that it has.

    In one text, it is a share of the best answer; a term that nearly all pieces have makes none the
    best. In a conversation it is a share of all that the pieces answer: a long message is not a
    question that one of them answers.
    """
    if not question:
        return [{} for _ in pieces]
    found = Question.of(question).answers(
        [piece.text for piece in pieces], [piece.under for piece in pieces]
    )
    best: dict[Term, float] = {}
    for terms in found:
        for term, part in terms.items():
            best[term] = max(part, best.get(term, 0.0))
    if alone:
        heaviest = max((term.weight for term in best), default=0.0)
        most = max([heaviest, *(sum(terms.values()) for terms in found)])
    else:
        most = sum(best.values())
    return [{term.needle: part / most for term, part in terms.items() if most} for terms in found]


def _beside(
    pieces: Sequence[Piece], answers: Sequence[Mapping[str, float]], holders: Mapping[str, int]
) -> list[float]:
    """The value of being near the few pieces that answer, most of all in the same block."""
    worth = [0.0] * len(pieces)
    for at, terms in enumerate(answers):
        own = sum(part / holders[term] for term, part in terms.items())
        if own < _TELLING:
            continue
        root = with_context(pieces, at)[0]
        for other in range(max(0, at - _NEAR), min(len(pieces), at + _NEAR + 1)):
            same = with_context(pieces, other)[0] == root
            near = own * (1 - abs(other - at) / _NEAR) * (1.0 if same else _APART)
            worth[other] = max(worth[other], near)
    return worth


def excerpt(reading: Reading, room: Room) -> fit.Pick | None:
    """As many of the best pieces as fit, or None if not even one does."""
    some = shortlist(reading.pieces, room.tokens * MOST, room.question)
    pieces = picked(reading.pieces, some)
    costs = [piece.cost for piece in pieces]
    order = _ranked(pieces, room.question, costs, [0.0] * len(pieces), room.tokens * _MOST)
    write = writer(reading)

    def text(chosen: Sequence[int]) -> str:
        return write([some[place] for place in chosen])

    choice = fit.choose(order, costs, text, room.tokens, room.count)
    return choice and fit.Pick([some[place] for place in choice.pieces], choice.text)


def writer(reading: Reading) -> Callable[[Sequence[int]], str]:
    """Return a function that joins chosen pieces, with a note for each gap.

    A gap is filled instead if the missing text is no longer than the note.
    """
    pieces, unit = reading.pieces, reading.unit

    def between(start: int, end: int, units: int) -> list[str]:
        if not unit or (start == end and units <= 0):
            return []
        named = f"… {units:,} {unit}{'s' if units > 1 else ''} …" if units > 0 else "…"
        if end - start == 1 and len(pieces[start].text) <= len(named):
            return [pieces[start].text]
        return [named]

    def written(chosen: Sequence[int]) -> str:
        lines: list[str] = []
        following = reached = 0
        for number in chosen:
            piece = pieces[number]
            if piece.continues and number == following:
                lines[-1] += f" {piece.text}"
            else:
                lines += [*between(following, number, piece.at - reached), piece.text]
            following, reached = number + 1, max(reached, piece.at + piece.units)
        return "\n".join([*lines, *between(following, len(pieces), reading.total - reached)])

    return written


def _ranked(
    pieces: Sequence[Piece],
    question: str,
    costs: Sequence[float],
    bonus: Sequence[float],
    enough: float = inf,
) -> list[int]:
    """The indices of the pieces of one text, the best first, until they cost ``enough``."""
    weights = table()
    told = valued(pieces, question, weights.asked)
    names = [things(piece.names) for piece in pieces]
    marked = set[str]().union(*(quoted(piece.text) for piece in pieces))
    found = dict.fromkeys(name for mine in names for name in mine)
    return ordered(
        pieces,
        [[*mine, *more] for mine, more in zip(names, told.tells, strict=True)],
        costs,
        worth_in_one_text(found, marked, max(len(found), 1)) | told.worth,
        again=weights.again,
        forms=list(map(form, names)),
        bonus=[own + near for own, near in zip(bonus, told.bonus, strict=True)],
        enough=enough,
    )


def order(
    texts: Sequence[str],
    question: str = "",
    weights: Sequence[float] = (),
    *,
    decisions: bool = True,
) -> list[int]:
    """The indices of the texts, the most valuable first; ``weights`` multiply their values.

    With ``decisions``, decisions and constraints are as valuable as what a content kind names.
    """
    pieces = [Piece(text, number) for number, text in enumerate(texts)]
    heard = map(signals, texts) if decisions else ()
    named = table().named
    said = [named * max(one.decides, one.constrains) for one in heard] or [0.0] * len(texts)
    each = zip(pieces, weights or [1.0] * len(pieces), strict=True)
    return _ranked(pieces, question, [piece.cost / weight for piece, weight in each], said)


def by_worth(
    texts: Sequence[str],
    tells: Sequence[Iterable[str]],
    first: Container[int] = (),
    bonus: Sequence[float] = (),
) -> list[int]:
    """The indices of the texts: the ``first``, then those worth most for their length.

    Each is valued by itself, which is quicker than ``order``: by the things that it ``tells``, its
    ``bonus``, and the trouble that it reports. Of texts that differ in their numbers alone, the
    n-th has an n-th of the value.
    """
    failure = table().failure if alarm("\n".join(texts)) else 0.0  # most report none
    alike = Counter[str]()
    gains: list[float] = []
    for number, text in enumerate(texts):
        shown = DIGITS.sub("0", text)
        alike[shown] += 1
        value = sum(map(worth_of_form, tells[number])) + (bonus[number] if bonus else 0.0)
        if failure:
            value += failure * alarm(text)
        gains.append(value / (alike[shown] * (len(text) + SEAM)))
    return sorted(range(len(texts)), key=lambda number: (number not in first, -gains[number]))
