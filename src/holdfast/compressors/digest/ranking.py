"""Which atoms of a digest stay first: what is rare, exact, new and used later, for the room that it takes.

What is said again later stands there: the newest statement of a field wins, and of two equal calls the newer one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from .atoms import Atom, Line

_OLDEST = 0.9  # what is left of the worth of what was said first
_AGAIN = 0.15  # what is left of the worth of what is said again later
_ECHO = 0.02  # the same of what the call said already
_PARTLY = 0.3  # the same of a sentence of which every thing is named again
_LATER = 1.6  # what a row is worth more if something of it is spoken of later
_BULK = 0.3  # how fast the worth of a field falls with the number of its values
_CURRENCY = "$€£¥"
_TELLING = 3  # characters from which on a cell can be recognised elsewhere

Place = tuple[int, int]
"""A line, and the number of an atom of it; -1 for its label."""


def ranked(lines: Sequence[Line]) -> list[Place]:
    """The places of all atoms, and of labels that say something alone, the most worthwhile first."""
    bulk, told = _bulk(lines), _Told()
    places: list[Place] = []
    worths: list[float] = []
    for n in range(len(lines) - 1, -1, -1):
        line = lines[n]
        stale = told.opened(line) * (_OLDEST + (1 - _OLDEST) * n / len(lines))
        if line.worth:  # a name without a word behind it says nothing
            places.append((n, -1))
            worths.append(line.density * stale)
        places += [(n, k) for k in range(len(line.atoms))]
        worths += [
            density * bulk[atom.field] * stale * told.freshness(atom, line)
            for atom, density in zip(line.atoms, line.densities, strict=True)
        ]
        told.closed(line)
    best = sorted(range(len(places)), key=worths.__getitem__, reverse=True)  # of equals, what comes first here
    return [places[at] for at in best]


def _bulk(lines: Sequence[Line]) -> dict[str, float]:
    """What is left of the worth of a value, by how many its field has: most are never asked for."""
    held: dict[str, int] = defaultdict(int)
    for line in lines:
        for atom in line.atoms:
            held[atom.field] += atom.times
    return {field: 1 / (1 + _BULK * math.log2(times)) if field else 1.0 for field, times in held.items()}


class _Told:
    """What later lines say, gathered from the newest line backwards."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._unheard: list[Line] = []
        """Lines that are done with, of which nobody has asked yet what they use."""
        self._said: set[object] = set()
        self._calls: set[str] = set()

    def opened(self, line: Line) -> float:
        """What the line is still worth: little if the same call is made again later."""
        self._said.update(line.things)
        again = bool(line.things) and line.label in self._calls
        self._calls.add(line.label)
        return _AGAIN if again else 1.0

    def freshness(self, atom: Atom, line: Line) -> float:
        """How much of the atom's worth is its own; it is told from now on."""
        things, said = atom.things, self._said
        if atom.column >= 0:
            return self._used_later(things)
        if not things:
            again = atom.text in said
            said.add(atom.text)
            return _AGAIN if again else 1.0
        if atom.field:
            if not atom.cells and line.things.issuperset(things):
                return _ECHO
            statement = (atom.field, things)
            if statement in said:
                return _AGAIN
            said.add(statement)
        if atom.cells:
            share = self._used_later(atom.cells)
        else:
            fresh = (len(things) - sum(map(said.__contains__, things))) / len(things)
            share = atom.firm + (1 - atom.firm) * (_PARTLY + (1 - _PARTLY) * fresh)
        said.update(things)
        return share

    def _used_later(self, cells: Sequence[str]) -> float:
        for line in self._unheard:
            self._used.update(line.things)
            if line.is_speech:
                self._used.update(thing.lstrip(_CURRENCY) for atom in line.atoms for thing in atom.things)
        self._unheard.clear()
        return _LATER if any(len(cell) >= _TELLING for cell in self._used.intersection(cells)) else 1.0

    def closed(self, line: Line) -> None:
        """What the line speaks of, by its speaker or in its call, is used from the view of earlier lines."""
        self._unheard.append(line)
