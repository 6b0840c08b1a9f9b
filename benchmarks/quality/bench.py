"""The benchmark that the caller names: its scorer, its cases and its runs, read where they lie."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

SINGLE = ("testrun", "netcli")
"""Kinds of runs that are one large output, and no agent at work."""


class MissingDataError(Exception):
    """A file of the benchmark is not where it was said to be."""


def needed(path: Path) -> Path:
    """The path, if there is something. Raises MissingDataError otherwise."""
    if not path.exists():
        raise MissingDataError(f"{path} is not there; name the folder that holds bench/ and data/")
    return path


@cache
def module(folder: Path, name: str) -> ModuleType:
    """A script of the benchmark, as a module; once in a process."""
    path = needed(folder / "bench" / f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"holdfast_bench_{name}", path)
    if spec is None or spec.loader is None:
        raise MissingDataError(f"{path} is no Python script")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def scorer(folder: Path) -> Any:
    """The functions of ``score.py``."""
    return module(folder, "score")


def kinds(folder: Path) -> list[str]:
    """The kinds of recorded runs that are there, agents' first."""
    paths = needed(folder / "bench" / "runs").glob("*.jsonl.gz")
    found = [path.name.split(".")[0] for path in paths]
    return sorted(found, key=lambda kind: (kind in SINGLE, kind))


def run_cases(folder: Path, chosen: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The cuts of the recorded runs of these kinds; ``task`` is the kind."""
    yield from module(folder, "runs").cases(tuple(chosen))


def recorded(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The whole runs of a kind, each with its messages and its cuts."""
    path = needed(folder / "bench" / "runs" / f"{kind}.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def said_cases(folder: Path) -> list[dict[str, Any]]:
    """The agents' runs with statements planted by ``said.py``; ``kind`` is that of the run."""
    agents = [kind for kind in kinds(folder) if kind not in SINGLE]
    cases = list(run_cases(folder, agents))
    known = {case["id"].rpartition("-")[0]: case["task"] for case in cases}
    script = needed(folder / "bench" / "said.py")
    given = "".join(json.dumps(case) + "\n" for case in cases)
    command = [sys.executable, str(script)]
    told = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = []
    for case in map(json.loads, told.stdout.splitlines()):
        run = case["id"].removeprefix("said-").rpartition("-")[0]
        found.append({**case, "kind": known[run]})
    return found


def task_cases(folder: Path, task: str) -> list[dict[str, Any]]:
    """The cases of ``cases.TASK.jsonl``."""
    path = needed(folder / "bench" / f"cases.{task}.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def airline(folder: Path) -> list[list[dict[str, Any]]]:
    """Real runs of an agent at an airline's desk."""
    path = needed(folder / "data" / "airline_trajectories.json")
    runs: list[list[dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    return runs


def share_of(folder: Path, messages: Sequence[Any], share: float) -> int:
    """The budget of the system's messages and this share of the rest."""
    count = scorer(folder).tokens
    head = int(count([message for message in messages if message["role"] == "system"]))
    return head + int((count(messages) - head) * share)
