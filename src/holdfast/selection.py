"""Which pieces of texts are kept: their value, their order by value for cost, and excerpts.

The value of a thing is how likely the next steps use it. ``weights.json`` has the weights of a
logistic function of the features below, from a regression on recorded runs
(``benchmarks/weights.py``), and all other values.

A greedy choice by a diminishing gain for the cost is known to cover well (Lin and Bilmes 2011). The
order depends on the pieces alone, and a budget takes its beginning, so a larger budget keeps what a
smaller one keeps.
"""

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from math import exp, fsum, log, sqrt
from operator import mul
from pathlib import Path
from typing import NamedTuple

from holdfast.text import fit
from holdfast.text.fit import Numbers, Values
from holdfast.text.importance import alarm
from holdfast.text.pieces import (
    STOP,
    Piece,
    Shape,
    Template,
    finder,
    passages,
    shape_of,
)
from holdfast.text.question import answers_to, scores_of, terms_of
from holdfast.text.words import DIGITS

# the value of things

_NEVER = 9.0  # for what the agent never named: log of about 8,000 events; half and double kept less


@dataclass(slots=True)
class Use:
    """How a thing has been used so far; positions are those of events in the conversation."""

    crowd: int
    """The number of things, itself included, in the smallest event that names it."""
    first: int = 0
    """The oldest event that names it."""
    last: int = 0
    """The newest event that names it."""
    last_by_agent: int = -1
    """The newest event of the agent that names it."""
    events: int = 0
    """Events that name it."""
    pieces: int = 0
    """Pieces of all events that name it."""
    by_agent: int = 0
    """Events of the agent that name it, acts among them."""
    acts: int = 0
    """Acts that name it."""
    taken: float = 0.0
    """Of the other ids of its format in the same piece, the share that later acts name.
    It is 0 for what the agent has named itself.
    """
    is_quoted: bool = False
    """Whether it stood between quotation marks."""


class WeightTable(NamedTuple):
    """What pieces and things are worth.

    The first three fields are learned: the weight of each shape of a thing, that of quotation
    marks, and for each feature the weights of its value and of its square.
    """

    shapes: Mapping[str, float]
    quoted: float
    features: Mapping[str, Values]
    again: float
    """The share of a thing's value that is left after each repetition."""
    alone: float
    """The value of a thing in a single text, as a share of its value in a conversation."""
    asked: float
    """The value of the best answer to the caller's question."""
    beside: float
    """The value of the pieces near an answer that has all of the question, as a multiple of the
    answer's. It is above 1, since a question names little of the record that it is about."""
    among_others: float
    """The value of an event's kind in a conversation, as a share of its value in a single text."""
    implied: float
    """The value of answering all of the user's last message, if there is no other question."""
    said: Mapping[str, float]
    """The value of a piece by its speaker, besides its things."""
    changed: float
    """The value of an act that was done for what it changes, besides its things."""
    typed: float
    """The most pieces of a message that a user has typed; a longer one passes on a text."""
    pattern: float
    """The value of the first line of each pattern in a single text."""
    named: float
    """The value of a thing that a content kind names, such as a kind of event."""
    failure: float
    """The value of a pattern or a named thing whose line reports a failure."""
    trouble: float
    """The value of the worst trouble in an outcome, besides things; twice as much keeps .002 less
    of recorded runs."""


@cache
def table() -> WeightTable:
    """Return the built-in table."""
    found = json.loads(Path(__file__).with_name("weights.json").read_text("utf-8"))
    return WeightTable(**{name: found[name] for name in WeightTable._fields})


def features(use: Use, length: int, now: int) -> tuple[float, ...]:
    """The features of a thing of this length at event number ``now``, in the order of the table.

    All are logarithms of counts and distances, except ``taken`` and the density: the logarithm of
    its events, divided by that of the time since the first.
    """
    events, since = _log(use.events), _log(now - use.first)
    return (
        events,
        _log(use.pieces),
        _log(use.by_agent),
        _log(use.acts),
        events / since,
        _log(use.crowd),
        _log(now - use.last),
        _log(now - use.last_by_agent) if use.by_agent else _NEVER,
        since,
        _log(length),
        use.taken,
    )


@cache
def _log(count: int) -> float:
    return log(1 + count)


def worth_of(uses: Mapping[str, Use], now: int) -> dict[str, float]:
    """The value of each thing: the probability that one of the next steps uses it."""
    return {thing: _worth(shape_of(thing), use, len(thing), now) for thing, use in uses.items()}


def _worth(shape: Shape, use: Use, length: int, now: int) -> float:
    """The value of a thing of this shape and length."""
    weights = table()
    seen = features(use, length, now)
    first, second = _curves()
    z = weights.shapes[shape] + weights.quoted * use.is_quoted + sum(map(mul, first, seen))
    z += sum(map(mul, second, map(mul, seen, seen)))
    return 1 / (1 + exp(-z))


@cache
def _curves() -> tuple[tuple[float, ...], ...]:
    """For each feature, the weights of its values, and of their squares."""
    return tuple(zip(*table().features.values(), strict=True))


@lru_cache(maxsize=1 << 14)
def worth_alone(shape: Shape, length: int, crowd: int, is_quoted: bool = False) -> float:
    """The value of a thing in a text without context."""
    use = Use(crowd, events=1, pieces=1, is_quoted=is_quoted)
    return table().alone * _worth(shape, use, length, 1)


@lru_cache(maxsize=1 << 15)
def worth_of_shape(thing: str) -> float:
    """The value of a thing by its shape alone, wherever it is; 0 for a word without meaning."""
    return 0.0 if thing in STOP else worth_alone(shape_of(thing), len(thing), 1)


# the order of pieces

# A smaller value counts as 0: a sum of doubles near 1 loses what is below 1.1e-16. Otherwise many
# pieces with the same few things would be weighed again after each choice
_LEAST = 1e-16


def ordered(
    parents: Numbers,
    things: Sequence[Sequence[str]],
    costs: Values,
    worth: Mapping[str, float],
    *,
    again: float,
    templates: Sequence[Template],
    bonus: Values,
) -> Iterator[int]:
    """The indices of the pieces, the best first.

    ``parents`` has the index of the piece that gives each its context, or -1, and ``things`` has
    the things in each. ``worth`` is the value of a thing at its first appearance; each repetition
    has the share ``again`` of the last value. Of pieces with the same of the ``templates``, such as
    the rows of a listing, the things in the n-th chosen one have an n-th of their value. ``bonus``
    is the value of a piece besides its things, which always counts in full.
    """
    left = dict(worth)
    value = left.__getitem__
    numbers: dict[Template | int, int] = {}  # a piece with an empty one is alone
    kinds = [numbers.setdefault(each or at, len(numbers)) for at, each in enumerate(templates)]
    nth = [1] * len(parents)  # by kind, which piece of it would be chosen next

    def loss(number: int) -> float:
        """The negative gain: without a bonus, as if no piece of its kind was chosen before."""
        fresh, more = fsum(map(value, things[number])), bonus[number]
        if more:
            fresh /= nth[kinds[number]]
        return -(fresh + more) / (costs[number] or 1.0)  # a counter may return 0 for a word

    both = zip(templates, bonus, kinds, strict=True)
    keys = [~kind if each and not more else at for at, (each, more, kind) in enumerate(both)]
    following = _next_equals(zip(templates, map(tuple, things), costs, bonus, strict=True))
    queues = _queues(keys, set(following.values()), loss)
    firsts = [(*queue[0], key) for key, queue in queues.items()]
    heapq.heapify(firsts)
    chosen: set[int] = set()
    while firsts:
        *_, key = heapq.heappop(firsts)
        first = _best_entry(queues[key], chosen, loss, following)
        if first is None:
            continue
        now, number = first
        entry = (now / nth[~key] if key < 0 else now, number, key)
        heapq.heappush(firsts, entry)
        if firsts[0] is not entry:
            continue
        for each in with_context(parents, number):
            if each not in chosen:
                chosen.add(each)
                nth[kinds[each]] += 1
                for thing in things[each]:
                    less = left[thing] * again
                    left[thing] = less if less > _LEAST else 0.0
                yield each


def until(enough: float, order: Iterable[int], costs: Values) -> Iterator[int]:
    """The beginning of the order that costs ``enough``."""
    spent = 0.0
    for number in order:
        yield number
        spent += costs[number]
        if spent >= enough:
            return


_Queue = list[tuple[float, int]]
"""A heap of pairs: the negative gain of a piece when it was last weighed, and its number."""


def _queues(
    keys: Numbers, later: Container[int], loss: Callable[[int], float]
) -> Mapping[int, _Queue]:
    """A queue for each template, under ``~kind``, and for each piece without one, or with a bonus.

    Pieces of one template lose value together and keep their order, so that only the first competes
    with other queues. ``keys`` has the key of each piece's queue. Pieces in ``later`` are left out:
    each takes the place of an equal piece when that is chosen.
    """
    queues = defaultdict[int, _Queue](list)
    for number, key in enumerate(keys):
        if number not in later:
            queues[key].append((loss(number), number))
    for queue in queues.values():
        heapq.heapify(queue)
    return queues


def _next_equals(pieces: Iterable[object]) -> Mapping[int, int]:
    """For each piece that comes again, by number, the number of the next equal piece."""
    last: dict[object, int] = {}
    found: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        if piece in last:
            found[last[piece]] = number
        last[piece] = number
    return found


def _best_entry(
    queue: _Queue,
    chosen: Container[int],
    loss: Callable[[int], float],
    following: Mapping[int, int],
) -> tuple[float, int] | None:
    """The first entry that is not ``chosen``, with its loss as it is now; None if there is none.

    Gains only fall, so that a piece need not be weighed again before it comes first. Of equal
    pieces only the first is in the queue; when it is chosen, the ``following`` one takes its place.
    """
    while queue:
        _, number = heapq.heappop(queue)
        if number in chosen:
            if number in following:
                number = following[number]
                heapq.heappush(queue, (loss(number), number))
            continue
        entry = (loss(number), number)
        heapq.heappush(queue, entry)
        if queue[0] is entry:
            return entry
    return None


def with_context(parents: Numbers, number: int) -> list[int]:
    """The piece, after the pieces that give its context, the outermost first."""
    way = [number]
    while (number := parents[number]) >= 0:
        way.append(number)
    return way[::-1]


VALUED_PER_TOKEN = 32
"""Characters that are valued for each token of the room, about eight times what fits. Double kept
as much, and half .752 of single outputs at 15% instead of .759."""

# share of its neighbours' worth that a piece has at least; with 1, .998 of logs were kept, not all
_BESIDE = 0.5
# Its multiples, without their whole part, are evenly spread (Knuth, "The Art of Computer
# Programming", volume 3, section 6.4).
_GOLDEN = (sqrt(5) - 1) / 2


def evenly(number: int) -> list[int]:
    """The numbers below this one, in an order of which every beginning is evenly spread."""
    return sorted(range(number), key=[n * _GOLDEN % 1 for n in range(number)].__getitem__)


def pattern(piece: Piece) -> str:
    """A label that is equal for texts that differ only in numbers; found faster than a template."""
    return f"pattern {DIGITS.sub('0', piece.text)}"


def shortlist(
    pieces: Sequence[Piece], most: float, question: str = "", used: frozenset[str] = frozenset()
) -> Numbers:
    """The numbers of the pieces that are valued, ascending: all, or about ``most`` characters.

    Half of these go to answers, trouble and rare kinds, and half are spread evenly. ``used`` are
    names that appear elsewhere. The context of a chosen piece is chosen too.
    """
    texts, parents = [piece.text for piece in pieces], [piece.parent for piece in pieces]
    sizes = list(map(len, texts))
    if sum(sizes) <= most:
        return range(len(pieces))
    kinds = [piece.labels or (pattern(piece),) for piece in pieces]
    if used:
        found = finder("".join(texts))
        named = zip(kinds, texts, strict=True)
        kinds = [(*mine, *used.intersection(found(text))) for mine, text in named]
    times = Counter(chain.from_iterable(kinds))
    answers = scores_of(question, texts, parents)
    rarity = {name: 1 / count for name, count in times.items()}.__getitem__
    own = [
        answer + bad + sum(map(rarity, mine))
        for answer, bad, mine in zip(answers, map(alarm, texts), kinds, strict=True)
    ]
    beside = [_BESIDE * each for each in own]
    less = [-worth for worth in map(max, own, [0.0, *beside], [*beside[1:], 0.0])]
    longest = most * fit.LONG_TOKEN / VALUED_PER_TOKEN  # what is longer does not fit
    spread = [each for each in evenly(len(pieces)) if sizes[each] <= longest]
    chosen: set[int] = set()
    left = most
    for order, rest in ((sorted(spread, key=less.__getitem__), most / 2), (spread, 0.0)):
        for number in order:
            if left <= rest:
                break
            for each in with_context(parents, number):
                if each not in chosen:
                    chosen.add(each)
                    left -= sizes[each]
    return sorted(chosen)


# the value of pieces besides their things

# a term of the question that more pieces have does not tell them apart, and counts once for all of
# them. Double kept .878 of airline sessions instead of .889
_FEW = 12
_RARE = 0.03  # of many pieces, this share is few too; without it, less was kept of recorded runs
# least share of the best answer that gives value to the pieces near it; with 0 logs take 2.5 times
_LEAST_ANSWER = 0.1
_NEAR = 30  # pieces before and after an answer; half and double kept 4 facts fewer of real texts
# share of the value of being near an answer that pieces of another block have; half kept .912 of
# single outputs instead of .935, and double 11 facts fewer of real texts
_APART = 0.3


# weight of the terms of a sentence: the share of all of a long message loses what one of its
# sentences asks for, and without a least weight one common word of a short one is an answer
_SENTENCE = 8.0


class Valued(NamedTuple):
    """What is known of pieces besides names: their labels and answers, as things with values."""

    things: list[list[str]]
    worth: dict[str, float]
    bonus: list[float]


def typed_of(text: str) -> str:
    """What the sender of a message typed: all of it, or its ends if it passes on a text.

    These are the first piece, and the last two of the last paragraph: ``Question: ...`` and
    ``Answer:``.
    """
    if len(passages(text).pieces) <= table().typed:
        return text
    first, *_, last = 2 * text.strip().split("\n\n")
    ends = passages(first, alone=True).pieces[:1], passages(last, alone=True).pieces[-2:]
    return "\n".join([piece.text for piece in chain(*ends)])


def valued(
    pieces: Sequence[Piece],
    parents: Numbers,
    question: str,
    share: float,
    kinds: float = 1.0,
    alone: bool = True,
) -> Valued:
    """The value of the pieces: of their events and patterns, and of their answer to the question.

    ``parents`` has the index of the piece that gives each its context, or -1. ``share`` is the
    value of the best answer; an answer to the caller's question is worth more than one to a guessed
    question. ``kinds`` scales the value of an event's kind, since kinds compete in a conversation
    with names that were used; there the labels of a piece, such as the fields of a record, share
    one value. ``alone``: the pieces are of one text. Then those without labels count by their
    patterns, failures count in full, and being near an answer counts.
    """
    weights = table()
    failure = weights.failure * kinds
    things = [[*piece.labels] or ([pattern(piece)] if alone else []) for piece in pieces]
    first = {thing: number for number, named in reversed([*enumerate(things)]) for thing in named}
    bad = {number: alarm(pieces[number].text) for number in set(first.values())}
    worth: dict[str, float] = {}
    for thing, number in first.items():
        labels = len(pieces[number].labels)
        usual = kinds * (weights.named if labels else weights.pattern)
        # a piece fails once, whatever the number of its labels
        trouble = failure * bad[number] / max(1, labels)
        worth[thing] = usual + trouble if alone else max(usual / labels, trouble)
    answers, answered = _answers(question, pieces, parents, alone)
    holders = Counter(term for terms in answers for term in terms)
    few = max(_FEW, _RARE * len(pieces))
    for number, (own, terms) in enumerate(zip(things, answers, strict=True)):
        if not terms:
            continue
        of = own[-1] if own else number
        said = {
            f"{t} in {of if holders[t] <= few else 'many'}": share * part
            for t, part in terms.items()
        }
        own.extend(said)
        worth.update(said)
    near = _nearness_to_answers(pieces, parents, answers) if alone else [0.0] * len(pieces)
    beside = share * weights.beside * answered
    return Valued(things, worth, [beside * each for each in near])


def _answers(
    question: str, pieces: Sequence[Piece], parents: Numbers, alone: bool
) -> tuple[list[dict[str, float]], float]:
    """How well each piece, with its heading, answers the question: a share for each term in it.

    In one text, it is the share of the best answer's weight, or of the heaviest term's if that is
    more: a term that nearly all pieces have makes none of them a good answer. In a conversation it
    is the share of all of the question, or of what a sentence of a longer one may ask: a word that
    pieces have by chance is no answer. Also returns the best answer's share of all.
    """
    found = answers_to(question, [piece.text for piece in pieces], parents)
    best = max((sum(terms.values()) for terms in found), default=0.0)
    whole = sum(term.weight for term in terms_of(question)) or 1.0
    asked = {term: part for terms in found for term, part in terms.items()}  # the same in all
    heaviest = max((term.weight for term in asked), default=0.0)
    most = max(best, heaviest) if alone else max(sum(asked.values()), min(whole, _SENTENCE))
    return [{t.needle: part / most for t, part in terms.items()} for terms in found], best / whole


def _nearness_to_answers(
    pieces: Sequence[Piece], parents: Numbers, answers: Sequence[Mapping[str, float]]
) -> list[float]:
    """The value of being near the few blocks that answer, most of all in the same one."""
    worth = [0.0] * len(pieces)
    blocks = _blocks(pieces, parents) if any(answers) else worth
    # a term counts once for each record: its name is in all parts of it, and is rare nonetheless
    both = zip(pieces, answers, strict=True)
    holders = Counter(term for _, term in {(piece.at, term) for piece, own in both for term in own})
    owns = [sum(part / holders[term] for term, part in terms.items()) for terms in answers]
    for at, own in enumerate(owns):
        if own < _LEAST_ANSWER:
            continue
        for other in range(max(0, at - _NEAR), min(len(pieces), at + _NEAR + 1)):
            near = own * (1 - abs(other - at) / _NEAR)
            is_apart = blocks[other] != blocks[at]
            worth[other] = max(worth[other], _APART * near if is_apart else near)
    return worth


def _blocks(pieces: Sequence[Piece], parents: Numbers) -> list[int]:
    """For each piece the outermost one that gives its context, apart from heads of columns.

    All rows of a table have the same head, so that each row is a block, named by its first piece.
    """
    ways = (with_context(parents, number) for number in range(len(pieces)))
    return [next((each for each in way if pieces[each].units), way[-1]) for way in ways]
