"""The body of a digest: the lines of what was said and done, as much of them as the room holds."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from holdfast.text.memo import Memo

from .atoms import Line, written
from .notation import line_of
from .ranking import Place, ranked
from .sayings import History, Said, sayings
from .superseding import current

_CHARACTERS = 3.5  # a token of notes, at first; then as it was found
_LINE = 2  # tokens of a line beside its words
_FULL = 0.985  # of the tokens: more is not worth another page
_CAUTION = 0.995  # of what should fit is tried next
_NEXT = 24  # pieces behind the best that may fill what is left
_LONGEST_TOKEN = 6  # characters, of a piece that may still fit
_MOST = 16_000_000  # characters of what was folded lately, which the next call may fold again
_PAGES, _GUESSES = 12, 5  # that are tried, the usual is three; of them by interpolation, the rest by halving


@dataclass(frozen=True, slots=True)
class Order:
    """What a digest is made of: ``heading`` opens it, ``tokens`` are what it may have as ``count`` counts them."""

    history: History
    heading: str
    tokens: int
    count: Callable[[str], int]


def body(order: Order) -> str:
    """The heading and the chosen lines, each turn with its number; empty where nothing fits."""
    return _bodies(order)


def lines_of(order: Order) -> Iterator[tuple[Said, str]]:
    """Every line that was chosen, with what it was made of."""
    page = _Page(order)
    page.fill()
    return ((page.said[n], text) for n, text in page.rows())


def noted(history: History) -> int:
    """Tokens of the complete notes on these messages, about."""
    return _complete(history)


def _complete_notes(history: History) -> int:
    lines = [line_of(said.saying) for said in sayings(history, "")]
    characters = sum([len(line.label) + sum([atom.size for atom in line.atoms]) for line in lines])
    return _LINE * len(lines) + int(characters / _CHARACTERS)


class _Page:
    """The lines, ranked, and what of them stands on it; what does not change stays written."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.said: list[Said] = sayings(order.history, order.heading)
        self._lines: list[Line] = current([line_of(said.saying) for said in self.said])
        self._ranked: list[Place] = ranked(self._lines)
        self._size = 0
        self._taken: dict[int, list[int]] = defaultdict(list)
        self._texts: dict[int, str] = {}
        self._counted = cache(self._of_line)

    def _of_line(self, line: str) -> int:
        return self._order.count(f"{line}\n")

    def fill(self) -> None:
        """As many of the best as fit together, and what still fits of the next ones."""
        reached = list(accumulate(map(self._characters, self._ranked)))
        room, allowed = self._order.tokens, self._order.tokens * _CHARACTERS
        low, high, spent = 0, len(reached) + 1, 0
        for page in range(_PAGES):
            if high - low <= 1 or spent >= _FULL * room:
                break
            guess = bisect_right(reached, allowed) if page < _GUESSES else (low + high) // 2
            size = min(max(guess, low + 1), high - 1)
            self._resize(size)
            tokens = self._tokens()
            low, high, spent = (size, high, tokens) if tokens <= room else (low, size, spent)
            allowed = _CAUTION * reached[size - 1] * room / max(tokens, 1)
        self._resize(low)
        if spent < _FULL * room:
            self._add(self._ranked[low : low + _NEXT], room - spent)

    def _resize(self, size: int) -> None:
        """So many of the best, and nothing else."""
        first, last = sorted((self._size, size))
        self._change(self._ranked[first:last])
        self._size = size

    def _add(self, others: Sequence[Place], left: int) -> None:
        """Those of the others that fit beside the best, one by one."""
        for place in others:
            if self._characters(place) <= left * _LONGEST_TOKEN:
                self._change([place])
                tokens = self._tokens()
                if tokens <= self._order.tokens:
                    left = self._order.tokens - tokens
                else:
                    self._change([place])

    def _change(self, places: Sequence[Place]) -> None:
        """Put there which of the places are not there, take away which are, and write their lines anew."""
        for n, k in places:
            taken = self._taken[n]
            if k in taken:
                taken.remove(k)
            else:
                insort(taken, k)
        for n in {n for n, _ in places}:
            taken = self._taken[n]
            if taken:
                self._texts[n] = written(self._lines[n], [k for k in taken if k >= 0])
            else:
                self._texts.pop(n, None)

    def rows(self) -> Iterator[tuple[int, str]]:
        """Each line of which something is there, in order: its number and its text."""
        return ((n, self._texts[n]) for n in sorted(self._texts))

    def text(self) -> str:
        """The page; empty where nothing fits."""
        return "\n".join(self._written()) if self._texts else ""

    def _written(self) -> Iterator[str]:
        """The heading and the lines, the first of each turn with its number."""
        if self._order.heading:
            yield self._order.heading
        turn = -1
        for n, text in self.rows():
            now = self.said[n].turn
            yield f"#{now} {text}" if now != turn and now else text
            turn = now

    def _characters(self, place: Place) -> int:
        line = self._lines[place[0]]
        return line.atoms[place[1]].size if place[1] >= 0 else len(line.label) + 1

    def _tokens(self) -> int:
        """Tokens of the page: a line with its break is counted once, and nothing joins over a break."""
        return sum(map(self._counted, self._written()))


def _composed(order: Order) -> str:
    page = _Page(order)
    page.fill()
    return page.text()


def _held(history: History) -> int:
    """Characters of the messages."""
    return sum([len(s) if isinstance(s, str) else sum([len(part.text) for part in s]) for s in history.said])


_bodies: Memo[Order, str] = Memo(_composed, lambda order, text: len(text) + _held(order.history), _MOST)
_complete: Memo[History, int] = Memo(_complete_notes, lambda history, _: _held(history) + 1, _MOST)
