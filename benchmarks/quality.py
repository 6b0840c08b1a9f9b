"""What is still there after compression: ``python -m benchmarks.quality DIR`` with the benchmark in ``DIR/bench``.

Fits every case to its budget and hands the results to the benchmark's own scorer. A long dialogue is taken into a
session once, and fitted for each of its questions.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import holdfast
from holdfast.formats import named as named_format
from holdfast.kernel.edits import Offload
from holdfast.kernel.messages import ToolCall

TASKS = ("tau", "log", "json", "locomo")


def results(cases: Path, profile: str) -> Iterator[dict[str, object]]:
    """Every case of the file, fitted; the question of a case is its newest user message."""
    for line in cases.read_text("utf-8").splitlines():
        case = json.loads(line)
        started = perf_counter()
        result = holdfast.compress(case["messages"], case["budget"], format="openai", profile=profile)
        seconds = perf_counter() - started
        if holdfast.restore(result) != case["messages"]:
            raise SystemExit(f"{case['id']}: the originals did not come back")
        yield {"id": case["id"], "query": None, "messages": result.messages, "seconds": seconds}


def views(cases: Path) -> Iterator[dict[str, object]]:
    """What a session of the dialogue gives for each question; dialogues differ in their budgets alone, too."""
    with tempfile.TemporaryDirectory() as folder:
        for line in cases.read_text("utf-8").splitlines():
            case = json.loads(line)
            store = f"sqlite:///{folder}/dialogues.db"
            with holdfast.Session(case["id"].rpartition("-")[0], store=store, budget=case["budget"]) as session:
                if not session.history():
                    session.append(*case["messages"])
                for number, query in enumerate(case["queries"]):
                    started = perf_counter()
                    view = session.fit(query["query"])
                    seconds = perf_counter() - started
                    yield {"id": case["id"], "query": number, "messages": view.messages, "seconds": seconds}


def grown(cases: Path) -> Iterator[dict[str, object]]:
    """What a session of each run gives in the end, fitted whenever the model would have been called."""
    for line in cases.read_text("utf-8").splitlines():
        case = json.loads(line)
        started = perf_counter()
        with holdfast.Session(case["id"], budget=case["budget"], format="openai") as session:
            for message in case["messages"]:
                session.append(message)
                if message["role"] in ("user", "tool"):
                    session.fit()
            view = session.fit()
        yield {"id": case["id"], "query": None, "messages": view.messages, "seconds": perf_counter() - started}


def references(cases: Path, profile: str) -> tuple[int, int]:
    """How many references the results name when there is a store, and how many give the exact original."""
    named = exact = 0
    for number, line in enumerate(cases.read_text("utf-8").splitlines()):
        case = json.loads(line)
        store = f"memory://{cases.stem}-{number}"
        result = holdfast.compress(case["messages"], case["budget"], format="openai", profile=profile, store=store)
        for step in result.steps:
            for edit in step.edits:
                if isinstance(edit, Offload):
                    named += 1
                    part = named_format("openai").parts(step.taken[edit.index])[edit.part]
                    original = part.arguments if isinstance(part, ToolCall) else part.text
                    exact += holdfast.recall(edit.key, store=store) == original
    return named, exact


def _score(bench: Path, cases: Path, out: Path, rows: Iterator[dict[str, object]]) -> None:
    out.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    subprocess.run([sys.executable, str(bench / "score.py"), str(cases), str(out)], check=True)


def main(arguments: list[str]) -> int:
    """Score each task with one profile; 2 if the benchmark is not where it was said to be."""
    if not arguments:
        print("quality: nothing was measured: name the folder that holds bench/, as in make quality SHARED=DIR")
        return 2
    bench = Path(arguments[0]) / "bench"
    profile = arguments[1] if len(arguments) > 1 else "balanced"
    if not (bench / "score.py").is_file():
        print(f"quality: {bench}: there is no score.py here; name the folder that holds bench/")
        return 2
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            cases = bench / f"cases.{task}.jsonl"
            rows = views(cases) if task == "locomo" else results(cases, profile)
            _score(bench, cases, Path(folder) / f"{profile}.{task}", rows)
            if task == "locomo":
                continue
            if task == "tau":
                _score(bench, cases, Path(folder) / "session.tau", grown(cases))
            named, exact = references(cases, profile)
            print(f"{profile}.{task}: with a store, {named} references, {exact} of them give the exact original")
            broken += named - exact
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
