"""A log in the memory of the process, safe with many threads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace

from holdfast.kernel.forks import brief_lock
from holdfast.text.lexical import Lexical

from .logs import Line


class InProcessLog:
    """Keeps its lines until the object or the process ends."""

    def __init__(self) -> None:
        self._lock = brief_lock()
        self._lines: list[Line] = []
        self._places: dict[str, int] = {}
        self._words = Lexical()
        self._moments: list[tuple[float, int]] = []

    def length(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def append(self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True) -> list[int]:
        """Keep all of them, or none; the position of each."""
        del flush  # there is no disk
        with self._lock:
            if at is not None and at != len(self._lines):
                return []
            return [self._place(line) for line in lines]

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """Those of the positions that there are, in order."""
        with self._lock:
            end = len(self._lines)
            return {place: self._lines[place] for place in sorted(positions) if 0 <= place < end}

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of those of the ids that there are."""
        with self._lock:
            return {name: self._places[name] for name in ids if name in self._places}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of lines of this span of time, the earliest first."""
        with self._lock:
            start = bisect_left(self._moments, (first, 0))
            end = bisect_right(self._moments, (last, len(self._lines)))
            return [place for _, place in self._moments[start : min(end, start + most)]]

    def search(self, terms: Sequence[str], most: int) -> dict[int, float]:
        """BM25 scores by position, best first."""
        with self._lock:
            return dict(self._words.best_of(terms, most))

    def _place(self, line: Line) -> int:
        known = self._places.get(line.id) if line.id else None
        if known is not None:
            return known
        place = self._words.add(line.words)
        insort(self._moments, (line.time, place))
        self._lines.append(replace(line, words=""))
        if line.id:
            self._places[line.id] = place
        return place
