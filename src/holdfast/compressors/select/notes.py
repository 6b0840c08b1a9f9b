"""The notes on the past, in a fixed order.

First the user's words, then the steps, each outcome under its act.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from holdfast.selection.pieces import Piece
from holdfast.stream.events import StreamEvent

from .candidates import TOKENS_A_CHARACTER, Candidates, Run, choose_fitting, runs

SAID = "What the user said:"
DONE = "What was said and done, step by step:"
GAP = "…"
_OURS = ("- ", "> ", SAID, DONE)
_REACH = 2  # times the room: candidates that cost less than estimated may fill it


class Told(NamedTuple):
    """An event, all its pieces, and the numbers of those in the notes, ascending."""

    event: StreamEvent
    pieces: Sequence[Piece]
    chosen: Sequence[int]
    failed: bool = False
    """Whether it is an act that failed and whose outcome is not in the notes."""


def told_of(
    found: Sequence[Run], candidates: Candidates, in_place: Collection[int] = ()
) -> list[Told]:
    """The chosen pieces as the notes show them, without events that stay ``in_place``."""
    events = candidates.events
    known = {events[run.number].act for run in found} | {events[number].act for number in in_place}
    failed = candidates.failed - known
    chosen = dict(found)
    return [
        Told(events[n], candidates.tellings[n].reading.pieces, chosen[n], n in failed)
        for n in under_their_acts(chosen, events)
        if n not in in_place
    ]


def under_their_acts(numbers: Collection[int], events: Sequence[StreamEvent]) -> list[int]:
    """The numbers of events in their order, but each outcome's after its act's, if that is there.

    Calls may be made together, and then their outcomes come after the last of them.
    """

    def place(number: int) -> tuple[int, int]:
        act = events[number].act
        return (act if act in numbers else number, number)

    return sorted(numbers, key=place)


class Notes:
    """Notes on some events, in at most ``tokens`` by ``count``, or in fewer."""

    def __init__(
        self,
        events: Sequence[StreamEvent],
        tokens: int,
        count: Callable[[str], int],
        heading: str = "",
    ) -> None:
        everything = range(len(events))
        self._candidates = Candidates(
            events, everything, lambda _: TOKENS_A_CHARACTER, room=max(tokens, 1)
        )
        self._order = self._candidates.order(tokens * _REACH)
        self._count, self._heading = count, heading

    def within(self, tokens: int) -> str:
        """The best that fit so many tokens; empty if nothing fits."""
        costs, values = self._candidates.costs, self._candidates.values
        return self._text(
            choose_fitting(
                self._order, costs, values, tokens, lambda chosen: self._count(self._text(chosen))
            )
        )

    def _text(self, chosen: Sequence[int]) -> str:
        told = told_of(runs(chosen, self._candidates.found), self._candidates)
        return written(told, self._heading) if told else ""


def written(told: Sequence[Told], heading: str, tail: Sequence[str] = ()) -> str:
    """The text of the notes; without a heading it is a bare list in order of time."""
    if not heading:
        return "\n".join([*(line for each in told for line in _lines(each, "- user: ")), *tail])
    said = [line for each in told if each.event.is_users_words for line in _lines(each, "- ")]
    done = [line for each in told if not each.event.is_users_words for line in _lines(each, "- ")]
    lines = [heading]
    if said:
        lines += [SAID, *said]
    if done:
        lines += [DONE, *done]
    return "\n".join([*lines, *tail])


def _lines(told: Told, users: str) -> Iterator[str]:
    """The pieces of an event after its speaker or act, with marks for gaps."""
    reached = 0
    lines: list[str] = []
    for number in told.chosen:
        piece = told.pieces[number]
        if piece.continues and number == reached:
            lines[-1] += f" {piece.text}"
        else:
            if number > reached and lines:
                lines[-1] += f" {GAP}"
            lines += map(_quoted, piece.text.split("\n"))
        reached = number + 1
    if reached < len(told.pieces):
        lines[-1] += f" {GAP}"
    opening = f"{GAP} " if told.chosen[0] else ""
    lines[0] = f"{_label(told, users)}{opening}{lines[0].lstrip()}"
    yield from lines


def _quoted(line: str) -> str:
    """A line of a text, indented if it looks like one of the notes' own lines."""
    return f" {line}" if line.startswith(_OURS) else line


def _label(told: Told, users: str) -> str:
    event = told.event
    if event.function == "notes":
        return ""
    if event.function == "outcome":
        return "> failed: " if event.failed else "> "
    if event.function == "words":
        return users if event.is_users_words else f"- {event.by}: "
    return "- failed: " if told.failed else "- "
