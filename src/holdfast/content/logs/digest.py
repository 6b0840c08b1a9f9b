"""What a reader gets of a log: a line for each kind of line, and what the room allows beside.

Everything that could be told is a piece, and the pieces stand in one order of worth: lines that the question
points at; every kind in few words, failures first; every kind as a real line with its times; the lines around
rare failures; the last and the first lines; more lines that tell of failures. As many as fit are told, each once,
in an order that reads well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.kernel.ports import Room
from holdfast.text import fit
from holdfast.text.question import IDENTIFIER, Question

from .merge import Kind
from .mine import MORE, Miner
from .rank import Tier, entries, hits, ranked
from .times import Times

_TITLES = {
    Tier.FAILURES: "Failures:",
    Tier.WARNINGS: "Warnings:",
    Tier.OTHERS: "Other kinds:",
    Tier.TRACES: "Lines of traces:",
}
_LONGEST_LINE = 300
_AROUND = 80  # characters before and after what was asked for in a line that is longer
_MOST_LINES = 200  # of each sort of single lines
_EXACT_SHARE, _PLAIN_SHARE = 0.5, 0.12  # of the room, for lines that the question points at, before any kind
_RARE = 3  # lines of a failure that is worth its surroundings
_BEFORE, _AFTER = 2, 3  # lines around such a failure
_LAST, _FIRST = 12, 6
_MOST_OF_A_KIND = 30  # further lines of one kind of failure, evenly taken
_BURST = 12  # lines of a kind that may be a burst
_CHARACTERS = 4  # a token, to bring counted tokens to the unit of characters
_DENSE = 2.5  # characters a token in a log line; an estimate is enough where the whole is counted later
_LABEL, _TIMES = 3, 9  # tokens that the count and the times of a kind take beside its words


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that can be told: an entry in few words, an entry in full, or a line as it is."""

    what: Literal["short", "full", "asked", "line"]
    which: int
    tokens: int


class Digest:
    """The pieces of one log in the order of their worth, and how chosen ones are written."""

    def __init__(self, lines: Sequence[str], room: Room) -> None:
        self._lines, self._room = lines, room
        self._question = Question.of(room.question)
        miner = Miner(lines)
        self._times = Times(miner)
        told = entries(miner)
        costs = [room.count(entry.short) + _LABEL for entry in told]
        order = ranked(told, costs, self._question)
        self._entries = [told[at] for at in order]
        self._costs = [costs[at] for at in order]
        empty = len(lines) - sum(entry.kind.count for entry in told)
        self._wordless = f", {empty:,} of them without a word" if empty else ""
        self._pieces = self._in_order()

    def text(self) -> str | None:
        """As much as fits; None if the room is too small for a single piece."""
        sizes = [piece.tokens * _CHARACTERS for piece in self._pieces]
        return fit.fill(range(len(sizes)), sizes, self._written, self._room.tokens, self._room.count)

    def _in_order(self) -> list[Piece]:
        exact, plain = hits(self._lines, self._entries, self._question)
        asked = [*self._within(exact, _EXACT_SHARE), *self._within(plain, _PLAIN_SHARE)]
        told = {piece.which for piece in asked}
        more = [row for row in (*exact[:_MOST_LINES], *plain[:_MOST_LINES]) if row not in told]
        told.update(more)
        rest = [row for row in dict.fromkeys(self._unasked()) if row not in told]
        short = [Piece("short", number, cost) for number, cost in enumerate(self._costs)]
        return [*asked, *short, *self._in_full(), *self._pieces_of("asked", more), *self._pieces_of("line", rest)]

    def _unasked(self) -> Iterator[int]:
        """Lines worth reading whatever the question is: around rare failures, the ends, other failures."""
        count = len(self._lines)
        failures = [entry.kind.rows for entry in self._entries if entry.tier is Tier.FAILURES]
        for rows in failures:
            if len(rows) <= _RARE:
                yield from range(max(0, rows[0] - _BEFORE), min(count, rows[0] + _AFTER + 1))
        yield from range(count - 1, max(-1, count - 1 - _LAST), -1)
        yield from range(min(count, _FIRST))
        for rows in failures:
            yield from rows[:: max(1, len(rows) // _MOST_OF_A_KIND)]

    def _in_full(self) -> Iterable[Piece]:
        for number, entry in enumerate(self._entries):
            yield Piece("full", number, max(0, _estimate(entry.full) - _estimate(entry.short)) + _TIMES)

    def _within(self, rows: Sequence[int], share: float) -> list[Piece]:
        """The first of the lines, as many as take that share of the room."""
        left = share * self._room.tokens
        pieces: list[Piece] = []
        for piece in self._pieces_of("asked", rows[:_MOST_LINES]):
            left -= piece.tokens
            if left < 0:
                break
            pieces.append(piece)
        return pieces

    def _pieces_of(self, what: Literal["asked", "line"], rows: Iterable[int]) -> Iterator[Piece]:
        return (Piece(what, row, _estimate(self._line(row))) for row in rows if self._lines[row])

    def _line(self, row: int) -> str:
        line = self._lines[row]
        if len(line) > _LONGEST_LINE:
            line = self._window(line)
        return f"{row + 1}: {line}"

    def _window(self, line: str) -> str:
        """Of a long line its beginning, and what stands around the first exact name that was asked for."""
        low = line.lower()
        places = [low.find(term.needle) for term in self._question.terms if term.weight >= IDENTIFIER]
        place = min((place for place in places if place >= 0), default=0)
        if place < _LONGEST_LINE - _AROUND:
            return line[:_LONGEST_LINE] + MORE
        start, end = place - _AROUND, place + _AROUND
        return f"{line[: _LONGEST_LINE - 2 * _AROUND]}{MORE}{line[start:end]}{MORE if end < len(line) else ''}"

    def _written(self, chosen: Sequence[int]) -> str:
        picked: dict[str, list[int]] = {}
        for number in chosen:
            picked.setdefault(self._pieces[number].what, []).append(self._pieces[number].which)
        full = set(picked.get("full", ()))
        shown = sorted(full.union(picked.get("short", ())))
        parts = [
            self._heading(shown, full),
            *self._lines_under("Lines that the question names:", picked.get("asked", ())),
        ]
        for tier, title in _TITLES.items():
            members = [number for number in shown if self._entries[number].tier is tier]
            if members:
                members.sort(key=lambda number: self._entries[number].kind.count)
                parts += [title, *self._section(members, full)]
        return "\n".join([*parts, *self._lines_under("Lines by number:", picked.get("line", ()))])

    def _lines_under(self, title: str, rows: Sequence[int]) -> list[str]:
        return [title, *map(self._line, sorted(rows))] if rows else []

    def _heading(self, shown: Sequence[int], full: set[int]) -> str:
        total = len(self._entries)
        all_of_them = f"all {total} kinds of line" if total > 1 else "1 kind of line"
        kinds = all_of_them if len(shown) == total else f"{len(shown)} of {total} kinds of line"
        times = self._times.whole()
        when = f", {times}" if times else ""
        marks = f"×n n such lines, {MORE} differs, a|b either"
        if any(self._entries[number].kind.count > 1 for number in full):
            marks += ", other values of the first"
        return f"[log, {len(self._lines):,} lines{self._wordless}{when}; {kinds}: {marks}]"

    def _section(self, numbers: Sequence[int], full: set[int]) -> list[str]:
        groups: dict[str, list[int]] = {}
        for number in numbers:
            groups.setdefault(self._entries[number].label, []).append(number)
        lines: list[str] = []
        for label, members in groups.items():
            told = [
                self._told(number, "" if len(members) > 1 else label, full=number in full) for number in members
            ]
            if label and len(members) > 1:
                lines.append(label)
                lines += [f" {line}" for line in told]
            else:
                lines += told
        return lines

    def _told(self, number: int, label: str, *, full: bool) -> str:
        entry = self._entries[number]
        count = f"×{entry.kind.count}" if entry.kind.count > 1 else ""
        if not full:
            return " ".join(filter(None, (count, label, entry.short)))
        return " ".join(
            filter(None, (count, self._times.span(entry.kind), label, entry.full, self._burst(entry.kind)))
        )

    def _burst(self, kind: Kind) -> str:
        """Where most lines of a kind stand close together, those lines."""
        rows, most = kind.rows, kind.count // 2 + 1
        if kind.count < _BURST:
            return ""
        width, first = min((rows[at + most - 1] - rows[at], at) for at in range(kind.count - most + 1))
        if width * 5 > len(self._lines) * most / kind.count or rows[-1] - rows[0] < 2 * width:
            return ""
        return f"({most} of them in lines {rows[first] + 1}–{rows[first] + width + 1})"


def _estimate(line: str) -> int:
    return int(len(line) / _DENSE) + 1
