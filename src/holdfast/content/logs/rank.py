"""Which kinds of line matter most, and which lines the question points at."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from holdfast.content.excerpt import asked
from holdfast.text.importance import FAILURE, TROUBLE, alarm
from holdfast.text.question import IDENTIFIER, Question
from holdfast.text.states import failing, written

from .levels import severity, shown
from .merge import MASK, Kind
from .mine import MORE, Miner
from .wording import Wording, shared_start

_FEW_LINES = 20  # lines that may hold a term of the question which still points at them
_FEW_OF_ALL = 0.05  # or this share of the lines
_SHARED = 3  # characters that components must have in common to be called by them
_VALUES = re.compile(rf"{MASK}(?:[,.:;/_+-]+{MASK})*+")
_PACKAGES = re.compile(r"(?:[a-z_][a-z0-9_]*+\.){2,}(?=[A-Za-z])")


class Tier(IntEnum):
    """In what order kinds are told."""

    FAILURES = 0
    WARNINGS = 1
    OTHERS = 2
    TRACES = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind as it is told: in few words, or as a real line, under the label of its component."""

    kind: Kind
    tier: Tier
    label: str
    short: str
    full: str


def entries(miner: Miner) -> list[Entry]:
    """Every kind of line of the log, but the marks below the lines of a trace."""
    kinds = miner.kinds()
    levels: dict[tuple[str, ...], set[str]] = {}
    for kind in kinds:
        levels.setdefault(kind.words, set()).add(kind.level)
    told = [_entry(kind, miner, among=len(levels[kind.words])) for kind in kinds]
    return [entry for entry in told if entry.tier is not Tier.TRACES or any(map(str.isalnum, entry.full))]


def _entry(kind: Kind, miner: Miner, among: int) -> Entry:
    """The entry of a kind whose words are said at so many levels."""
    wording = Wording(kind, miner)
    full = wording.full()
    worst = max((severity(level) for level, _ in kind.labels), default=0)
    bad = alarm(full)
    if kind.continues and miner.lines[kind.rows[0]][:1].isspace():
        tier = Tier.TRACES
    elif worst == 2 or bad >= FAILURE or any(map(failing, _said(kind))):
        tier = Tier.FAILURES
    elif worst == 1 or bad >= TROUBLE:
        tier = Tier.WARNINGS
    else:
        tier = Tier.OTHERS
    levelled = worst > 0 or among > 1 or not kind.words
    return Entry(kind, tier, _label(kind, levelled=levelled), wording.short(), full)


def _said(kind: Kind) -> Iterator[str]:
    """The words of a kind and of its components."""
    yield from kind.words
    yield from (tag for _, tag in kind.labels)


def _label(kind: Kind, *, levelled: bool) -> str:
    """The level, where it says more than that all is well or tells the kind from another, and the component."""
    most_first = sorted(kind.labels.items(), key=lambda entry: -entry[1])
    levels = [shown(level) for (level, _), _ in most_first if level and levelled]
    tags = list(dict.fromkeys(written(_plain(tag)) for (_, tag), _ in most_first if tag))
    return " ".join(filter(None, (*levels[:1], _together(tags))))


def _plain(tag: str) -> str:
    """A component, of a shape, without its process number and the packages that it is in."""
    tag = _VALUES.sub(MORE, tag.replace(f"[{MASK}]", ""))
    packages = _PACKAGES.match(tag)
    return tag[packages.end() :] if packages else tag


def _together(tags: Sequence[str]) -> str:
    """One component, or what several have in common."""
    if len(tags) < 2:
        return "".join(tags)
    shared = shared_start(tags)
    if len(shared) > _SHARED and not shared[-1].isalnum():
        return shared + MORE
    return f"{tags[0]}|{MORE}"


def ranked(told: Sequence[Entry], costs: Sequence[int], question: Question) -> list[int]:
    """The entries' numbers in the order of their worth.

    Failures first. Within a tier what the question names; then one of each family of kinds that begin or end
    alike before its second; then rare before frequent, and what is said in few words before what takes many.
    """
    worth_asked = asked(question, [f"{entry.label} {entry.short}" for entry in told])
    worth = [cost * (1 + math.log10(entry.kind.count)) for entry, cost in zip(told, costs, strict=True)]
    first = sorted(range(len(told)), key=lambda at: (told[at].tier, -worth_asked[at], told[at].kind.count))
    turns = _turns(told, first)
    return sorted(first, key=lambda at: (told[at].tier, -worth_asked[at], turns[at], worth[at]))


def _turns(told: Sequence[Entry], order: Sequence[int]) -> dict[int, int]:
    """How many entries that begin or end with the same words stand before each."""
    seen: dict[tuple[str, ...], int] = {}
    turns: dict[int, int] = {}
    for at in order:
        words = [word for word in told[at].kind.words if len(word) > 2 and word.isalpha()]
        keys = [("head", *words[:2]), ("tail", *words[-2:])] if words else []
        turns[at] = max((seen.get(key, 0) for key in keys), default=0)
        for key in keys:
            seen[key] = seen.get(key, 0) + 1
    return turns


def hits(lines: Sequence[str], told: Sequence[Entry], question: Question) -> tuple[list[int], list[int]]:
    """The lines that hold what the question names where their kind does not say it anyway, best first.

    Those that hold an exact name, such as an id, and those that hold plain words only.
    """
    if not question:
        return [], []
    low = [line.lower() for line in lines]
    whole = "\n".join(low)
    terse = [f"{entry.label} {entry.short}".lower() for entry in told]
    said = {row: short for entry, short in zip(told, terse, strict=True) for row in entry.kind.rows}
    exact: dict[int, float] = {}
    plain: dict[int, float] = {}
    for term in question.terms:
        if term.needle not in whole:
            continue
        rows = [
            row for row, line in enumerate(low) if term.needle in line and term.needle not in said.get(row, "")
        ]
        rows = [row for row in rows if term.found_in(lines[row], low[row])]
        if term.weight < IDENTIFIER and len(rows) > max(_FEW_LINES, _FEW_OF_ALL * len(lines)):
            continue
        found = exact if term.weight >= IDENTIFIER else plain
        worth = term.weight * math.log1p(len(lines) / (len(rows) or 1))
        for row in rows:
            found[row] = found.get(row, 0.0) + worth
    for row in exact:
        exact[row] += plain.pop(row, 0.0)
    return _spread(exact, told), _spread(plain, told)


def _spread(worth: dict[int, float], told: Sequence[Entry]) -> list[int]:
    """The rows by worth, and of equal ones the first of each kind before its second, failures first."""
    kind_of = {row: number for number, entry in enumerate(told) for row in entry.kind.rows if row in worth}
    turn: dict[int, int] = {}
    key: dict[int, tuple[float, int, int, int]] = {}
    for row in sorted(worth):
        number = kind_of.get(row, -1)
        turn[number] = turn.get(number, -1) + 1
        key[row] = (-worth[row], turn[number], told[number].tier if number >= 0 else Tier.OTHERS, row)
    return sorted(worth, key=lambda row: key[row])
