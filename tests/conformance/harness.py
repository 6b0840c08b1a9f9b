"""Reads a file of cases, runs each, and tells passed, failed and not yet done by id."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.expectations import unmet
from tests.conformance.operations import NOT_YET, OPERATIONS
from tests.conformance.outcome import Outcome

CASES = Path(__file__).with_name("cases.json")


@dataclass(frozen=True)
class Verdict:
    """What became of one case: ``problems`` is empty where it passed; ``pending`` where its
    issue is still open.
    """

    id: str
    problems: tuple[str, ...] = ()
    pending: bool = False


def cases(path: str | Path = CASES) -> list[dict[str, Any]]:
    """The cases of a file."""
    return json.loads(Path(path).read_text("utf-8"))


def judge(case: dict[str, Any]) -> Verdict:
    """Run one case and hold its outcome against what it expects."""
    op = case["params"]["op"]
    if op in NOT_YET:
        return Verdict(case["id"], pending=True)
    if op not in OPERATIONS:
        return Verdict(case["id"], (f"unknown op {op!r}",))
    try:
        outcome = OPERATIONS[op](case["input"], case["params"])
    except Exception as fault:  # noqa: BLE001 - whatever a case raises is its outcome
        outcome = Outcome(raised=fault)
        if case["expect"].get("raises") is not False:
            return Verdict(case["id"], (f"{type(fault).__name__}: {fault}",))
    return Verdict(case["id"], tuple(unmet(case["expect"], case["input"], outcome)))


def main(path: str | Path) -> int:
    """Judge every case of the file and print the account."""
    verdicts = [judge(case) for case in cases(path)]
    failed = [v for v in verdicts if v.problems]
    pending = [v.id for v in verdicts if v.pending]
    passed = [v.id for v in verdicts if not v.problems and not v.pending]
    print(f"passed {len(passed)}: {' '.join(passed)}")
    print(f"not yet done {len(pending)}: {' '.join(pending)}")
    print(f"failed {len(failed)}: {' '.join(v.id for v in failed)}")
    for verdict in failed:
        for problem in verdict.problems:
            print(f"  {verdict.id}: {problem}")
    return 1 if failed else 0
