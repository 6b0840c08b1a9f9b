"""Learn what a thing is worth from recorded runs: ``python -m benchmarks.weights DIR``, bench/ in DIR.

A run carries its own labels: what a later step used was worth keeping. The weights of
``holdfast.selection.weights`` are searched for by what the order keeps with them: of each cut, the
share of the needed names that stand in the chosen pieces, over the recorded runs, the airline runs
and the planted statements together. The search adapts the covariance of its steps (CMA-ES, Hansen
2016, arXiv:1604.00772, with its default settings) and starts at the table as it is. ``--leave-out
KIND`` writes the table that is learned without one kind of run, so that it can be measured on runs
of which it knows nothing. All cases take hours; ``--every N`` takes every Nth, for a first look.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from benchmarks.quality.bench import SINGLE, kinds, run_cases, said_cases
from holdfast.compressors.select.strategy import Select
from holdfast.compressors.select.view import Selection
from holdfast.formats import read
from holdfast.kernel.budget import Allowance
from holdfast.meter import meter_for
from holdfast.selection.excerpt import valued
from holdfast.selection.order import ordered
from holdfast.selection.things import Shape, shape
from holdfast.selection.weights import features
from holdfast.stream.uses import uses_of

SHAPES: tuple[Shape, ...] = get_args(Shape)
TABLE = Path(__file__).parents[1] / "src/holdfast/selection/weights.json"
FEATURES = tuple(json.loads(TABLE.read_text("utf-8"))["features"])
_POPULATION, _STEP, _PULL = (
    14,
    0.2,
    0.0003,
)  # tables tried in a round; the first step; what leaving the start costs


class Case(NamedTuple):
    """One conversation at one budget: its candidates, and which of them hold what is needed."""

    group: str
    seen: np.ndarray
    """The shape and the features of each thing: things by columns of the table."""
    names: list[str]
    told: dict[str, int]
    pieces: list[Any]
    tells: list[list[str]]
    answers: dict[str, float]
    costs: list[float]
    said: np.ndarray
    """Who says each piece: 1 a user, 2 the assistant, 0 nobody."""
    own: np.ndarray
    """The share of the things of each piece that nothing else names."""
    room: float
    needed: list[set[int]]
    """The candidates that hold each needed name; what stays anyway is left out."""
    sure: int


def case_of(case: dict[str, Any]) -> Case:
    """The case as the order sees it."""
    _, _, transcript = read(case["messages"], "openai", None)
    meter = meter_for(None, None)
    budget = case["budget"]
    view = Selection(Select(), transcript, Allowance(budget, budget, budget, meter))
    candidates, events = view._candidates, view._events  # noqa: SLF001 - learned from what it decides
    fixed = view._fixed()  # noqa: SLF001
    uses = uses_of(events, candidates.tellings)
    seen = np.zeros((len(uses), len(SHAPES) + len(FEATURES)))
    for row, (thing, use) in enumerate(uses.items()):
        seen[row, SHAPES.index(shape(thing))] = 1.0
        seen[row, len(SHAPES) :] = features(use, thing, max(len(events), 1))
    staying = [n for n in range(len(events)) if n not in candidates._among]  # noqa: SLF001
    told: dict[str, int] = defaultdict(int)
    for number in staying:
        for thing in candidates.tellings[number].things:
            told[thing] += 1
    pieces = candidates._pieces  # noqa: SLF001
    extra = valued(pieces, transcript.question, 1.0, 1.0)
    text = "\n".join(events[number].text for number in staying)
    wanted = (
        [[need] for need in case["needs"]]
        if "needs" in case
        else [each["words"] for each in case["said"]]
    )
    missing = [words for words in wanted if not all(word in text for word in words)]
    own = [
        sum(uses[t].events == 1 for t in mine if t in uses) / max(len(mine), 1)
        for mine in candidates.tells
    ]
    speakers = [_speaker(events[found.event]) for found in candidates.found]
    return Case(
        _group(case),
        seen,
        list(uses),
        told,
        pieces,
        [[*mine, *more] for mine, more in zip(candidates.tells, extra.tells, strict=True)],
        extra.worth,
        candidates.costs,
        np.array(speakers),
        np.array(own),
        float(budget - fixed),
        [
            {n for n, piece in enumerate(pieces) if all(w in piece.text for w in words)}
            for words in missing
        ],
        len(wanted) - len(missing),
    )


def _speaker(event: Any) -> int:
    return {"user": 1, "assistant": 2}.get(event.by, 0) if event.function == "words" else 0


def _group(case: dict[str, Any]) -> str:
    if "said" in case:
        return f"said {case['share']}"
    kind = "tau" if case["task"] == "tau" else "single" if case["task"] in SINGLE else "agents"
    return f"{kind} {case.get('share', 0)}"


def kept(case: Case, table: np.ndarray) -> float:
    """The share of what is needed that the order keeps with this table."""
    width = case.seen.shape[1]
    user, assistant, again, implied, among = np.maximum(table[width:], 0) / np.array(
        [20, 20, 4, 10, 50]
    )
    worth = dict(zip(case.names, 1 / (1 + np.exp(-case.seen @ table[:width])), strict=True))
    worth |= {t: value * (implied if " in " in t else among) for t, value in case.answers.items()}
    bonus = np.array([0.0, user, assistant])[case.said] * case.own
    order = ordered(
        case.pieces,
        case.tells,
        case.costs,
        worth,
        again=min(float(again), 1.0),
        told=case.told,
        bonus=bonus.tolist(),
        enough=case.room,
    )
    chosen, spent = set[int](), 0.0
    for number in order:
        spent += case.costs[number]
        if spent > case.room:
            break
        chosen.add(number)
    found = sum(not chosen.isdisjoint(each) for each in case.needed)
    return (case.sure + found) / max(case.sure + len(case.needed), 1)


_CASES: list[Case] = []


def worth_of_table(table: np.ndarray) -> float:
    """The mean of what the groups of cases keep."""
    groups: dict[str, list[float]] = defaultdict(list)
    for case in _CASES:
        groups[case.group].append(kept(case, table))
    return float(np.mean([np.mean(each) for each in groups.values()]))


def searched(
    worth: Callable[[Sequence[np.ndarray]], Sequence[float]], start: np.ndarray, rounds: int
) -> np.ndarray:
    """The best table that was found, by CMA-ES: the mean of the last generation."""
    rng, size, half = np.random.default_rng(0), len(start), _POPULATION // 2
    share = np.log(half + 0.5) - np.log(np.arange(1, half + 1))
    share /= share.sum()
    few = 1 / (share**2).sum()
    along, steps = (4 + few / size) / (size + 4 + 2 * few / size), (few + 2) / (size + few + 5)
    one = 2 / ((size + 1.3) ** 2 + few)
    many = min(1 - one, 2 * (few - 2 + 1 / few) / ((size + 2) ** 2 + few))
    damp = 1 + steps + 2 * max(0.0, float(np.sqrt((few - 1) / (size + 1))) - 1)
    usual = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
    mean, sigma, spread = start.copy(), _STEP, np.eye(size)
    path, length = np.zeros(size), np.zeros(size)
    for generation in range(rounds):
        values, axes = np.linalg.eigh(spread)
        roots = np.sqrt(np.maximum(values, 1e-12))
        moves = (rng.standard_normal((_POPULATION, size)) * roots) @ axes.T
        tried = list(mean + sigma * moves)
        pulled = [_PULL * float(((table - start) ** 2).sum()) for table in tried]
        fitness = np.array(worth(tried)) - np.array(pulled)
        best = np.argsort(-fitness)[:half]
        move = share @ moves[best]
        mean = mean + sigma * move
        length = (1 - steps) * length + np.sqrt(steps * (2 - steps) * few) * (
            axes / roots @ axes.T @ move
        )
        calm = (
            np.linalg.norm(length) / np.sqrt(1 - (1 - steps) ** (2 * (generation + 1)))
            < (1.4 + 2 / size) * usual
        )
        path = (1 - along) * path + calm * np.sqrt(along * (2 - along) * few) * move
        spread = (1 - one - many) * spread + one * np.outer(path, path)
        spread += many * (moves[best].T * share) @ moves[best]
        sigma *= float(np.exp(steps / damp * (np.linalg.norm(length) / usual - 1)))
        print(
            f"round {generation + 1}: best {fitness.max():.4f}, mean {fitness.mean():.4f}",
            flush=True,
        )
    return mean


def as_row(table: dict[str, Any]) -> np.ndarray:
    """What is searched, as one row; the scales are such that a step means as much in each."""
    said = table["said"]
    rest = [said["user words"] * 20, said["assistant words"] * 20, table["again"] * 4]
    rest += [table["implied"] * 10, table["among_others"] * 50]
    return np.array(
        [*(table["shapes"][name] for name in SHAPES), *table["features"].values(), *rest]
    )


def with_row(table: dict[str, Any], row: np.ndarray) -> dict[str, Any]:
    """The table with what was found."""
    width = len(SHAPES)
    user, assistant, again, implied, among = np.maximum(row[width + len(FEATURES) :], 0).tolist()
    found = {
        "shapes": {name: round(float(w), 3) for name, w in zip(SHAPES, row, strict=False)},
        "features": {
            name: round(float(w), 3) for name, w in zip(FEATURES, row[width:], strict=False)
        },
        "said": table["said"]
        | {"user words": round(user / 20, 4), "assistant words": round(assistant / 20, 4)},
        "again": round(min(again / 4, 1.0), 4),
        "implied": round(implied / 10, 4),
        "among_others": round(among / 50, 4),
    }
    return table | found


def main(arguments: list[str]) -> int:
    """Search, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", type=Path)
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--write", default=str(TABLE))
    parser.add_argument("--rounds", type=int, default=45)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    chosen = [kind for kind in kinds(options.shared) if kind != options.leave_out]
    cases = list(run_cases(options.shared, chosen))
    lines = (options.shared / "bench" / "cases.tau.jsonl").read_text("utf-8").splitlines()
    cases += [json.loads(line) for line in lines]
    cases += [case for case in said_cases(options.shared) if case["kind"] != options.leave_out]
    table = json.loads(TABLE.read_text("utf-8"))
    with Pool() as pool:
        _CASES.extend(pool.imap(case_of, cases[:: options.every], chunksize=4))
    with Pool() as pool:  # its processes inherit the cases
        found = searched(
            lambda tried: pool.map(worth_of_table, tried), as_row(table), options.rounds
        )
    before, after = worth_of_table(as_row(table)), worth_of_table(found)
    print(f"kept of what is needed: {before:.3f} before, {after:.3f} after")
    if after <= before:
        print("nothing better was found; the table stays")
        return 0
    Path(options.write).write_text(json.dumps(with_row(table, found), indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
