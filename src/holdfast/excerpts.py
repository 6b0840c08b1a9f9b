"""Excerpts of one text: its pieces, or some texts, in the order of their value."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain

from holdfast.kernel.ports import Room
from holdfast.selection import (
    VALUED_PER_TOKEN,
    ordered,
    shortlist,
    table,
    until,
    valued,
    worth_alone,
    worth_of_shape,
)
from holdfast.text.fit import FIRST_GUESS, Numbers, Values, choose
from holdfast.text.importance import alarm, signals
from holdfast.text.pieces import (
    SEAM,
    Piece,
    Reading,
    places_in,
    quoted,
    shape_of,
    template_of,
    things_in,
    writer,
)
from holdfast.text.words import DIGITS

_RANKED = 2 * FIRST_GUESS  # characters put in order per token of the room; half kept as much


def excerpt(reading: Reading, room: Room) -> list[int]:
    """The numbers of as many of the best pieces as fit, none if not even one does."""
    some = shortlist(reading.pieces, room.tokens * VALUED_PER_TOKEN, room.question)
    pieces = [reading.pieces[number] for number in some]
    costs = [piece.cost for piece in pieces]
    parents = places_in(some, [piece.parent for piece in pieces])
    ranked = _ordered_alone(pieces, parents, room.question, costs, [0.0] * len(pieces))
    order = list(until(room.tokens * _RANKED, ranked, costs))
    write = writer(reading)

    def text(chosen: Numbers) -> str:
        return write([some[place] for place in chosen])

    return [some[place] for place in choose(order, costs, text, room.tokens, room.count)]


def _ordered_alone(
    pieces: Sequence[Piece],
    parents: Numbers,
    question: str,
    costs: Values,
    bonus: Values,
) -> Iterator[int]:
    """The indices of the pieces of one text, the best first."""
    weights = table()
    values = valued(pieces, parents, question, weights.asked)
    named = [things_in(piece.unnumbered) for piece in pieces]
    marked = quoted("\n".join([piece.text for piece in pieces]))
    found = set(chain.from_iterable(named))
    crowd = max(len(found), 1)
    worth = {each: worth_alone(shape_of(each), len(each), crowd, each in marked) for each in found}
    return ordered(
        parents,
        [[*mine, *more] for mine, more in zip(named, values.things, strict=True)],
        costs,
        worth | values.worth,
        again=weights.again,
        templates=list(map(template_of, named)),
        bonus=[own + near for own, near in zip(bonus, values.bonus, strict=True)],
    )


def ordered_texts(
    texts: Sequence[str],
    question: str = "",
    weights: Values = (),
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
    costs = [piece.cost / weight for piece, weight in each]
    return list(_ordered_alone(pieces, [-1] * len(pieces), question, costs, said))


def ordered_by_shape(
    texts: Sequence[str],
    things: Sequence[Iterable[str]],
    first: Container[int] = (),
    bonus: Values = (),
) -> list[int]:
    """The indices of the texts: the ``first``, then those worth most for their length.

    Each is valued by itself, which is quicker than ``ordered_texts``: by the shapes of the
    ``things`` in it, its ``bonus``, and the trouble that it reports. Of texts that differ in their
    numbers alone, the n-th has an n-th of the value.
    """
    failure = table().failure
    alike = Counter[str]()
    gains: list[float] = []
    for number, text in enumerate(texts):
        shown = DIGITS.sub("0", text)
        alike[shown] += 1
        value = sum(map(worth_of_shape, things[number])) + (bonus[number] if bonus else 0.0)
        value += failure * alarm(text)
        gains.append(value / (alike[shown] * (len(text) + SEAM)))
    return sorted(range(len(texts)), key=lambda number: (number not in first, -gains[number]))
