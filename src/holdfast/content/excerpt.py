"""What kinds of text that are made of pieces have in common: the best pieces, in their order, gaps named."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.question import Question

Gap = Callable[[int, int], str]
"""What stands for the pieces from the first number up to the second, excluded; nothing where it is empty."""

_FEW = 0.3  # share of the pieces that may hold a term of the question which still sets some apart
_ALWAYS_FEW = 3
_LARGEST_SHARE = 0.6  # of the room that one piece may take
_CHARACTERS_A_TOKEN = 3
_SHORTEST = 40  # characters to which a piece is cut at most


def excerpt(
    pieces: Sequence[str], order: Sequence[int], room: Room, gap: Gap, *, heading: str = ""
) -> fit.Choice | None:
    """As many of the pieces as fit, the first of ``order`` before all others, or None if not even one does.

    A piece that would fill most of the room alone is cut at its end, so that no trifle is told in its stead.
    """
    longest = max(_SHORTEST, int(room.tokens * _CHARACTERS_A_TOKEN * _LARGEST_SHARE))
    told = [piece if len(piece) <= longest else f"{piece[:longest]}…" for piece in pieces]

    def written(chosen: Sequence[int]) -> str:
        parts = [heading] if heading else []
        following = 0
        for number in chosen:
            parts += between(following, number)
            parts.append(told[number])
            following = number + 1
        return "\n".join([*parts, *between(following, len(pieces))])

    def between(start: int, end: int) -> list[str]:
        left_out = gap(start, end) if start < end else ""
        if left_out and end - start == 1 and len(told[start]) <= len(left_out):
            return [told[start]]
        return [left_out] if left_out else []

    sizes = [len(piece) + 1 for piece in told]
    return fit.choose(order, sizes, written, room.tokens, room.count)


def counted(number: int, noun: str) -> str:
    """The number with its noun: ``1 line``, ``2,000 lines``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def asked(question: Question, texts: Sequence[str]) -> list[float]:
    """How much each text says of what the question names; what many of the texts say sets none apart."""
    worth = [0.0] * len(texts)
    for term, holders in question.holders(texts, max(_ALWAYS_FEW, int(_FEW * len(texts)))):
        for at in holders:
            worth[at] += term.weight
    return worth
