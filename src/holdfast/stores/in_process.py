"""The reference store: dictionaries and logs in the memory of the process.

Safe with many threads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from time import monotonic

from holdfast.kernel.forks import brief_lock
from holdfast.text.similarity import Lexical, Scores

from .entries import EntryStore
from .protocols import Line


class InProcessLog:
    """A log in memory."""

    def __init__(self) -> None:
        self._lock = brief_lock()
        self.clear()

    def clear(self) -> None:
        """Remove all lines."""
        with self._lock:
            self._lines: list[Line] = []
            self._places: dict[str, int] = {}
            self._words = Lexical()
            self._moments: list[tuple[float, int]] = []
            """The time and the position of each line, in order."""

    def length(self) -> int:
        """The number of lines."""
        self._refresh()
        return len(self._lines)

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append all of the lines, or none; return their positions. There is no disk."""
        with self._lock:
            if at not in (None, len(self._lines)):
                return []
            return [self._place(line) for line in lines]

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order."""
        self._refresh()
        with self._lock:
            end = len(self._lines)
            return {place: self._lines[place] for place in sorted(positions) if 0 <= place < end}

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        self._refresh()
        with self._lock:
            return {name: self._places[name] for name in ids if name in self._places}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        self._refresh()
        with self._lock:
            start = bisect_left(self._moments, (first, 0))
            end = bisect_right(self._moments, (last, len(self._lines)))
            return [place for _, place in self._moments[start : min(end, start + most)]]

    def search(self, terms: Sequence[str], most: int) -> Scores:
        """BM25 scores by position, best first."""
        self._refresh()
        with self._lock:
            return dict(self._words.best_of(terms, most))

    def _refresh(self) -> None:
        """Take in what is kept elsewhere, before anything is read."""

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


class InProcessStore(EntryStore):
    """Keeps everything in memory; nothing is written to a disk.

    ``clock`` returns seconds, for expiry.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(clock)
        self._lock = brief_lock()
        self._entries: dict[str, tuple[bytes, float]] = {}
        """Of each key its value and the time at which it expires."""
        self._logs: dict[str, InProcessLog] = {}
        self._until_sweep = 1

    @classmethod
    def from_url(cls, url: str) -> InProcessStore:
        """Return the store that this process has for the URL.

        ``memory://`` alone is a name like any other.
        """
        return _SHARED.setdefault(url.partition("://")[2], cls())

    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""
        with self._lock:
            return self._entries[key][0] if self._live(key) else None

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was."""
        with self._lock:
            free = not self._live(key)
            if free:
                self._entries[key] = (bytes(value), inf)
            return free

    def delete(self, key: str) -> None:
        """Delete the key."""
        with self._lock:
            self._entries.pop(key, None)

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order."""
        with self._lock:
            return sorted(
                key for key in self._entries if key.startswith(prefix) and self._live(key)
            )

    def log(self, name: str) -> InProcessLog:
        """The log of this name, which may be empty."""
        made = InProcessLog()
        with self._lock:
            return self._logs.setdefault(name, made)

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        with self._lock:
            return sorted(
                name for name, log in self._logs.items() if name.startswith(prefix) and log.length()
            )

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines and their index."""
        self.log(name).clear()

    def _write(self, values: Mapping[str, bytes], ends: float | None = None) -> None:
        end = inf if ends is None else ends
        with self._lock:
            self._entries.update((key, (value, end)) for key, value in values.items())
            self._until_sweep -= len(values)
            if self._until_sweep <= 0:  # often enough to bound the work of an entry
                self._entries = {
                    key: entry for key, entry in self._entries.items() if self._live(key)
                }
                self._until_sweep = len(self._entries)

    def _live(self, key: str) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry[1] > self._clock()


# A URL must name the same store each time, so the process has one table of the names; a store that
# is made without a URL is not in it.
_SHARED: dict[str, InProcessStore] = {}
