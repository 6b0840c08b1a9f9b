"""The cost of a session as its thread grows: ``python -m benchmarks.session [--messages N]``.

Processor time, since machines are shared; each figure with its bound. The talk is made up: words by
Zipf's law.
"""

import argparse
import random
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import accumulate, chain
from pathlib import Path
from time import process_time

from benchmarks.speed.conversation import messages as recorded
from benchmarks.speed.measures import PEER_EVERY as TURN
from benchmarks.speed.measures import stops
from benchmarks.speed.plain import encoder
from benchmarks.speed.timing import Row
from holdfast.session import Session

BUDGET = 8_000
LOOP_BUDGET = 16_000  # as in benchmarks.speed
_WORDS = 20_000


def talk(count: int) -> Iterator[dict[str, str]]:
    """So many made-up messages of 5 to 60 words."""
    chance = random.Random(7)
    letters = "bcdfghklmnprstvw"
    known = [
        "".join(chance.choice(letters) + chance.choice("aeiou") for _ in range(2 + n % 3))
        for n in range(_WORDS)
    ]
    weights = list(accumulate(1 / (rank + 3) for rank in range(_WORDS)))
    for number in range(count):
        said = " ".join(chance.choices(known, cum_weights=weights, k=chance.randint(5, 60)))
        role, name = ("assistant", "Robin") if number % 2 else ("user", "Sascha")
        yield {"role": role, "content": f"{name}: {said}."}


def spent(call: Callable[[], object]) -> float:
    """Seconds of processor time that the call takes."""
    started = process_time()
    call()
    return process_time() - started


def growing(path: Path, count: int) -> Iterator[Row]:
    """Appending, opening and fitting at the length of the thread."""
    url = f"sqlite:///{path}"
    made = list(talk(count + 400))
    with Session("talk", store=url, budget=BUDGET) as session:
        session.append(*made[:100])
        early = statistics.median(spent(lambda m=m: session.append(m)) for m in made[100:300])
        for start in range(300, count, 1_000):
            session.append(*made[start : min(start + 1_000, count)])
        late = statistics.median(
            spent(lambda m=m: session.append(m)) for m in made[count : count + 200]
        )
        yield f"append at message {count:,} / at message 100", f"{late / early:.2f}", "at most 2"
        yield f"append at message {count:,}", f"{1000 * late:.2f} ms", ""
    opened: list[Session] = []
    seconds = statistics.median(
        spent(lambda: opened.append(Session("talk", store=url, budget=BUDGET))) for _ in range(5)
    )
    yield f"opening a session of {count:,} messages", f"{1000 * seconds:.1f} ms", "at most 300 ms"
    session = opened[-1]
    session.fit(query="loads what is loaded once")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chance = random.Random(8)
    questions = [
        " ".join(chance.sample(chance.choice(made)["content"].split()[1:], 4)) for _ in range(200)
    ]
    times = sorted(spent(lambda q=q: session.fit(query=q)) for q in questions)
    yield f"fit at {count:,} messages, median", f"{1000 * times[100]:.1f} ms", "at most 50 ms"
    yield f"fit at {count:,} messages, 95 of 100", f"{1000 * times[190]:.1f} ms", "at most 100 ms"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    held = session.stats().held_characters
    yield "characters of messages that the open session holds", f"{held:,}", "at most 16,000,000"
    yield "memory that 200 fits came to need", f"{grown / 1024:.0f} MB", ""


def growing_loop(data: str | None) -> Iterator[Row]:
    """The 520 calls of ``benchmarks.speed`` through a session, beside a recount of everything."""
    found, _ = recorded(data)
    encode = encoder()
    appending = fitting = plain = 0.0
    with Session("warm", budget=LOOP_BUDGET) as warm:  # loads the vocabulary and the vectors
        warm.append(*found[:400])
        warm.fit()
        warm.fit(query="what was decided")
    with (
        tempfile.TemporaryDirectory() as folder,
        Session(
            "loop", store=f"sqlite:///{folder}/loop.db", budget=LOOP_BUDGET, format="openai"
        ) as session,
    ):
        done = 0
        everything = stops(len(found))
        for first in range(
            0, len(everything), TURN
        ):  # as in benchmarks.speed: each takes turns of twenty calls
            turn = everything[first : first + TURN]
            plain += spent(
                lambda turn=turn: [
                    sum(len(encode(m["content"] or "")) for m in found[:stop]) for stop in turn
                ]
            )
            for stop in turn:
                appending += spent(lambda: session.append(*found[done:stop]))  # noqa: B023
                fitting += spent(session.fit)
                done = stop
    yield (
        "growing loop through a session / plain recount",
        f"{(appending + fitting) / plain:.3f}",
        "at most 0.10",
    )
    yield (
        "  of it appending: durable, found by its words, tiers tended",
        f"{appending / plain:.3f}",
        "",
    )
    yield "  of it fitting", f"{fitting / plain:.3f}", ""


def main() -> int:
    """Measure and print; nothing is judged here, since machines differ."""
    parser = argparse.ArgumentParser(prog="benchmarks.session", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument(
        "--data", help="a JSON file of runs, each a list of chat messages, for the growing loop"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for row in chain(
            growing_loop(given.data), growing(Path(folder) / "bench.db", given.messages)
        ):
            print("{:80} {:>24}   {}".format(*row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
