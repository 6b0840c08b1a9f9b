"""What differs between two texts, in time that grows with their length whatever they hold."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "gone", "new", "left_out"]
_WORTH_SHOWING = 80  # characters: where less of a line stayed, the whole line is shown as another one


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text: same and gone, joined, are the old text; same and new are the new one.

    What ``folded`` leaves out is named by a piece of its own.
    """

    kind: Kind
    text: str


def difference(old: str, new: str) -> list[Piece]:
    """The pieces of two texts: lines that stayed between lines that went and came.

    Lines that both texts have exactly once anchor the comparison (Bram Cohen's patience diff, one level deep);
    between two anchors only equal beginnings and ends are matched, down to the character.
    """
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    pieces: list[Piece] = []
    at_a = at_b = 0
    for anchor_a, anchor_b in [*_anchors(a, b), (len(a), len(b))]:
        pieces += _between("".join(a[at_a:anchor_a]), "".join(b[at_b:anchor_b]))
        pieces += [Piece("same", line) for line in a[anchor_a : anchor_a + 1]]
        at_a, at_b = anchor_a + 1, anchor_b + 1
    return list(_joined(pieces))


def folded(pieces: Sequence[Piece], context: int = 3, most: int = 24, width: int = 600) -> Iterator[Piece]:
    """The pieces made short: ``context`` lines around a change, ``most`` lines of it, lines of ``width``."""
    for n, piece in enumerate(pieces):
        if piece.kind == "same":
            head = context if n else 0
            tail = context if n < len(pieces) - 1 else 0
        else:
            head, tail = most - most // 3, most // 3
        yield from _fold(piece, head, tail, width)


def _fold(piece: Piece, head: int, tail: int, width: int) -> Iterator[Piece]:
    lines = [_narrow(line, width) for line in piece.text.splitlines()]
    hidden = len(lines) - head - tail
    if hidden <= 1:
        yield Piece(piece.kind, "\n".join(lines))
        return
    if head:
        yield Piece(piece.kind, "\n".join(lines[:head]))
    yield Piece("left_out", f"{hidden:,} {'unchanged' if piece.kind == 'same' else 'more'} lines")
    if tail:
        yield Piece(piece.kind, "\n".join(lines[len(lines) - tail :]))


def _narrow(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    room = max(width - 28, 2)  # what the note between takes
    end = room // 3
    return f"{line[: room - end]} … {len(line) - room:,} characters … {line[len(line) - end :]}"


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of lines that both have once, in an order that both share: the longest such run."""
    times_a, times_b = Counter(a), Counter(b)
    place = {line: i for i, line in enumerate(b) if times_b[line] == 1}
    pairs = [(i, place[line]) for i, line in enumerate(a) if times_a[line] == 1 and line in place]
    ends: list[int] = []  # for each length of a run: the smallest position in b at which one ends
    last: list[int] = []  # and the pair with which it does
    previous: list[int] = []
    for n, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(j)
            last.append(n)
        else:
            ends[length], last[length] = j, n
    return _followed_back(pairs, previous, last[-1] if last else -1)


def _followed_back(pairs: list[tuple[int, int]], previous: list[int], n: int) -> list[tuple[int, int]]:
    run: list[tuple[int, int]] = []
    while n >= 0:
        run.append(pairs[n])
        n = previous[n]
    return run[::-1]


def _between(old: str, new: str) -> Iterator[Piece]:
    """An equal beginning, what went, what came, an equal end."""
    start = _shared_start(old, new)
    line = old.rfind("\n", 0, start) + 1
    if start - line < _WORTH_SHOWING:
        start = line
    end = _shared_start(old[start:][::-1], new[start:][::-1])
    line = old.find("\n", len(old) - end) + 1 or len(old)
    if line - (len(old) - end) < _WORTH_SHOWING:
        end = len(old) - line
    yield Piece("same", old[:start])
    yield Piece("gone", old[start : len(old) - end])
    yield Piece("new", new[start : len(new) - end])
    yield Piece("same", old[len(old) - end :])


def _shared_start(a: str, b: str) -> int:
    """The length of the equal beginning: halved until found, since comparing slices is fast."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one piece, empty ones left out."""
    kind: Kind | None = None
    texts: list[str] = []
    for piece in pieces:
        if not piece.text:
            continue
        if kind is not None and piece.kind != kind:
            yield Piece(kind, "".join(texts))
            texts = []
        kind = piece.kind
        texts.append(piece.text)
    if kind is not None:
        yield Piece(kind, "".join(texts))
