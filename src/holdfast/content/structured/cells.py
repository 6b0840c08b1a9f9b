"""How one value stands in a cell: bare where that can be read back, as JSON where it cannot."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .values import MISSING, Cell, Literal, Missing, dump, quote

EDGES = frozenset(" \t,;|~")
"""Characters of which separators are made: no bare text starts or ends with one."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {
    "null": None,
    "true": True,
    "false": False,
    "-": MISSING,
    "NaN": Literal("NaN"),
    "Infinity": Literal("Infinity"),
    "-Infinity": Literal("-Infinity"),
}
_JSON_STARTS = frozenset('"[{')
_SPECIAL_STARTS = EDGES | _JSON_STARTS
_DIGIT_STARTS = frozenset("-0123456789")


def is_text(values: Sequence[Cell]) -> bool:
    """Whether the column holds texts that look like numbers, and no number."""
    if Literal in set(map(type, values)):
        return False
    texts = (value for value in values if isinstance(value, str) and value[:1] in _DIGIT_STARTS)
    return any(map(_NUMBER.fullmatch, texts))


def cells(values: Sequence[Cell], follow: Collection[str], *, text: bool) -> list[str]:
    """The cells of a column; each is followed by one of ``follow``. ``text``: what looks like a number is none."""
    if all(type(value) is str for value in values):
        texts: list[str] = values  # type: ignore[assignment]
        if _all_bare(texts, follow, text=text):
            return list(texts)
    return [cell(value, follow, text=text) for value in values]


def _all_bare(texts: Sequence[str], follow: Collection[str], *, text: bool) -> bool:
    """What ``_is_bare`` says of every text, asked of the column as a whole."""
    starts = {value[:1] for value in texts}
    if (
        not starts.isdisjoint(_SPECIAL_STARTS)
        or "" in starts
        or not EDGES.isdisjoint(value[-1] for value in texts)
    ):
        return False
    whole = "\0".join(texts)
    if any(stop in whole for stop in follow) or not "".join(texts).isprintable():
        return False
    if not text and not starts.isdisjoint(_DIGIT_STARTS) and any(map(_NUMBER.fullmatch, texts)):
        return False
    return _WORDS.keys().isdisjoint(texts)


def _is_bare(value: str, follow: Collection[str], *, text: bool) -> bool:
    return (
        value != ""
        and value[0] not in _SPECIAL_STARTS
        and value[-1] not in EDGES
        and value.isprintable()
        and value not in _WORDS
        and (text or not _NUMBER.fullmatch(value))
        and not any(stop in value for stop in follow)
    )


def cell(value: Cell, follow: Collection[str], *, text: bool = False) -> str:
    """The value as it stands in a row."""
    if isinstance(value, Literal):
        return value
    if isinstance(value, str):
        return value if _is_bare(value, follow, text=text) else quote(value)
    return value.value if isinstance(value, Missing) else dump(value)


def value_of(bare: str, *, text: bool = False) -> Cell:
    """The value that stands bare in a cell: the inverse of ``cell`` where that wrote no JSON."""
    if bare in _WORDS:
        return _WORDS[bare]
    return Literal(bare) if not text and _NUMBER.fullmatch(bare) else bare
