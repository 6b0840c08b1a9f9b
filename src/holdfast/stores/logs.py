"""What a store needs beside keys and values to hold sessions: logs, whose lines only become more."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    ``id``: what no other line of the log is called, empty where it has no name. ``time``: when it was, in seconds
    since 1970 UTC, in whatever order. ``words``: the text by which ``search`` finds it, empty where it is not to
    be found, and never given back.
    """

    body: str
    id: str = ""
    time: float = 0.0
    words: str = ""


class MessageLog(Protocol):
    """Lines in the order in which they were kept: their positions run from 0, and none ever changes or leaves."""

    def length(self) -> int | Awaitable[int]:
        """How many lines there are."""
        ...

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> Sequence[int] | Awaitable[Sequence[int]]:
        """Keep all of them, on the disk when this returns, or none; the position of each.

        A line whose id is known is not kept again: its position is that of the first. With ``at``, they are kept
        only if the log ends there; else nothing is, and the answer is empty. Without ``flush`` they outlive the
        process, but may reach the disk as late as what is appended next with it.
        """
        ...

    def read(self, positions: Sequence[int]) -> Mapping[int, Line] | Awaitable[Mapping[int, Line]]:
        """Those of the positions that there are, in order; a ``range`` is read in one go."""
        ...

    def find(self, ids: Sequence[str]) -> Mapping[str, int] | Awaitable[Mapping[str, int]]:
        """The positions of those of the ids that there are."""
        ...

    def between(self, first: float, last: float, most: int) -> Sequence[int] | Awaitable[Sequence[int]]:
        """The positions of at most so many lines of this span of time, both ends included, the earliest first."""
        ...

    def search(self, terms: Sequence[str], most: int) -> Mapping[int, float] | Awaitable[Mapping[int, float]]:
        """At most so many lines that hold one of the terms, best first: BM25 scores by position.

        Of a term of several words all must stand in the line, side by side if the log can tell.
        """
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """A store that holds logs beside its keys, each under a name that may be any text."""

    def log(self, name: str) -> MessageLog:
        """The log of this name; empty until something is appended."""
        ...

    def logs(self, prefix: str = "") -> Sequence[str] | Awaitable[Sequence[str]]:
        """The names of the logs that hold a line and start with the prefix, in order."""
        ...
