"""Which pieces of a text say most: an order in which any beginning is a good choice.

A piece is worth the words that it brings: what the text speaks of often, what is exact, and what no
better piece has said yet (a word is worth less each time, so the choice covers the text instead of
circling its main theme). Alarms, decisions, constraints, openings and above all the question add to
that. A greedy choice by such a diminishing gain for the cost is known to summarise well (Lin and
Bilmes 2011); the queue is lazy, so that the work stays nearly linear.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from holdfast.text.importance import TROUBLE, signals
from holdfast.text.question import Question, Term
from holdfast.text.words import STOP_WORDS, stem, words

_EXACT, _NAME = 2.5, 1.4  # against 1.0 for a plain word that is said once
_SAID_AGAIN = 0.4  # what is left of a word's worth each time that it is said
_ALARM, _DECISION, _CONSTRAINT, _OPENING, _HEADING = 6.0, 8.0, 3.0, 4.0, 3.0  # in words
_ASKED = 30.0  # words that the best answer to the question is worth
_ASKED_AGAIN = 0.5  # what is left of that for a term that a better piece has answered
_BESIDE = 0.15  # of that goes to its neighbours
_PLACE = 30  # characters that any piece costs on top, for the mark of the gap before it
# exponent of the cost: of two pieces with the same words a line, the longer reads better
_LENGTH = 0.85
_REPEAT = 0.8  # share of common words from which on the later of two pieces is a repeat
_RAREST = 3  # words by which earlier pieces are looked up
_MOST_RIVALS = 8  # earlier pieces a word that are compared

_TOKEN = re.compile(r"[^\s,;()\[\]{}<>\"“”«»|]+")
_EDGES = ".:!?'’`*_-–—。、！？"
_HEADLINE = re.compile(r"\s{0,4}#{1,6}\s")


@dataclass(frozen=True, slots=True)
class _Piece:
    words: dict[str, float]
    """Its distinct words, and what kind of word each is: plain 1, a name, exact."""
    exact: frozenset[str]
    size: int


@dataclass(frozen=True, slots=True)
class _Values:
    """What a word is worth when it is first said, and of each piece.

    What it answers, its bonus, its weight.
    """

    words: dict[str, float]
    answers: Sequence[dict[Term, float]]
    bonus: Sequence[float]
    weights: Sequence[float]


def order(
    pieces: Sequence[str], question: Question, most: int | None = None, weights: Sequence[float] = ()
) -> list[int]:
    """The numbers of the pieces, the most telling first.

    What repeats an earlier piece is not among them.

    Only the first ``most`` are chosen with an eye on each other. ``weights`` multiply what a piece
    is worth.
    """
    known = {piece: _piece(piece) for piece in dict.fromkeys(pieces)}
    bags = [known[piece] for piece in pieces]
    spread = Counter(word for bag in bags for word in bag.words)
    repeats = _repeats(bags, spread)
    answers = _answers(pieces, question)
    worth = {word: _worth(times, len(pieces)) for word, times in spread.items()}
    values = _Values(worth, answers, _bonuses(pieces, answers), weights or [1.0] * len(pieces))
    single = [place for place in range(len(pieces)) if place not in repeats]
    return _greedy(values, bags, single, len(pieces) if most is None else most)


def _worth(times: int, pieces: int) -> float:
    """What a word is worth that so many pieces hold: most if many do, nothing if all do."""
    return (1 + math.log2(times)) * (1 - math.log(times) / math.log(pieces + 1))


def _greedy(values: _Values, bags: Sequence[_Piece], places: Sequence[int], most: int) -> list[int]:
    said: Counter[str] = Counter()
    answered: Counter[Term] = Counter()
    left = dict.fromkeys(values.words, 1.0)  # of what each word is worth
    fresh = {place: [kind * values.words[word] for word, kind in bags[place].words.items()] for place in places}
    costs = {place: math.pow(bags[place].size + _PLACE, _LENGTH) for place in places}
    weights, answers, bonus = values.weights, values.answers, values.bonus

    def gain(place: int) -> float:
        told: float = sum(map(mul, fresh[place], map(left.__getitem__, bags[place].words)))
        if answers[place]:
            told += sum(worth * math.pow(_ASKED_AGAIN, answered[term]) for term, worth in answers[place].items())
        return weights[place] * (told + bonus[place]) / costs[place]

    queue = [(-gain(place), place) for place in places]
    heapq.heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < most:
        _, place = queue[0]
        now = (-gain(place), place)
        if len(queue) > 1 and now > min(queue[1:3]):
            heapq.heapreplace(queue, now)
            continue
        heapq.heappop(queue)
        chosen.append(place)
        answered.update(list(values.answers[place]))
        for word in bags[place].words:
            said[word] += 1
            left[word] = math.pow(_SAID_AGAIN, said[word])
    return chosen + [place for _, place in sorted(queue)]


def _answers(pieces: Sequence[str], question: Question) -> list[dict[Term, float]]:
    """What each piece brings of what is asked, in words."""
    answers = question.answers(pieces)
    best = max((sum(terms.values()) for terms in answers), default=0.0)
    return (
        [{term: _ASKED * worth / best for term, worth in terms.items()} for terms in answers] if best else answers
    )


def _bonuses(pieces: Sequence[str], answers: Sequence[dict[Term, float]]) -> list[float]:
    asked = [sum(terms.values()) for terms in answers]
    bonuses: list[float] = []
    heard = {piece: signals(piece) for piece in dict.fromkeys(pieces)}
    for place, piece in enumerate(pieces):
        told = heard[piece]
        bonus = _ALARM * (told.alarm >= TROUBLE) + _DECISION * told.decides + _CONSTRAINT * told.constrains
        if place == 0 or pieces[place - 1].endswith("\n\n"):
            bonus += _OPENING
        if _HEADLINE.match(piece):
            bonus += _HEADING
        beside = max(asked[max(place - 1, 0) : place] + asked[place + 1 : place + 2], default=0.0)
        bonuses.append(bonus + _BESIDE * beside)
    return bonuses


def _repeats(bags: Sequence[_Piece], spread: Counter[str]) -> set[int]:
    """The pieces that say almost word for word what an earlier piece said."""
    repeats: set[int] = set()
    holders: dict[str, list[int]] = {}
    rarity = {word: rank for rank, word in enumerate(sorted(spread, key=lambda word: (spread[word], word)))}
    for place, bag in enumerate(bags):
        rarest = sorted(bag.words, key=rarity.__getitem__)[:_RAREST]
        rivals = {rival for word in rarest for rival in holders.get(word, ())[-_MOST_RIVALS:]}
        if any(_same(bag, bags[rival]) for rival in sorted(rivals)):
            repeats.add(place)
            continue
        for word in rarest:
            if spread[word] > 1:
                holders.setdefault(word, []).append(place)
    return repeats


def _same(one: _Piece, other: _Piece) -> bool:
    if one.exact != other.exact:
        return False
    common = len(one.words.keys() & other.words.keys())
    return common >= _REPEAT * (len(one.words) + len(other.words) - common)


def _piece(text: str) -> _Piece:
    found: dict[str, float] = {}
    exact: list[str] = []
    for token in _TOKEN.findall(text):
        for word, kind in _words(token):
            if kind == _EXACT:
                exact.append(word)
            if kind > found.get(word, 0.0):
                found[word] = kind
    return _Piece(found, frozenset(exact), len(text))


@lru_cache(maxsize=1 << 14)
def _words(token: str) -> tuple[tuple[str, float], ...]:
    """The words of a token with what kind each is; none of a stop word."""
    bare = token.strip(_EDGES)
    low = bare.lower()
    if low in STOP_WORDS or not bare:
        return ()
    if bare.isascii() and bare.isalpha():
        return ((stem(low), _NAME if bare[0].isupper() else 1.0),)
    exact = any(map(str.isdigit, bare)) or "_" in bare or "/" in bare or "@" in bare
    inner = tuple((stem(word), 1.0) for word in words(bare) if word not in STOP_WORDS)
    return ((low[:200], _EXACT),) if exact else inner
