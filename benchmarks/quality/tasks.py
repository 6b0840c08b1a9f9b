"""The older tasks: airline runs, logs, records and dialogues, judged by the benchmark's scorer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

import holdfast
from holdfast.formats import named as named_format
from holdfast.kernel.edits import Offload
from holdfast.kernel.messages import ToolCall

from .bench import task_cases
from .doors import Fitted
from .figures import Figures, average, kept_laws, number, parallel, scored, table, through

TASKS = ("tau", "log", "json")
TAU_SHARE = 0.35
LAWS = ("fits", "pairs", "restored")
KEPT = ("ratio", "recall", "assoc", "alarms", "answer", "task", "newest")
HEADS = ("task", "cases", "fits", "pairs", "exact", *KEPT, "ms")


def grown(job: tuple[Path, dict[str, Any]]) -> Figures:
    """What a session of a run gives in the end, fitted before each call of the model."""
    folder, case = job
    started = perf_counter()
    with holdfast.Session(case["id"], budget=case["budget"], format="openai") as session:
        for message in case["messages"]:
            session.append(message)
            if message["role"] in ("user", "tool"):
                session.fit()
        view = session.fit()
        exact = session.restore() == case["messages"]
    return scored(folder, case, Fitted(list(view.messages), exact, perf_counter() - started))


def answered(job: tuple[Path, Sequence[dict[str, Any]]]) -> list[tuple[int, Figures]]:
    """A dialogue taken into a session once and fitted for each of its questions, at each budget."""
    folder, cases = job
    found: list[tuple[int, Figures]] = []
    with tempfile.TemporaryDirectory() as name:
        store = f"sqlite:///{name}/dialogue.db"
        for case in cases:
            with holdfast.Session("dialogue", store=store, budget=case["budget"]) as session:
                if not session.appended:
                    session.append(*case["messages"])
                exact = session.restore() == case["messages"]
                for number_of, query in enumerate(case["queries"]):
                    started = perf_counter()
                    view = session.fit(query["query"])
                    fitted = Fitted(list(view.messages), exact, perf_counter() - started)
                    found.append((case["budget"], scored(folder, case, fitted, number_of)))
    return found


def references(job: tuple[Path, dict[str, Any]]) -> tuple[int, int]:
    """How many references a result names when there is a store, and how many are exact."""
    _, case = job
    named = exact = 0
    store = f"memory://{case['id']}"
    result = holdfast.compress(case["messages"], case["budget"], format="openai", store=store)
    for step in result.steps:
        for edit in step.edits:
            if isinstance(edit, Offload):
                named += 1
                part = named_format("openai").parts(step.taken[edit.index])[edit.part]
                original = part.arguments if isinstance(part, ToolCall) else part.text
                exact += holdfast.recall(edit.key, store=store) == original
    return named, exact


def label(case: dict[str, Any]) -> str:
    """The task with its budget: tokens of a log, shares of what is no log."""
    if case["task"] == "log":
        return f"log {case['budget']:>5,}"
    share = case.get("share", TAU_SHARE)
    return f"{case['task']} {share if isinstance(share, str) else format(share, '.0%')}"


def line(name: str, rows: Sequence[Figures]) -> list[str]:
    """The figures of some cases."""
    seconds = average(rows, "seconds") or 0.0
    figures = [number(average(rows, figure)) for figure in (*LAWS, *KEPT)]
    return [name, str(len(rows)), *figures, f"{1_000 * seconds:.0f}"]


def main(folder: Path) -> bool:
    """Print the figures of each task; whether the laws held, and every reference was exact."""
    lines: list[list[str]] = []
    every: list[Figures] = []
    named = exact = 0
    for task in TASKS:
        cases = task_cases(folder, task)
        rows = list(parallel(through, [(folder, "compress", case) for case in cases]))
        pairs = sorted(zip(map(label, cases), rows, strict=True), key=lambda pair: pair[0])
        for name, held in groupby(pairs, key=lambda pair: pair[0]):
            lines.append(line(name, [row for _, row in held]))
        every += rows
        if task == "tau":
            rows = list(parallel(grown, [(folder, case) for case in cases]))
            lines.append(line("tau 35%, session", rows))
            every += rows
        for each, true in parallel(references, [(folder, case) for case in cases]):
            named, exact = named + each, exact + true
    for budget, rows in dialogues(folder):
        lines.append(line(f"locomo {budget:,}, session", rows))
        every += rows
    table("Airline runs, logs, records; dialogues through sessions", HEADS, lines)
    print(f"references of tau, log and json with a store: {named}, exact: {exact}")
    return kept_laws(every) and named == exact


def dialogues(folder: Path) -> Iterator[tuple[int, list[Figures]]]:
    """The figures of the questions at each budget."""
    cases = sorted(task_cases(folder, "locomo"), key=lambda case: str(case["id"]))
    by_name = groupby(cases, key=lambda case: str(case["id"]).rpartition("-")[0])
    jobs = [(folder, list(held)) for _, held in by_name]
    found = [pair for each in parallel(answered, jobs, chunk=1) for pair in each]
    for budget in sorted({budget for budget, _ in found}):
        yield budget, [row for at, row in found if at == budget]
