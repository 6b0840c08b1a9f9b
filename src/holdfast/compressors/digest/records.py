"""A document as atoms: each value beside the name of its field, records of one shape as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from holdfast.content.structured.values import Value, dump
from holdfast.text.facts import exactness

from .atoms import Atom, Group

_DEEPEST = 8
_LONG = 160  # characters: a value that is longer is prose, and loses its end
_MOST_ROWS = 200
_ALIKE = 0.35  # share of common fields from which on records make one table
_LEAN = 2.0  # worth of a column's cells, on average, from which on every row shows it
_NUMBER = "no"  # the column that numbers lists of records
_NAMED, _CODED, _PLAIN, _EMPTY = 1.0, 1.0, 0.8, 0.3
_NAMING = re.compile(
    r"(?:^|[_.\s-])(?:ids?|uuid|sku|key|ref|reference|code|number|name|email|phone|url|path|file|title)$"
    r"|[a-z]I[dD]s?$",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"[a-z]+(?:[_ -][a-z]+){0,3}")  # one of a few words that a field may have
_NOTHING = frozenset({"null", "true", "false", "none", "0", "0.0", "", "[]", "{}", "no", "yes", "n/a", "-"})

Row = Mapping[str, str]


def atoms_of(value: Value, path: tuple[Group, ...] = (), label: str = "", depth: int = 0) -> Iterator[Atom]:
    """The atoms of a document in its own order."""
    if value and isinstance(value, dict) and depth < _DEEPEST:
        yield from _members(value, path, label, depth)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(v, dict | list) for v in value):
        yield from _listed(value, path, label, depth)
    else:
        text = plain(value)
        said = f"{label} {text}".strip()
        if text:
            yield Atom(said, worth(label, text), len(said) + 2, label, (text,), path)


def plain(value: Value) -> str:
    """A value in one line; of a list, its members."""
    if isinstance(value, list) and value and not any(isinstance(member, dict | list) for member in value):
        return " | ".join(map(plain, value))
    text = value if isinstance(value, str) else dump(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG].rsplit(' ', 1)[0]}…"


@lru_cache(maxsize=1 << 14)
def worth(field: str, text: str) -> float:
    """Worth of a value under the name of its field."""
    if text.lower() in _NOTHING:
        return _EMPTY
    if _CHOICE.fullmatch(text):
        return _PLAIN
    coded = _CODED if text.isupper() and text.isalnum() else 0.0
    return _PLAIN + exactness(text) + coded + (_NAMED if _names(field) else 0.0)


@lru_cache(maxsize=1 << 12)
def _names(field: str) -> bool:
    """Whether a field of this name says which thing a record speaks of."""
    return _NAMING.search(field) is not None


def _members(value: dict[str, Value], path: tuple[Group, ...], label: str, depth: int) -> Iterator[Atom]:
    rows = _keyed(value)
    if rows:
        yield from _table(rows, path, label)
        return
    inside = (*path, Group(label)) if label else path
    for key, child in value.items():
        yield from atoms_of(child, inside, key, depth + 1)


def _listed(values: Sequence[Value], path: tuple[Group, ...], label: str, depth: int) -> Iterator[Atom]:
    rows = _rows(values)
    if rows:
        yield from _table(rows, path, label)
        return
    group = Group(label, "; ")
    for n, child in enumerate(values[:_MOST_ROWS]):
        yield from atoms_of(child, (*path, group, Group("", number=n)), "", depth + 2)


def _keyed(value: dict[str, Value]) -> list[Row]:
    """The rows of an object whose values are records of one shape: the key is their first column."""
    if len(value) < 2 or not all(isinstance(child, dict) for child in value.values()):
        return []
    keyed = [{"": key, **row} for key, row in zip(value, _rows(list(value.values())), strict=False)]
    echoes = {name for row in keyed[:1] for name in row if name and all(r.get(name) == r[""] for r in keyed)}
    return [{name: cell for name, cell in row.items() if name not in echoes} for row in keyed]


def _rows(values: Sequence[Value]) -> list[Row]:
    """Flat records of one shape, or numbered lists of them; none where there is anything else."""
    if len(values) < 2:
        return []
    rows: list[Row] = []
    for n, value in enumerate(values[:_MOST_ROWS], 1):
        if isinstance(value, list) and value and all(isinstance(member, dict) for member in value):
            rows += [{_NUMBER: str(n), **dict(_flat(member, ""))} for member in value]
        elif isinstance(value, dict):
            rows.append(dict(_flat(value, "")))
        else:
            return []
    common = set(rows[0]).intersection(*rows)
    every = {name for row in rows for name in row}
    return rows if common and len(common) >= _ALIKE * len(every) and "" not in every else []


def _flat(value: Value, name: str) -> Iterator[tuple[str, str]]:
    """The fields of a record and of the records in it; a nameless one where it holds lists of records."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _flat(child, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        yield "", ""
    else:
        yield name, plain(value)


def _table(rows: Sequence[Row], path: tuple[Group, ...], label: str) -> Iterator[Atom]:
    """What is the same in all rows once; the rows with the columns that tell them apart; the other columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = {name: [row.get(name, "-") for row in rows] for name in names}
    varied = [name for name in names if len(set(cells[name])) > 1] or names[:1]
    worths = {name: [worth(name, cell) for cell in cells[name]] for name in varied}
    lean = [n for n, name in enumerate(varied) if _is_lean(name, worths[name])] or [0]
    inside = (*path, Group(label, "; ", 0, tuple(name or "key" for name in varied), tuple(lean)))
    if len(rows) >= _MOST_ROWS:
        yield Atom(f"the first {len(rows)}", _PLAIN, 16, "", (), inside)
    for name in names:
        if name not in worths:
            text = f"{name} {cells[name][0]}"
            yield Atom(text, worth(name, cells[name][0]), len(text) + 2, name, (cells[name][0],), inside)
    for n, name in enumerate(varied):
        if n not in lean:
            size = len(name) + 2 + sum(len(cell) + 2 for cell in cells[name])
            yield Atom("", sum(worths[name]), size, name, tuple(cells[name]), inside, (), n, len(rows))
    for r in range(len(rows)):
        row = tuple(cells[name][r] for name in varied)
        shown = tuple(row[n] for n in lean)
        value = sum(worths[varied[n]][r] for n in lean)
        yield Atom("", value, sum(len(cell) + 2 for cell in shown), varied[lean[0]], shown, inside, row)


def _is_lean(name: str, worths: Sequence[float]) -> bool:
    return name in {"", _NUMBER} or sum(worths) >= _LEAN * len(worths)
