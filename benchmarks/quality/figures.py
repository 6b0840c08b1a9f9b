"""Figures of many cases: made in two processes, averaged, and printed as tables of 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

from .bench import scorer
from .doors import DOORS, Fitted

PROCESSES = 2
CHUNK = 4
WIDTH = 100
FULL = 0.85
"""The share of a budget below which room is left unused."""

Figures = dict[str, float]
Given = TypeVar("Given")
Made = TypeVar("Made")


def parallel(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    chunk: int = CHUNK,
) -> Iterator[Made]:
    """The work on each item, in order, in two processes."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        yield from pool.map(work, items, chunksize=chunk)


def scored(folder: Path, case: dict[str, Any], fitted: Fitted, query: int | None = None) -> Figures:
    """What the benchmark's scorer says of a result, and whether the originals came back."""
    score = scorer(folder)
    counted = {**case, "_tokens": score.tokens(case["messages"])}
    result = {"messages": fitted.messages, "query": query, "seconds": fitted.seconds}
    told = score.score_case(counted, result)
    found = {name: float(value) for name, value in told.items() if value is not None}
    return found | {"restored": float(fitted.exact)}


def through(job: tuple[Path, str, dict[str, Any]]) -> Figures:
    """A case through a door."""
    folder, door, case = job
    return scored(folder, case, DOORS[door](folder, case["messages"], case["budget"]))


def average(rows: Sequence[Figures], name: str) -> float | None:
    """The mean of a figure over the cases that have it; None if none has."""
    known = [row[name] for row in rows if name in row]
    return mean(known) if known else None


def kept_laws(rows: Sequence[Figures]) -> bool:
    """Whether every case fits, has its calls answered, and gives its originals back."""
    return all(row[law] == 1 for row in rows for law in ("fits", "pairs", "restored") if law in row)


def room(rows: Sequence[Figures]) -> list[str]:
    """How full the budgets are: on average, at least, and how many are not."""
    used = [row["used"] for row in rows]
    return [number(mean(used)), number(min(used)), str(sum(each < FULL for each in used))]


def number(value: float | None) -> str:
    """Three digits behind the point, 1 where it is exactly that, a dash for nothing."""
    if value is None:
        return "-"
    return "1" if value == 1 else f"{value:.3f}".removeprefix("0")


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a title and the rows: the first column to the left, the others to the right."""
    lines = [list(heads), *map(list, rows)]
    wide = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    print(f"\n{title}")
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line[1:], wide[1:], strict=True)]
        print("  ".join([line[0].ljust(wide[0]), *cells]).rstrip()[:WIDTH], flush=True)
