"""Ranks texts by value; any number of the first ones is a good choice."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.selection.excerpt import valued
from holdfast.selection.order import ordered
from holdfast.selection.pieces import Piece
from holdfast.selection.things import quoted, things
from holdfast.selection.weights import table, worth_in_one_text
from holdfast.text.importance import signals


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
    learned = table()
    told = valued(pieces, question, learned.asked)
    names = [things(text) for text in texts]
    distinct = dict.fromkeys(name for mine in names for name in mine)
    marked = set[str]().union(*map(quoted, texts))
    heard = map(signals, texts) if decisions else ()
    said = [learned.named * max(one.decides, one.constrains) for one in heard] or [0.0] * len(texts)
    return ordered(
        pieces,
        [[*mine, *more] for mine, more in zip(names, told.tells, strict=True)],
        [
            piece.cost / weight
            for piece, weight in zip(pieces, weights or [1.0] * len(pieces), strict=True)
        ],
        worth_in_one_text(distinct, marked, max(len(distinct), 1)) | told.worth,
        again=learned.again,
        bonus=[own + near for own, near in zip(said, told.bonus, strict=True)],
    )
