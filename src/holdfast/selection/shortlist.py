"""The pieces of a text far longer than its room that are looked at closely.

Coarse to fine: those that answer the question, report trouble, name what else is named or are of a
rare form, and an even share of the others. What a name is worth is then found for these alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from holdfast.text.importance import alarm
from holdfast.text.question import Question

from .order import with_what_it_is_under
from .pieces import Piece
from .things import names

MOST = 64
"""Characters for each token of the room that are looked at closely, some sixteen times what fits.
In the benchmarks as much is kept of logs of twenty times the room."""

_BESIDE = 0.5  # of the worth of a piece is that of its neighbours
_GOLDEN = 0.6180339887498949  # its multiples, without their whole part, are evenly spread
_NUMBER = re.compile(r"\d+")


def evenly(number: int) -> list[int]:
    """The numbers below this one, in an order of which every beginning is evenly spread."""
    return sorted(range(number), key=lambda n: n * _GOLDEN % 1)


def form(piece: Piece) -> str:
    """The text of a piece without what differs from one of its kind to the next."""
    return f"form {_NUMBER.sub('0', piece.text)}"


def shortlist(
    pieces: Sequence[Piece], most: float, question: str = "", used: frozenset[str] = frozenset()
) -> Sequence[int]:
    """The numbers of the pieces, ascending: all of them, or some ``most`` characters.

    ``used`` are names that appear elsewhere. The context of a chosen piece is chosen too.
    """
    texts = [piece.text for piece in pieces]
    if sum(map(len, texts)) <= most:
        return range(len(pieces))
    kinds = [piece.things or (form(piece),) for piece in pieces]
    named = [used.intersection(names(text)) for text in texts]
    times = Counter(chain(chain.from_iterable(kinds), chain.from_iterable(named)))
    answers = Question.of(question).answers(texts, [piece.under for piece in pieces])
    rarity = {name: 1 / count for name, count in times.items()}
    own = [
        sum(terms.values()) + alarm(text) + sum(map(rarity.__getitem__, (*some, *shared)))
        for text, terms, some, shared in zip(texts, answers, kinds, named, strict=True)
    ]
    around = zip([0.0, *own], own, [*own[1:], 0.0], strict=False)
    worth = [max(each, _BESIDE * max(before, after)) for before, each, after in around]
    spread = evenly(len(pieces))
    chosen: set[int] = set()
    left = most
    for order, rest in ((sorted(spread, key=lambda n: -worth[n]), most / 2), (spread, 0.0)):
        for number in order:
            if left <= rest:
                break
            for each in with_what_it_is_under(pieces, number):
                if each not in chosen:
                    chosen.add(each)
                    left -= len(texts[each])
    return sorted(chosen)


def picked(pieces: Sequence[Piece], numbers: Sequence[int]) -> Sequence[Piece]:
    """These pieces, each under the one that it was under."""
    if len(numbers) == len(pieces):
        return pieces
    places = {number: place for place, number in enumerate(numbers)} | {-1: -1}
    some = (pieces[number] for number in numbers)
    return [piece._replace(under=places[piece.under]) for piece in some]
