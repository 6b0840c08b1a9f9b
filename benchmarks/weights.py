"""Learn what a thing is worth from recorded runs: ``python -m benchmarks.weights DIR``.

A run carries its own labels: what a later step used was worth keeping. A logistic regression with
a ridge (Newton's steps) learns from each cut which of the things that stand only in the older part
are used next, and from planted statements which of them say something. ``--leave-out`` learns in
turn without one kind of run, and writes beside the weights (``kept``) what ``compress`` keeps of
that kind with those weights and with the table that is written, at the larger and the smaller
budget. The other numbers of the table (what is said, asked, named by a kind) stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple, get_args
from unittest import mock

import numpy as np

from benchmarks.quality.bench import kinds, run_cases, said_cases, task_cases
from benchmarks.quality.figures import average, through
from holdfast.compressors.notes import uses_of
from holdfast.compressors.select import Select, Selection
from holdfast.formats import read
from holdfast.kernel.budget import Allowance
from holdfast.selection import WeightTable, features
from holdfast.text.pieces import Shape, shape_of, things_in
from holdfast.tokens import meter_for

TABLE = Path(__file__).parents[1] / "src/holdfast/weights.json"
READERS = ("compressors.notes", "excerpts", "selection")
SHAPES: tuple[Shape, ...] = get_args(Shape)
RIDGE = 1.0  # times the square of the weights, beside the loss of all cases
ROUNDS = 30  # of Newton's steps; they converge in some ten
SOFTENED = 0.6
"""Of the regression's weights is taken. It tells how likely one thing is used; the order adds up
the things of a piece, and of .5 to 1 this share kept the most."""
PLANTED = 0.1
"""What a cut with planted statements counts beside one of a recorded run: .3 took .02 of what is
used from the runs, and none left .03 of the statements out."""


class Case(NamedTuple):
    """One conversation at one budget: what is known of its things, and which of them are used."""

    kind: str
    seen: np.ndarray
    """A row a thing: its shape, whether it was quoted, its features and their squares."""
    used: np.ndarray
    counts: float


def case_of(case: Mapping[str, Any]) -> Case:
    """The things of a case that stand only in what may be left out."""
    _, _, transcript = read(case["messages"], "openai", None)
    budget = case["budget"]
    allowance = Allowance(budget, budget, budget, meter_for(None, None))
    selection = Selection(Select(), transcript, allowance)
    events, texts = selection.candidates.events, selection.candidates.texts
    going = set(selection.going)
    gone = {number for number, event in enumerate(events) if event.message in going}
    uses = uses_of(events, texts)
    for number, text in enumerate(texts):
        if number not in gone | selection.in_place:
            for thing in text.counts:
                uses.pop(thing, None)
    said = [things_in(words) for each in case.get("said", ()) for words in each["words"]]
    needs = set(case.get("needs", ())).union(*said)
    rows = []
    for thing, use in uses.items():
        own = np.array(features(use, len(thing), len(events)))
        shapes = [shape_of(thing) == each for each in SHAPES]
        rows.append(np.concatenate([shapes, [use.is_quoted], own, own * own]))
    used = np.array([thing in needs for thing in uses])
    return Case(_kind(case), np.array(rows), used, PLANTED if said else 1.0)


def _kind(case: Mapping[str, Any]) -> str:
    return str(case.get("kind", case["task"]))


def learned(cases: Sequence[Case]) -> np.ndarray:
    """The weights under which what was used is the likeliest."""
    some = [case for case in cases if len(case.used) and case.used.any()]
    seen = np.concatenate([case.seen for case in some])
    used = np.concatenate([case.used for case in some]).astype(float)
    share = np.concatenate(
        [np.full(len(case.used), case.counts / case.used.sum()) for case in some]
    )
    scale = np.maximum(seen.std(axis=0), 1e-9)
    middle = np.where(np.arange(seen.shape[1]) > len(SHAPES), seen.mean(axis=0), 0.0)
    rows = (seen - middle) / scale
    found = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (used - likely)) - RIDGE * found
        bend = (rows * (share * likely * (1 - likely))[:, None]).T @ rows
        found = found + np.linalg.solve(bend + RIDGE * np.eye(len(found)), slope)
    weights = found / scale
    weights[: len(SHAPES)] -= weights @ middle  # every thing has one shape
    return SOFTENED * weights


def as_table(row: np.ndarray) -> dict[str, Any]:
    """The table with what was learned."""
    table: dict[str, Any] = json.loads(TABLE.read_text("utf-8"))
    table.pop("kept", None)
    numbers = [round(float(each), 3) for each in row]
    width, names = len(SHAPES), list(table["features"])
    first, second = numbers[width + 1 :][: len(names)], numbers[width + 1 + len(names) :]
    return table | {
        "shapes": dict(zip(SHAPES, numbers, strict=False)),
        "quoted": numbers[width],
        "features": dict(zip(names, zip(first, second, strict=True), strict=True)),
    }


def kept(folder: Path, table: Mapping[str, Any], cases: Sequence[Any]) -> list[str]:
    """What ``compress`` keeps of these cases with a table, at each share of the conversation."""
    with Pool(initializer=_read_with, initargs=(table,)) as pool:
        rows = pool.starmap(_through, [(folder, case) for case in cases], chunksize=4)
    shares = [case.get("share", 0.35) for case in cases]
    pairs = list(zip(rows, shares, strict=True))
    return [
        f"{average([row for row, at in pairs if at == share], 'assoc'):.3f}"
        for share in sorted(set(shares), reverse=True)
    ]


def _through(folder: Path, case: Any) -> Any:
    return through((folder, "compress", case))


def _read_with(table: Mapping[str, Any]) -> None:
    instead = WeightTable(**{name: table[name] for name in WeightTable._fields})
    for module in READERS:
        mock.patch(f"holdfast.{module}.table", return_value=instead).start()


def written(table: Mapping[str, Any]) -> str:
    """The table as it stands in its file: a feature a line."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[\s+([-\d.]+),\s+([-\d.]+)\s+\]", r"[\1, \2]", text) + "\n"


def main(arguments: list[str]) -> int:
    """Learn, write the table, and print what is kept of each kind that was left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--leave-out", action="store_true")
    options = parser.parse_args(arguments)
    given = [*run_cases(options.shared, kinds(options.shared)), *task_cases(options.shared, "tau")]
    with Pool() as pool:
        cases = pool.map(case_of, [*given, *said_cases(options.shared)], chunksize=4)
    table = as_table(learned(cases))
    figures: dict[str, str] = {}
    for kind in sorted({case.kind for case in cases}) if options.leave_out else ():
        own = [case for case in given if case["task"] == kind]
        without = as_table(learned([case for case in cases if case.kind != kind]))
        told = kept(options.shared, without, own), kept(options.shared, table, own)
        figures[kind] = f"left out {' '.join(told[0])}, learned from {' '.join(told[1])}"
        print(f"{kind:12} {figures[kind]}")
    TABLE.write_text(written(table | ({"kept": figures} if figures else {})), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
