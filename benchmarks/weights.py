"""Learn what a thing is worth from recorded runs: ``python -m benchmarks.weights DIR``, bench/ in DIR.

A run carries its own labels: what a later step used was worth keeping. For each cut of a run, every thing that was
named before it is a row, with the features of ``holdfast.selection.weights`` and whether the next steps need it; a
logistic regression over the rows gives the weights. ``--leave-out KIND`` writes the table that is
learned without one kind of run, so that it can be measured on runs of which it knows nothing.
"""

import argparse
import json
import sys
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.formats import read
from holdfast.selection.things import shape, things
from holdfast.selection.weights import Use, features
from holdfast.stream.events import events_of
from holdfast.stream.tellings import telling_of
from holdfast.stream.uses import uses_of

SHAPES = ("path", "small_number", "number", "id", "word", "capitalised", "compound", "hyphened", "camel", "other")
TABLE = Path(__file__).parents[1] / "src/holdfast/selection/weights.json"


def rows_of(case: dict[str, Any]) -> tuple[str, np.ndarray, np.ndarray]:
    """The features of every thing of a case, and whether it is needed; what always stays is no row."""
    _, _, transcript = read(case["messages"], "openai", None)
    events = events_of(transcript.messages, range(len(transcript)), {})
    tellings = [telling_of(event) for event in events]
    uses = uses_of(events, tellings)
    needed = set(case["needs"]).union(*map(things, case["needs"]))
    users = transcript.user_positions
    task = users[0] if users else -1
    known = set().union(
        *(
            telling.things
            for event, telling in zip(events, tellings, strict=True)
            if event.message == task or event.message >= len(transcript) - 2 or event.function == "instruction"
        )
    )
    found, labels = [], []
    for thing, use in uses.items():
        if thing not in known:
            seen = features(use, thing, len(events))
            mine = shape(thing)
            found.append([*(float(mine == other) for other in SHAPES), *seen.values()])
            labels.append(thing in needed)
    return case["task"], np.array(found, dtype=np.float32), np.array(labels, dtype=np.float32)


def fitted(cases: list[tuple[str, np.ndarray, np.ndarray]], ridge: float = 1.0) -> np.ndarray:
    """The weights by Newton's method; each case weighs as the root of what it needs."""
    filled = [case for case in cases if len(case[1])]
    x = np.vstack([case[1] for case in filled]).astype(np.float64)
    y = np.concatenate([case[2] for case in filled])
    weigh = np.concatenate([np.full(len(case[1]), max(1.0, float(case[2].sum())) ** -0.5) for case in filled])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (weigh * (chance - y)) + ridge * weights
        bend = (x * (weigh * chance * (1 - chance))[:, None]).T @ x + ridge * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def main(arguments: list[str]) -> int:
    """Fit, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shared")
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--write", default=str(TABLE))
    options = parser.parse_args(arguments)
    bench = Path(options.shared) / "bench"
    sys.path.insert(0, str(bench))
    import runs

    cases = [case for case in runs.cases() if case["id"].endswith("-30")]
    tau = [json.loads(line) for line in (bench / "cases.tau.jsonl").read_text("utf-8").splitlines()]
    cases += tau
    cases = [case for case in cases if case["task"] != options.leave_out]
    with Pool(2) as pool:
        rows = pool.map(rows_of, cases, chunksize=4)
    weights = fitted(rows)
    names = list(features(_any_use(), "x", 1))
    table = json.loads(TABLE.read_text("utf-8"))
    table["shapes"] = {name: round(float(w), 3) for name, w in zip(SHAPES, weights, strict=False)}
    table["features"] = {name: round(float(w), 3) for name, w in zip(names, weights[len(SHAPES) :], strict=True)}
    Path(options.write).write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    print(json.dumps({**table["shapes"], **table["features"]}))
    return 0


def _any_use() -> Use:
    use = Use(1)
    use.events, use.last = 1, 0
    return use


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
