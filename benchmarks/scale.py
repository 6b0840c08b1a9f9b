"""What a store takes of many threads: measured here, and reckoned from that for more than fits.

``python -m benchmarks.scale --store sqlite:///FILE --threads 300``: bytes, rounds to the store and
processor time, at three sizes. What stays the same from size to size is taken to stay so; bytes
are told by the largest size.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from holdfast.session import Session
from holdfast.stores import open_store
from holdfast.stores.wrappers import MeasuredStore

MESSAGES = 100  # of a thread
SEEN = 20  # threads that are opened, at each size
MANY = (1_000_000, 100_000_000)  # threads, and messages of all together


def talk(thread: int) -> list[dict[str, Any]]:
    """Questions, and answers of some 500 characters with names that are told once."""
    made: list[dict[str, Any]] = []
    for n in range(0, MESSAGES, 2):
        names = " ".join(
            f"srv-{thread}-{n}-{k} listens on {(n * 131 + k) % 65_536}," for k in range(16)
        )
        made.append({"role": "user", "content": f"What is in list {n} of job {thread}?"})
        made.append({"role": "assistant", "content": f"It holds {names} and no more."})
    return made


def grown(url: str, first: int, last: int) -> float:
    """Append these threads; seconds of processor time a message."""
    store = open_store(url)
    begun = process_time()
    for thread in range(first, last):
        with Session(f"t{thread}", store=store, budget=2_000) as session:
            session.append(*talk(thread))
    return (process_time() - begun) / max(1, (last - first) * MESSAGES)


def opened(url: str, threads: int) -> tuple[float, float]:
    """A thread opened as another machine would, and fitted: calls to the store, processor time."""
    seconds = calls = 0.0
    for k in range(SEEN):
        store = MeasuredStore(open_store(url))
        begun = process_time()
        with Session(f"t{k * threads // SEEN}", store=store, budget=2_000) as session:
            session.fit()
        seconds += process_time() - begun
        calls += sum(each.calls for each in store.measures.values())
    return calls / SEEN, seconds / SEEN


def main() -> None:
    """Measure, reckon and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", default="")
    parser.add_argument("--threads", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "many.db"
        url = given.store or f"sqlite:///{file}"
        done, size = 0, 0.0
        print("measured:")
        for threads in (given.threads // 9, given.threads // 3, given.threads):
            appended = grown(url, done, threads)
            calls, seconds = opened(url, threads)
            done = threads
            size = sum(each.stat().st_size for each in Path(folder).iterdir()) / (
                threads * MESSAGES
            )
            print(
                f"  {threads:>6,} threads, {threads * MESSAGES:>8,} messages: "
                f"{size:,.0f} bytes a message, {appended * 1e6:,.0f} us to append one, "
                f"a thread is opened and fitted with {calls:.0f} calls in {seconds * 1e3:.1f} ms"
            )
        threads, messages = MANY
        print(f"reckoned for {threads:,} threads with {messages:,} messages:")
        print(
            f"  {size * messages / 1e9:,.0f} GB; {appended * messages / 3_600:,.0f} hours of one "
            "processor to append all; a thread is opened as above"
        )


if __name__ == "__main__":
    main()
