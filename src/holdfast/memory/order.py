"""The pieces of a text by what they tell: those first that name what nothing before them has named."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.selection.excerpt import valued
from holdfast.selection.order import ordered
from holdfast.selection.pieces import Piece
from holdfast.selection.things import quoted, things
from holdfast.selection.weights import table, worth_in_one_text


def order(texts: Sequence[str], question: str = "", weights: Sequence[float] = ()) -> list[int]:
    """The numbers of the pieces, the most telling first; ``weights`` multiply what a piece is worth."""
    pieces = [Piece(text, number) for number, text in enumerate(texts)]
    learned = table()
    told = valued(pieces, question, learned.asked)
    names = [things(text) for text in texts]
    distinct = dict.fromkeys(name for mine in names for name in mine)
    marked = set[str]().union(*map(quoted, texts))
    return ordered(
        pieces,
        [[*mine, *more] for mine, more in zip(names, told.tells, strict=True)],
        [piece.cost / weight for piece, weight in zip(pieces, weights or [1.0] * len(pieces), strict=True)],
        worth_in_one_text(distinct, marked, max(len(distinct), 1)) | told.worth,
        again=learned.again,
        bonus=told.bonus,
    )
