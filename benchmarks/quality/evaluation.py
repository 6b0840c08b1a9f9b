"""Whether ``holdfast.evaluate`` ranks systems like the benchmark's scorer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import holdfast

from .bench import kinds, run_cases, scorer
from .doors import DOORS, Door, Fitted, newest
from .figures import Figures, average, number, parallel, scored, table

EVERY = 4  # of the cases one is judged


def strategy(name: str) -> Door:
    """A strategy, and a trim where it does not meet the budget."""
    steps: Any = [name, "trim"]

    def fitted(_folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
        kept = holdfast.compress(messages, budget, strategy=steps).messages
        return Fitted(list(kept), exact=True, seconds=0.0)

    return fitted


def _half(folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """``holdfast.compress`` with half of the room beside the system's messages."""
    system = scorer(folder).tokens([each for each in messages if each["role"] == "system"])
    return DOORS["compress"](folder, messages, (system + budget) // 2)


def _drawn(folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """Messages drawn at random until the budget is full, in their order."""
    count, kept = scorer(folder).tokens, list(messages)
    order = random.Random(len(messages)).sample(range(len(messages)), len(messages))
    sizes = {n: count([messages[n]]) for n in order}
    room, held = budget, list[int]()
    for n in order:
        if sizes[n] <= room:
            room -= sizes[n]
            held.append(n)
    return Fitted([kept[n] for n in sorted(held)], exact=True, seconds=0.0)


def _heads(folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """Every message, cut to as many letters as fit."""
    count = scorer(folder).tokens

    def cut(letters: int) -> list[Any]:
        return [each | {"content": str(each.get("content") or "")[:letters]} for each in messages]

    least, most = 0, max(len(str(each.get("content"))) for each in messages)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if count(cut(middle)) <= budget else (least, middle - 1)
    return Fitted(cut(least), exact=True, seconds=0.0)


SYSTEMS: Mapping[str, Door] = {
    "newest": newest,
    "random": _drawn,
    "heads": _heads,
    "window": strategy("sliding_window"),
    "digest": strategy("digest"),
    "half": _half,
    "compress": DOORS["compress"],
}


def judged(job: tuple[Path, dict[str, Any]]) -> Mapping[str, Figures]:
    """What the scorer and the evaluation say of each system."""
    return compared(*job, SYSTEMS)


def compared(
    folder: Path,
    case: dict[str, Any],
    systems: Mapping[str, Door],
) -> Mapping[str, Figures]:
    """What the scorer and the evaluation say of each of these systems."""
    messages, budget = case["messages"], case["budget"]
    found: dict[str, Figures] = {}
    for name, system in systems.items():
        fitted = system(folder, messages, budget)
        told = holdfast.evaluate(messages, fitted.messages)
        found[name] = scored(folder, case, fitted) | {
            "score": told.score,
            "semantic": told.semantic,
            "denied": float(len(told.contradictions)),
        }
    return found


def agreement(rows: Sequence[Mapping[str, Figures]], figure: str) -> float:
    """Of the pairs of systems that the scorer tells apart, the share in the same order.

    Equal figures count half.
    """
    found = [
        0.5 if left[figure] == right[figure] else float(less == (left[figure] < right[figure]))
        for row in rows
        for left, right in combinations(row.values(), 2)
        if (less := left["assoc"] < right["assoc"]) or left["assoc"] > right["assoc"]
    ]
    return mean(found)


def main(folder: Path) -> bool:
    """Print both beside each other, and how far they agree."""
    cases = list(run_cases(folder, kinds(folder)))[::EVERY]
    rows = [row for row in parallel(judged, [(folder, case) for case in cases]) if _told(row)]
    means: dict[str, Figures] = {
        name: {
            each: average([row[name] for row in rows], each) or 0.0
            for each in ("assoc", "score", "semantic", "denied")
        }
        for name in SYSTEMS
    }
    lines = [
        [name, *map(number, found.values())]
        for name, found in sorted(means.items(), key=lambda each: each[1]["assoc"])
    ]
    lines += [
        [told, "", *(number(agreement(held, each)) for each in ("score", "semantic")), ""]
        for told, held in (("same order per cut", rows), ("same order of means", [means]))
    ]
    heads = ("system", "assoc", "evaluate", "semantic", "contradictions")
    table(f"The scorer and holdfast.evaluate, over {len(rows)} cuts of recorded runs", heads, lines)
    return True


def _told(row: Mapping[str, Figures]) -> bool:
    """Whether the scorer has anything to say of the cut."""
    return all("assoc" in figures for figures in row.values())
