"""When lines were written, in as few words as tell their times apart."""

from __future__ import annotations

import re

from .merge import Kind
from .mine import Miner

_SAMPLE = 40  # lines whose times are compared
_PARTS = re.compile(r"\s+|(?<=\d)[T_](?=\d)|(?<=\d)-(?=\d\d:)")
_CLOCK = re.compile(r"(\d{1,2}:\d\d)(:\d\d)?\S*")
_BRACKETS = "[](){}<>,;\"' "


class Times:
    """The times of one log: what is the same in all of them is said once, by ``whole``."""

    def __init__(self, miner: Miner) -> None:
        self._miner = miner
        last = len(miner.lines) - 1
        known = [self._parts(row) for row in sorted({last * part // _SAMPLE for part in range(_SAMPLE + 1)})]
        known = [parts for parts in known if parts]
        self._first, self._last = (known[0], known[-1]) if known else ([], [])
        columns = list(zip(*known, strict=False))
        named = bool(columns) and len(columns) > 3 and all(map(str.isalpha, columns[0]))
        self._telling = [
            at for at, column in enumerate(columns) if len(set(column)) > 1 and not (named and at == 0)
        ]
        hours = {part.split(":")[0] for parts in known for part in parts if _CLOCK.match(part)}
        self._to_the_second = len(hours) == 1

    def whole(self) -> str:
        """The first and the last time as they are written, or nothing."""
        if not self._first:
            return ""
        return f"{' '.join(self._first)} – {' '.join(self._last)}"

    def span(self, kind: Kind) -> str:
        """When the kind was first and last seen, or nothing where the lines have no times."""
        first, last = self._label(kind.rows[0]), self._label(kind.rows[-1])
        if not first or not last or first == last:
            return " ".join(first)
        while len(last) > 1 and len(first) == len(last) and first[-len(last)] == last[0]:
            last = last[1:]
        return f"{' '.join(first)}–{' '.join(last)}"

    def _label(self, row: int) -> list[str]:
        parts = self._parts(row)
        return [self._short(parts[at]) for at in self._telling if at < len(parts)]

    def _short(self, part: str) -> str:
        clock = _CLOCK.fullmatch(part)
        if clock is None:
            return part
        return clock[1] + (clock[2] or "") if self._to_the_second else clock[1]

    def _parts(self, row: int) -> list[str]:
        time = self._miner.head(row).time.strip(_BRACKETS)
        return _PARTS.split(time) if time else []
