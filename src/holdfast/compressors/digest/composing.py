"""The body of a digest: the lines of what was said and done, as much of them as the room holds."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from holdfast.text.memo import Memo

from .atoms import Line, written
from .notation import line_of
from .ranking import Place, ranked
from .sayings import Folded, Said, sayings
from .superseding import current

_CHARACTERS = 3.5  # a token of notes, at first; then as it was found
_LINE = 2  # tokens of a line beside its words
_FULL = 0.985  # of the tokens: more is not worth another page
_CAUTION = 0.995  # of what should fit is tried next
_NEXT = 24  # pieces behind the best that may fill what is left
_LONGEST_TOKEN = 6  # characters, of a piece that may still fit
_PAGES, _GUESSES = 12, 5  # that are tried, the usual is three; of them by interpolation, the rest by halving


@dataclass(frozen=True, slots=True)
class Order:
    """What a digest is made of: ``heading`` opens it, ``tokens`` are what it may have as ``count`` counts them."""

    messages: tuple[Folded, ...]
    heading: str
    tokens: int
    count: Callable[[str], int]


def body(order: Order) -> str:
    """The heading and the chosen lines, each turn with its number; empty where nothing fits."""
    return _bodies(order)


def lines_of(order: Order) -> Iterator[tuple[Said, str]]:
    """Every line that was chosen, with what it was made of."""
    page = _Page(order)
    return ((page.said[n], text) for n, text in page.rows(page.chosen()))


def noted(messages: tuple[Folded, ...]) -> int:
    """Tokens of the complete notes on these messages, about."""
    return _complete(messages)


def _complete_notes(messages: tuple[Folded, ...]) -> int:
    lines = [line_of(said.saying) for said in sayings(messages, "")]
    characters = sum(len(line.label) + sum(atom.size for atom in line.atoms) for line in lines)
    return _LINE * len(lines) + int(characters / _CHARACTERS)


class _Page:
    """The lines, ranked, and what of them fits."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.said: list[Said] = sayings(order.messages, order.heading)
        self._lines: list[Line] = current([line_of(said.saying) for said in self.said])
        self._texts: dict[tuple[int, tuple[int, ...]], str] = {}

    def chosen(self) -> Sequence[Place]:
        """As many of the best as fit together, and what still fits of the next ones."""
        order = ranked(self._lines)
        reached = list(accumulate(self._characters(place) for place in order))
        room, allowed = self._order.tokens, self._order.tokens * _CHARACTERS
        low, high, spent = 0, len(order) + 1, 0
        for page in range(_PAGES):
            if high - low <= 1 or spent >= _FULL * room:
                break
            guess = bisect_right(reached, allowed) if page < _GUESSES else (low + high) // 2
            size = min(max(guess, low + 1), high - 1)
            tokens = self._tokens(order[:size])
            low, high, spent = (size, high, tokens) if tokens <= room else (low, size, spent)
            allowed = _CAUTION * reached[size - 1] * room / max(tokens, 1)
        best = order[:low]
        return best if spent >= _FULL * room else self._filled(best, order[low : low + _NEXT], room - spent)

    def _filled(self, best: list[Place], others: Sequence[Place], left: int) -> list[Place]:
        """The best, and those of the others that fit beside them, one by one."""
        for place in others:
            if self._characters(place) <= left * _LONGEST_TOKEN:
                tokens = self._tokens([*best, place])
                if tokens <= self._order.tokens:
                    best, left = [*best, place], self._order.tokens - tokens
        return best

    def rows(self, places: Sequence[Place]) -> Iterator[tuple[int, str]]:
        """Each line of which something is taken, in order, and its text."""
        taken: dict[int, list[int]] = defaultdict(list)
        for n, k in places:
            taken[n].append(k)
        for n in sorted(taken):
            atoms = tuple([k for k in sorted(taken[n]) if k >= 0])
            text = self._texts.get((n, atoms))
            if text is None:
                text = self._texts[n, atoms] = written(self._lines[n], atoms)
            yield n, text

    def text(self, places: Sequence[Place]) -> str:
        """The page with these places."""
        rows = [self._order.heading] if self._order.heading else []
        turn = -1
        for n, text in self.rows(places):
            said = self.said[n]
            rows.append(f"#{said.turn} {text}" if said.turn != turn and said.turn else text)
            turn = said.turn
        return "\n".join(rows)

    def _characters(self, place: Place) -> int:
        line = self._lines[place[0]]
        return line.atoms[place[1]].size if place[1] >= 0 else len(line.label) + 1

    def _tokens(self, places: Sequence[Place]) -> int:
        """Tokens of the page: a line with its break is counted once, and nothing joins over a break."""
        count = self._order.count
        return sum([count(f"{line}\n") for line in self.text(places).split("\n")])


def _composed(order: Order) -> str:
    page = _Page(order)
    places = page.chosen()
    return page.text(places) if places else ""


def _held(messages: Sequence[Folded]) -> int:
    """Characters of the messages."""
    return sum(len(m.said) if isinstance(m.said, str) else sum(len(p.text) for p in m.said) for m in messages)


_bodies: Memo[Order, str] = Memo(_composed, lambda order, text: len(text) + _held(order.messages))
_complete: Memo[tuple[Folded, ...], int] = Memo(_complete_notes, lambda messages, _: _held(messages) + 1)
