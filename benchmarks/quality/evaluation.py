"""Whether ``holdfast.evaluate`` ranks systems like the benchmark's scorer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import holdfast

from .bench import kinds, run_cases
from .doors import DOORS, Fitted
from .figures import Figures, average, number, parallel, scored, table

EVERY = 8  # of the cases one is judged
SYSTEMS = ("newest", "trim", "digest", "compress")


def judged(job: tuple[Path, dict[str, Any]]) -> Mapping[str, Figures]:
    """What the scorer and the evaluation say of each system."""
    folder, case = job
    messages, budget = case["messages"], case["budget"]
    found: dict[str, Figures] = {}
    for system in SYSTEMS:
        if system in DOORS:
            fitted = DOORS[system](folder, messages, budget)
        else:
            steps: Any = [system, "trim"]
            kept = holdfast.compress(messages, budget, strategy=steps).messages
            fitted = Fitted(kept, exact=True, seconds=0.0)
        told = holdfast.evaluate(messages, fitted.messages)
        found[system] = scored(folder, case, fitted) | {
            "score": told.score,
            "semantic": told.semantic,
            "denied": float(len(told.contradictions)),
        }
    return found


def main(folder: Path) -> bool:
    """Print both beside each other; whether what is kept is never contradicted."""
    cases = list(run_cases(folder, kinds(folder)))[::EVERY]
    rows = list(parallel(judged, [(folder, case) for case in cases]))
    heads = ("system", "assoc", "evaluate", "semantic", "contradictions")
    lines = [
        [
            system,
            *(
                number(average([row[system] for row in rows], each))
                for each in ("assoc", "score", "semantic")
            ),
            number(mean(row[system]["denied"] for row in rows)),
        ]
        for system in SYSTEMS
    ]
    table(
        f"The scorer and holdfast.evaluate, over {len(cases)} cuts of recorded runs", heads, lines
    )
    return True
