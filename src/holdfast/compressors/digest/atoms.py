"""What a digest is made of: lines of atoms, the smallest things that stay or go, and how a line is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple


class Group(NamedTuple):
    """What encloses atoms: a name before the bracket, and what stands between the members.

    ``columns`` are the names of the columns of a table, ``lean`` the numbers of those that every row shows.
    ``number`` tells neighbours of one name apart.
    """

    label: str
    separator: str = ", "
    number: int = 0
    columns: tuple[str, ...] = ()
    lean: tuple[int, ...] = ()


_TOKEN = 3.5  # characters
_COST = 0.85  # exponent of the size: longer atoms read better than many short ones


class Atom(NamedTuple):
    """The smallest thing that stays or goes.

    ``things`` are the exact things that it says, ``field`` the name under which it says them. A row of a table has
    ``cells``; an atom of a table with a ``column`` adds this column to every row.
    """

    text: str
    worth: float
    size: int
    """Characters that it takes, about."""
    field: str = ""
    things: tuple[str, ...] = ()
    path: tuple[Group, ...] = ()
    cells: tuple[str, ...] = ()
    column: int = -1
    times: int = 1
    """How many values of its field it holds."""
    firm: float = 0.0
    """Share of its worth that it keeps when its things are said again."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one message says, or one call with its result; ``label`` opens it if anything of it stays."""

    label: str
    atoms: tuple[Atom, ...]
    separator: str = " "
    worth: float = 0.0
    """That of the label alone."""

    things: frozenset[str] = frozenset()
    """What the label names."""

    density: float = field(init=False)
    """The worth of the label for the room that it takes."""

    densities: tuple[float, ...] = field(init=False)
    """The same of each atom."""

    def __post_init__(self) -> None:
        found = [_density(atom.worth / atom.times, atom.size / atom.times) for atom in self.atoms]
        object.__setattr__(self, "density", _density(self.worth, len(self.label)))
        object.__setattr__(self, "densities", tuple(found))

    @property
    def is_speech(self) -> bool:
        """Whether it is a message of words."""
        return self.separator == " "


def _density(worth: float, size: float) -> float:
    return worth / math.pow(1 + size / _TOKEN, _COST)


def written(line: Line, chosen: Sequence[int]) -> str:
    """The line with the chosen atoms, whose numbers ascend."""
    body = _members([line.atoms[n] for n in chosen], 0, line.separator)
    return f"{line.label} {body}".strip()


def _members(atoms: Sequence[Atom], depth: int, separator: str) -> str:
    if all(len(atom.path) <= depth for atom in atoms):
        return separator.join([atom.text for atom in atoms if atom.text])
    pieces: list[str] = []
    for group, inside in groupby(atoms, lambda atom: atom.path[depth] if len(atom.path) > depth else None):
        members = list(inside)
        if group is None:
            pieces += [atom.text for atom in members]
        elif group.columns:
            pieces.append(_table(group, members))
        else:
            body = _members(members, depth + 1, group.separator)
            pieces.append(f"{group.label} ({body})" if group.label else body)
    return separator.join(piece for piece in pieces if piece)


def _table(group: Group, members: Sequence[Atom]) -> str:
    rows = [atom for atom in members if atom.cells]
    shown = sorted({*group.lean, *(atom.column for atom in members if atom.column >= 0)})
    names = ", ".join(group.columns[n] for n in shown)
    pieces = [atom.text for atom in members if atom.text]
    pieces += [", ".join(atom.cells[n] for n in shown) for atom in rows]
    if rows:
        at = len(pieces) - len(rows)
        pieces[at] = f"[{names}] {pieces[at]}"
    return f"{group.label} ({'; '.join(pieces)})".lstrip() if pieces else ""
