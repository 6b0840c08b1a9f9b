"""Measure all of it or some parts: ``python -m benchmarks.quality DIR [PART...]``.

``DIR`` holds ``bench/`` and ``data/``. Ends with 1 where a law is broken: a view over its budget,
a call without its result, an original that does not come back; and with 2 where data is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import retrieval, tiers
from benchmarks import runs as airline_runs

from . import (
    choice,
    confirmations,
    evaluation,
    handed_back,
    retold,
    runs,
    said,
    sessions,
    sweep,
    tasks,
)
from .bench import MissingDataError, needed


def found_again(folder: Path) -> bool:
    """What memory finds again, with each part left out in turn."""
    return retrieval.main([str(folder), "parts"]) == 0


def tier_forms(folder: Path) -> bool:
    """How small the warm and cold forms are, and what they keep."""
    return tiers.main([str(folder)]) == 0


def airline_laws(folder: Path) -> bool:
    """Real runs: valid, restored in another process, compressed again unchanged."""
    path = str(needed(folder / "data" / "airline_trajectories.json"))
    codes = [airline_runs.main([path, profile]) for profile in ("balanced", "fast")]
    return not any(codes)


PARTS: dict[str, Callable[[Path], bool]] = {
    "tasks": tasks.main,
    "runs": runs.main,
    "retold": retold.main,
    "said": said.main,
    "handed_back": handed_back.main,
    "session": sessions.main,
    "sweep": sweep.main,
    "confirmations": confirmations.main,
    "retrieval": found_again,
    "tiers": tier_forms,
    "airline": airline_laws,
    "evaluation": evaluation.main,
    "choice": choice.main,
}


def main(arguments: list[str]) -> int:
    """Run the parts that are named, by default all."""
    if not arguments:
        advice = "name the folder that holds bench/, as in make quality SHARED=DIR"
        print(f"quality: nothing was measured: {advice}")
        return 2
    folder, named = Path(arguments[0]), arguments[1:]
    unknown = [name for name in named if name not in PARTS]
    if unknown:
        print(f"quality: {unknown[0]!r} is no part; the parts are {', '.join(PARTS)}")
        return 2
    try:
        for script in ("score.py", "runs.py", "said.py"):
            needed(folder / "bench" / script)
        broken = [name for name in named or PARTS if not PARTS[name](folder)]
    except MissingDataError as fault:
        print(f"quality: {fault}")
        return 2
    if broken:
        laws = "something is over budget, unpaired or not restored"
        print(f"\nquality: a law is broken in {', '.join(broken)}: {laws}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
