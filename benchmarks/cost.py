"""What deciding by cost is worth: ``python -m benchmarks.cost [DIR]``.

``DIR`` holds ``bench/`` and ``data/`` as for ``benchmarks.quality``; without it the recorded
example
is played.

Each run is sent call by call, as its agent did, through sessions that differ in one thing: when a
view is made anew between its trigger (half of the budget) and its limit. ``always``: as soon as it
is above its trigger; ``never``: only at its limit; ``by cost``: where the price says that it pays.
Calls come every twenty seconds, and every seventh after a quarter of an hour, when the provider's
prompt cache has let go. Of each call the beginning that the call before it sent is read from that
cache, the rest is written to it, at list prices.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import holdfast
from benchmarks.quality import bench
from benchmarks.speed.conversation import messages as recorded
from holdfast.cost import Costs
from holdfast.providers.prices import Price, price_of

MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro")
POLICIES = ("always", "never", "by cost")
SHARE, TRIGGER = 0.35, 0.5
LIFETIME, BRISK, PAUSE, EVERY = 300.0, 20.0, 900.0, 7  # seconds, seconds, seconds, calls
AIRLINE, AGENTS, MESSAGES = 6, ("claude_code", "openhands"), 200


def calls_of(run: Sequence[Any]) -> Iterator[int]:
    """Where each call of the model was made: before every message of the assistant."""
    yield from (i for i, each in enumerate(run) if each["role"] == "assistant" and i)


def bill(run: Sequence[Any], policy: str, price: Price) -> float:
    """What the calls of a run cost in US dollars under the policy."""
    whole = holdfast.count(run).total
    system = holdfast.count([each for each in run if each["role"] == "system"]).total
    limit = system + int((whole - system) * SHARE)
    trigger = None if policy == "never" else TRIGGER
    costs = Costs(price) if policy == "by cost" else None
    moment, paid, last, done = 0.0, 0.0, list[Any](), 0
    with holdfast.Session(
        "run",
        budget=holdfast.Budget(limit, trigger=trigger, target=TRIGGER),
        costs=costs,
        clock=lambda: moment + 1.7e9,
        vectors=False,
    ) as session:
        for number, at in enumerate(calls_of(run)):
            pause = PAUSE if number % EVERY == EVERY - 1 else BRISK
            moment += pause
            session.append(*run[done:at])
            done, view = at, session.fit()
            pairs = zip(last, view.messages, strict=False)
            same = [new for _, new in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            read = holdfast.count(same).total if same and pause < LIFETIME else 0
            fresh = view.tokens - read
            held = price.input if price.cache_read is None else price.cache_read
            wrote = price.input if price.cache_write is None else price.cache_write
            paid += (read * held + fresh * wrote) / 1_000_000
            last = view.messages
    return paid


def played(arguments: Sequence[str]) -> dict[str, list[list[Any]]]:
    """The runs by name: some of an airline's desk, one of each of two agents, or the example."""
    if not arguments:
        return {"example": [recorded(None)[0][:MESSAGES]]}
    folder = Path(arguments[0])
    found = {"airline": bench.airline(folder)[:AIRLINE]}
    for kind in AGENTS:
        runs = sorted((run["messages"] for run in bench.recorded(folder, kind)), key=len)
        found[kind] = [runs[len(runs) // 2]]
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the bills by vendor and policy."""
    print(f"{'US dollars for all calls':<28}{'model':<20}" + "".join(f"{p:>12}" for p in POLICIES))
    for name, runs in played(arguments).items():
        for model in MODELS:
            price = price_of(None, model)
            if price is None:
                raise LookupError(model)
            bills = [sum(bill(run, policy, price) for run in runs) for policy in POLICIES]
            print(f"{name:<28}{model:<20}{''.join(f'{paid:>12.4f}' for paid in bills)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
