"""Whether another plan than the default is better on any kind of recorded run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import holdfast

from .bench import kinds, run_cases
from .doors import DOORS, Door, Fitted
from .evaluation import EVERY, compared, strategy
from .figures import Figures, average, number, parallel, table

DEFAULT = "balanced"


def _profile(name: str) -> Door:
    def fitted(_folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
        kept = holdfast.compress(messages, budget, profile=name).messages
        return Fitted(list(kept), exact=True, seconds=0.0)

    return fitted


PLANS: Mapping[str, Door] = {
    DEFAULT: DOORS["compress"],
    **{name: _profile(name) for name in ("economy", "fast", "four_step")},
    **{name: strategy(name) for name in ("digest", "trim")},
}


def planned(job: tuple[Path, dict[str, Any]]) -> Mapping[str, Figures]:
    """What each plan keeps of a cut: all, that of the highest ``evaluate``, and the best of all."""
    found = compared(*job, PLANS)
    chosen = max(found.values(), key=lambda each: each["score"])
    best = max(found.values(), key=lambda each: each.get("assoc", 0.0))
    return {**found, "the highest evaluate": chosen, "the best, known afterwards": best}


def main(folder: Path) -> bool:
    """Print what each plan keeps, and how far it is from the default on each kind of run."""
    cases = list(run_cases(folder, kinds(folder)))[::EVERY]
    rows = list(parallel(planned, [(folder, case) for case in cases]))
    lines: list[list[str]] = []
    for plan in rows[0]:
        apart: list[float] = []
        for kind in kinds(folder):
            here = [row for case, row in zip(cases, rows, strict=True) if case["task"] == kind]
            means = [average([row[name] for row in here], "assoc") for name in (plan, DEFAULT)]
            if None not in means:
                apart.append((means[0] or 0.0) - (means[1] or 0.0))
        figures = [average([row[plan] for row in rows], each) for each in ("assoc", "score")]
        lines.append([plan, *map(number, figures), f"{min(apart):+.3f}", f"{max(apart):+.3f}"])
    heads = ("plan", "assoc", "evaluate", "least by kind", "most by kind")
    table(f"The plans between which auto could choose, over {len(cases)} cuts", heads, lines)
    return True
