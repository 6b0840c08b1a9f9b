"""The pieces of a conversation that may be kept, with their cost and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from math import fsum, inf
from typing import NamedTuple

from holdfast.kernel.budget import Meter
from holdfast.kernel.messages import Message
from holdfast.selection.excerpt import valued
from holdfast.selection.order import MOST, ordered, picked
from holdfast.selection.pieces import Piece
from holdfast.selection.things import Form
from holdfast.selection.weights import Use, table, worth_of
from holdfast.stream.events import StreamEvent
from holdfast.stream.tellings import Closely, Telling, telling_of, uses_of
from holdfast.text.fit import beginning, filled

Rate = Callable[[StreamEvent], float]

TOKENS_A_CHARACTER = 0.3  # until it is measured; plain English has 0.25
IDLE = 0.1  # share of the room; if more is left, what comes later has it
_NEARLY_ALL = 0.8  # share of the tokens of all candidates that are of one text


class PieceOfEvent(NamedTuple):
    """A piece: the number of its event, and its own."""

    event: int
    number: int
    """The number of the piece within its event."""


class Candidates:
    """The pieces of some events of a conversation."""

    def __init__(
        self,
        events: Sequence[StreamEvent],
        among: Collection[int],
        rate: Rate,
        question: str = "",
        share: float = 0.0,
        room: float = inf,
    ) -> None:
        """Read and value the pieces of the events with the numbers ``among``, which may be chosen.

        ``rate`` returns an event's tokens for each character. ``share`` is the value of the best
        answer to the question, and ``room`` the tokens that all pieces together may take.
        """
        self.events, self._among = events, among
        self.failed = {event.act for event in events if event.failed}
        """The numbers of the acts that failed."""
        self.tellings = _tellings(events, room * MOST, question)
        self.found: list[PieceOfEvent] = []
        self._pieces: list[Piece] = []
        self._tells: list[tuple[str, ...]] = []
        self._forms: list[Form] = []
        self.costs: list[float] = []
        heads: dict[int, int] = {}
        for number in sorted(among):
            telling = self.tellings[number]
            if telling.numbers:  # a call without a name and arguments has no piece
                heads[number] = len(self.found)
            self._add(number, telling, rate(events[number]), heads.get(events[number].act, -1))
        uses, weights = uses_of(events, self.tellings), table()
        said = self._said(uses)
        alone = self._asks_of_one_text()
        best = weights.asked if alone else share
        answers = valued(self._pieces, question, best, weights.among_others, alone=alone)
        self._tells = [
            (*mine, *more) if more else mine
            for mine, more in zip(self._tells, answers.tells, strict=True)
        ]
        self._bonus = [own + near for own, near in zip(said, answers.bonus, strict=True)]
        worth = worth_of(uses, max(len(events), 1)) | answers.worth
        self._worth = dict.fromkeys(chain.from_iterable(self._tells), 0.0) | worth
        self.values = [
            fsum(map(self._worth.__getitem__, told)) + bonus
            for told, bonus in zip(self._tells, self._bonus, strict=True)
        ]

    def _add(self, number: int, telling: Telling, rate: float, act: int) -> None:
        base, numbers = len(self.found), telling.numbers
        self.found += [PieceOfEvent(number, at) for at in numbers]
        self._tells += telling.tells
        self._forms += telling.forms
        self.costs += [cost * rate for cost in telling.costs]
        for piece in picked(telling.reading.pieces, numbers):
            under = base + piece.under if piece.under >= 0 else act
            self._pieces.append(piece if under == piece.under else piece._replace(under=under))

    def order(self, enough: float) -> list[int]:
        """The candidates' numbers, the best first, until together they cost ``enough`` tokens."""
        elsewhere = [each for n, each in enumerate(self.tellings) if n not in self._among]
        known = Counter(chain.from_iterable({*chain.from_iterable(t.tells)} for t in elsewhere))
        return self._ordered(range(len(self.found)), known, enough)

    def best_first(self, numbers: Sequence[int], enough: float) -> list[int]:
        """Some of the candidates, the best first, as if nothing else told what they tell.

        It ends when they cost ``enough`` tokens together.
        """
        return self._ordered(numbers, {}, enough)

    def _ordered(
        self, numbers: Sequence[int], known: Mapping[str, int], enough: float
    ) -> list[int]:
        """Some of the candidates, the best first; ``known`` counts what is told elsewhere."""
        found = ordered(
            picked(self._pieces, numbers),
            [self._tells[n] for n in numbers],
            [self.costs[n] for n in numbers],
            self._worth,
            again=table().again,
            told=known,
            forms=[self._forms[n] for n in numbers],
            bonus=[self._bonus[n] for n in numbers],
            enough=enough,
        )
        return [numbers[each] for each in found]

    def _asks_of_one_text(self) -> bool:
        """Whether a user spoke last and most candidates are from one text."""
        newest = self.events[-1] if self.events else None
        if newest is None or not newest.is_users_words:
            return False
        sizes: dict[int, float] = {}
        for candidate, cost in zip(self.found, self.costs, strict=True):
            sizes[candidate.event] = sizes.get(candidate.event, 0.0) + cost
        return max(sizes.values(), default=0.0) >= _NEARLY_ALL * sum(sizes.values())

    def _said(self, uses: Mapping[str, Use]) -> list[float]:
        """The value of each piece by its speaker, times the mean rarity of the things in it.

        Findings, decisions and instructions have rare words; announcements of the next step have
        the common words of the work. A user who says more than anybody types passes on a text: its
        pieces share the value of a typed message.
        """
        weights = table()
        rarity = {thing: 1 / use.events for thing, use in uses.items()}
        said: list[float] = []
        for (number, _), told in zip(self.found, self._tells, strict=True):
            event = self.events[number]
            worth = weights.said.get(_role(event), 0.0)
            if worth and event.is_users_words:
                worth *= min(1.0, weights.typed / len(self.tellings[number].reading.pieces))
            if worth:
                worth *= fsum([rarity[t] for t in told if t in rarity])
            said.append(worth / max(1, len(told)))
        return said


def _tellings(events: Sequence[StreamEvent], most: float, question: str) -> list[Telling]:
    """The pieces of each event; of one longer than ``most`` characters, only the best."""
    short = {n: telling_of(event) for n, event in enumerate(events) if len(event.text) <= most}
    if len(short) == len(events):
        return list(short.values())
    closely = Closely(most, question, frozenset().union(*(each.names for each in short.values())))
    return [short.get(n) or telling_of(event, closely) for n, event in enumerate(events)]


def _role(event: StreamEvent) -> str:
    return f"{event.by} {event.function}" if event.function == "words" else event.function


def rates(messages: Sequence[Message], meter: Meter) -> Rate:
    """Return a function that gives the tokens per character of an event's part."""

    def rate(event: StreamEvent) -> float:
        text = messages[event.message].parts[event.part].text
        return meter.text(text) / len(text) if text else TOKENS_A_CHARACTER

    return rate


def choose_fitting(
    order: Sequence[int],
    costs: Sequence[float],
    values: Sequence[float],
    room: int,
    tokens: Callable[[Sequence[int]], int],
    first: Sequence[int] = (),
) -> list[int]:
    """Choose ``first`` as far as it fits, then the beginning of the order that fits.

    If much room is left then, the next pieces that fit have it.

    ``costs`` are estimates; ``tokens`` counts a choice exactly. One piece with a higher value than
    the whole beginning replaces it: otherwise trifles would fill a small room (Khuller, Moss and
    Naor 1999).
    """
    firm: list[int] = []
    for number in first:
        if tokens([*firm, number]) <= room:
            firm.append(number)
    rest = [number for number in order if number not in set(firm)]

    def cost(some: Sequence[int]) -> int:
        return tokens([*firm, *some])

    spent = cost(()) if firm else 0
    chosen, spent = beginning(rest, costs, cost, room, room - spent)
    if chosen:
        chosen, spent = _extended(chosen, spent, rest, costs, cost, room)
        chosen = filled(chosen, spent, rest, costs, cost, room, room * (1 - IDLE))
    best = max(rest, key=values.__getitem__, default=None)
    outweighs = best is not None and values[best] > sum(map(values.__getitem__, chosen))
    if best is not None and outweighs and cost([best]) <= room:
        chosen = [best]
    return [*firm, *chosen]


def _extended(
    chosen: Sequence[int],
    spent: int,
    order: Sequence[int],
    costs: Sequence[float],
    cost: Callable[[Sequence[int]], int],
    room: int,
) -> tuple[Sequence[int], int]:
    """A beginning of the order up to the first piece that does not fit, and what it costs.

    The search for a beginning ends close enough to the room, where that of a smaller room may have
    found a longer one.
    """
    for number in order[order.index(chosen[-1]) + 1 :]:
        if spent + costs[number] > room or (taken := cost([*chosen, number])) > room:
            break
        chosen, spent = [*chosen, number], taken
    return chosen, spent


class Run(NamedTuple):
    """The chosen pieces of one event, by their numbers, ascending."""

    number: int
    chosen: Sequence[int]


def runs(chosen: Sequence[int], found: Sequence[PieceOfEvent]) -> list[Run]:
    """The chosen candidates by event, in the order of the events."""
    by_event: dict[int, list[int]] = {}
    for number in chosen:
        by_event.setdefault(found[number].event, []).append(found[number].number)
    return [Run(event, sorted(by_event[event])) for event in sorted(by_event)]
