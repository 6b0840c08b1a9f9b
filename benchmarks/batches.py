"""Batches on each engine beside a plain loop, by processor time: ``python -m benchmarks.batches``.

Every engine works in a process of its own, and its time is that of all processes that this one
starts: those of the workers, and of the servers of a cluster. Only on Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

import holdfast
from holdfast.batch import batch
from tests.batch.conversations import lines

BUDGET = 600
LOOP = "loop"
ENGINES = (LOOP, "processes://2", "dask://local?workers=2", "ray://local?workers=2")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans of a child become children of this process


def loop(source: Path, target: Path) -> None:
    """What a script without Holdfast's batches does."""
    with source.open() as given, target.open("w") as made:
        for line in given:
            fitted = holdfast.compress(json.loads(line), BUDGET).messages
            made.write(json.dumps(fitted, ensure_ascii=False, separators=(",", ":")) + "\n")


def processor() -> float:
    """Seconds of processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(engine: str, source: Path, target: Path) -> tuple[float, float]:
    """Seconds of processor time, and of the clock, that the engine takes."""
    before, begun = processor(), perf_counter()
    run = ["-m", "benchmarks.batches", "--run", engine, str(source), str(target)]
    subprocess.run(
        [sys.executable, *run], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    elapsed = perf_counter() - begun
    while True:  # servers of a cluster may end later
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                sleep(0.1)
        except ChildProcessError:
            return processor() - before, elapsed


def main() -> None:
    """Run every engine on the same conversations, and print its times beside those of the loop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--conversations", type=int, default=4_000)
    parser.add_argument("--run", nargs=3, metavar=("ENGINE", "SOURCE", "TARGET"))
    given = parser.parse_args()
    if given.run:
        engine, source, target = given.run
        if engine == LOOP:
            loop(Path(source), Path(target))
        else:
            batch(source, target, BUDGET, engine=engine)
        return
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.jsonl"
        source.write_text("\n".join(lines(given.conversations)) + "\n")
        print(f"{given.conversations:,} conversations    processor s   of the loop   elapsed s")
        expected, plain = b"", 0.0
        for number, engine in enumerate(ENGINES):
            target = Path(folder) / f"out{number}.jsonl"
            used, elapsed = measured(engine, source, target)
            made = target.read_bytes()
            expected, plain = expected or made, plain or used
            assert made == expected, f"{engine} made other outputs than the loop"
            print(f"{engine:<24}{used:>12.1f}{used / plain:>14.2f}{elapsed:>12.1f}", flush=True)


if __name__ == "__main__":
    main()
