"""Orders pieces by the value of what is new in them, divided by their cost, and shortlists them.

A greedy choice by such a diminishing gain for the cost is known to cover well (Lin and Bilmes
2011). The order depends on the pieces alone, and a budget takes its beginning, so a larger budget
keeps what a smaller one keeps.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import chain
from math import fsum, sqrt

from holdfast.selection.things import Form, names
from holdfast.text.importance import alarm
from holdfast.text.question import Question
from holdfast.text.words import DIGITS

from .pieces import Piece

_LEAST = 1e-16
"""A thing of less value has none: a sum of doubles near 1 loses what is below 1.1e-16. Otherwise
many pieces with the same few things would be weighed again after each choice.
"""


def ordered(
    pieces: Sequence[Piece],
    tells: Sequence[Sequence[str]],
    costs: Sequence[float],
    worth: Mapping[str, float],
    *,
    again: float,
    told: Mapping[str, int] | None = None,
    forms: Sequence[Form] = (),
    bonus: Sequence[float] = (),
    enough: float = float("inf"),
) -> list[int]:
    """The indices of the pieces, the best first, until they cost ``enough`` together.

    ``tells`` are the things in each piece, ``worth`` is the value of a thing at its first
    appearance; each repetition has the share ``again`` of the last value. ``told`` counts what
    already appears elsewhere. Of pieces of one of the ``forms``, such as the rows of a listing, the
    n-th chosen one has an n-th of its value. ``bonus`` is the value of a piece besides its things.
    """
    extra = bonus or [0.0] * len(pieces)
    left = dict.fromkeys(chain.from_iterable(tells), 0.0) | dict(worth)
    for thing, times in (told or {}).items():
        if thing in left:
            left[thing] *= again**times
    value = left.__getitem__
    kinds = [each or None for each in forms] or [None] * len(pieces)
    alike: dict[Form | int | None, int] = dict.fromkeys(kinds, 1)

    def gain(number: int) -> float:  # of a piece that waits with others of its form: as the first
        shared = alike[kinds[number]] if extra[number] else 1
        fresh = fsum(map(value, tells[number])) / shared
        return (fresh + extra[number]) / (costs[number] or 1.0)  # a counter may return 0 for a word

    together = [None if more else kind for kind, more in zip(kinds, extra, strict=True)]
    queues = _queues(together, gain)
    firsts = [(*queue[0], key) for key, queue in queues.items()]
    heapq.heapify(firsts)
    chosen: dict[int, None] = {}
    spent = 0.0
    while firsts and spent < enough:
        *_, key = firsts[0]
        first = _first(queues[key], chosen, gain)
        if first is None:
            heapq.heappop(firsts)
            continue
        now = (first[0] / alike.get(key, 1), first[1], key)
        if len(firsts) > 1 and now > min(firsts[1:3]):
            heapq.heapreplace(firsts, now)
            continue
        for each in with_context(pieces, now[1]):
            if each not in chosen:
                chosen[each] = None
                spent += costs[each]
                alike[kinds[each]] += kinds[each] is not None
                for thing in tells[each]:
                    less = left[thing] * again
                    left[thing] = less if less > _LEAST else 0.0
    return list(chosen)


_Queue = list[tuple[float, int]]
"""A heap of numbers of pieces, each after its negative gain, as it once was."""


def _queues(kinds: Sequence[Form | None], gain: Callable[[int], float]) -> dict[Form | int, _Queue]:
    """A queue for each form, and for each piece without one.

    Pieces of one form lose value together and keep their order, so that only the first competes
    with other queues.
    """
    queues: dict[Form | int, _Queue] = {}
    for number, kind in enumerate(kinds):
        queues.setdefault(number if kind is None else kind, []).append((-gain(number), number))
    for queue in queues.values():
        heapq.heapify(queue)
    return queues


def _first(
    queue: _Queue, chosen: Container[int], gain: Callable[[int], float]
) -> tuple[float, int] | None:
    """The first entry that is not ``chosen``, with its gain as it is now; None if there is none.

    Gains only fall, so that a piece need not be weighed again before it comes first.
    """
    while queue:
        _, number = queue[0]
        if number in chosen:
            heapq.heappop(queue)
            continue
        now = (-gain(number), number)
        if len(queue) > 1 and now > min(queue[1:3]):
            heapq.heapreplace(queue, now)
            continue
        queue[0] = now
        return now
    return None


def with_context(pieces: Sequence[Piece], number: int) -> list[int]:
    """The piece, after the pieces that give its context, the outermost first."""
    way = [number]
    while (number := pieces[number].under) >= 0:
        way.append(number)
    return way[::-1]


MOST = 64
"""Characters for each token of the room that are looked at closely, some sixteen times what fits.
In the benchmarks as much is kept of logs of twenty times the room."""

_BESIDE = 0.5  # of the worth of a piece is that of its neighbours
# Its multiples, without their whole part, are evenly spread (Knuth, "The Art of Computer
# Programming", volume 3, section 6.4).
_GOLDEN = (sqrt(5) - 1) / 2


def evenly(number: int) -> list[int]:
    """The numbers below this one, in an order of which every beginning is evenly spread."""
    return sorted(range(number), key=[n * _GOLDEN % 1 for n in range(number)].__getitem__)


def pattern(piece: Piece) -> str:
    """The text of a piece with its numbers alike, which is found faster than its form."""
    return f"pattern {DIGITS.sub('0', piece.text)}"


def shortlist(
    pieces: Sequence[Piece], most: float, question: str = "", used: frozenset[str] = frozenset()
) -> Sequence[int]:
    """The numbers of the pieces, ascending: all of them, or some ``most`` characters.

    ``used`` are names that appear elsewhere. The context of a chosen piece is chosen too.
    """
    texts = [piece.text for piece in pieces]
    if sum(map(len, texts)) <= most:
        return range(len(pieces))
    kinds = [piece.things or (pattern(piece),) for piece in pieces]
    if used:
        kinds = [
            (*mine, *used.intersection(names(t))) for mine, t in zip(kinds, texts, strict=True)
        ]
    times = Counter(chain.from_iterable(kinds))
    answers = Question.of(question).answers(texts, [piece.under for piece in pieces])
    rarity = {name: 1 / count for name, count in times.items()}.__getitem__
    own = [
        (sum(terms.values()) if terms else 0) + alarm(text) + sum(map(rarity, mine))
        for text, terms, mine in zip(texts, answers, kinds, strict=True)
    ]
    beside = (_BESIDE * near for near in map(max, [0.0, *own], [*own[1:], 0.0]))
    less = [-worth for worth in map(max, own, beside)]
    spread = evenly(len(pieces))
    chosen: set[int] = set()
    left = most
    for order, rest in ((sorted(spread, key=less.__getitem__), most / 2), (spread, 0.0)):
        for number in order:
            if left <= rest:
                break
            for each in with_context(pieces, number):
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
    return [piece._replace(under=places.get(piece.under, -1)) for piece in some]
