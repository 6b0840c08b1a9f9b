"""How long it takes to shrink one text, beside headroom on the same text, and how that grows."""

import json
import statistics
from collections.abc import Callable, Iterator
from random import Random

from benchmarks.speed.timing import Row, timed
from holdfast.content import shrink
from holdfast.kernel.ports import Room
from holdfast.tokens import meter_for

REPEATS = 7
CITIES = ("Lisbon", "Oslo", "Quito", "Hanoi", "Accra", "Perth", "Turin", "Lima")


def records(count: int, seed: int) -> str:
    """JSON of so many unique records, nested."""
    rng = Random(seed)
    made = [
        {
            "id": f"#{rng.randrange(10**9):09}",
            "customer": {
                "name": f"user_{rng.randrange(10**6)}",
                "city": rng.choice(CITIES),
                "zip": str(rng.randrange(10**5)),
            },
            "items": [
                {
                    "sku": rng.randrange(10**8),
                    "price": round(rng.uniform(1, 900), 2),
                    "gift": rng.random() < 0.2,
                }
                for _ in range(rng.randint(1, 4))
            ],
            "status": rng.choice(("open", "paid", "sent", "returned")),
        }
        for _ in range(count)
    ]
    return json.dumps(made, indent=1)


def log(lines: int, seed: int) -> str:
    """A log of so many lines of a dozen kinds."""
    rng = Random(seed)
    kinds = (
        "INFO api GET /orders/{} 200 in {} ms",
        "INFO api POST /orders 201 id={} in {} ms",
        "DEBUG cache hit key=order:{} age={}s",
        "INFO worker job {} done in {} ms",
        "WARN db slow query {} took {} ms",
        "ERROR payment order {} declined after {} tries",
        "INFO auth user {} logged in from 10.0.{}.7",
    )
    weights = (40, 20, 30, 20, 4, 1, 15)
    made = []
    for n in range(lines):
        kind = rng.choices(kinds, weights)[0]
        said = kind.format(rng.randrange(10**6), rng.randrange(250))
        made.append(f"2026-03-04T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}Z {said}")
    return "\n".join(made)


def shrinking() -> Iterator[Row]:
    """The two texts with a bound, and how time grows with ten times the text."""
    count = meter_for("gpt-4o").text
    texts: tuple[tuple[str, Callable[[int], str], str], ...] = (
        (
            "unique JSON of 100,000 tokens",
            lambda seed: records(820, seed),
            "at most 60 ms, or 3 times headroom's speed",
        ),
        (
            "log of 2,000 lines",
            lambda seed: log(2_000, seed),
            "at most 40 ms, or 3 times headroom's speed",
        ),
    )
    for name, make, bound in texts:
        ours = []
        for seed in range(REPEATS):
            text = make(seed)
            tokens = 10_000 if name.startswith("unique") else 2_000
            room = Room(tokens, _count, "which order was declined?")
            ours.append(timed(lambda: shrink(text, room)))  # noqa: B023
        yield (
            f"shrink, {name} ({len(make(0)):,} characters, {count(make(0)):,} tokens)",
            f"{1000 * statistics.median(ours):.0f} ms",
            bound,
        )
        yield from _headroom(name, make)
    small, large = log(7_000, 1), log(70_000, 2)
    room = Room(2_000, _count, "")
    growth = timed(lambda: shrink(large, room)) / timed(lambda: shrink(small, room))
    yield (
        f"shrink, a log of {len(large) / 1e6:.0f} MB / one of a tenth",
        f"{growth:.1f}",
        "about 10: linear",
    )


def _headroom(name: str, make: Callable[[int], str]) -> Iterator[Row]:
    try:
        from headroom import compress
    except ImportError:
        yield f"shrink, {name}, headroom", "not installed, not measured", ""
        return
    theirs = []
    for seed in range(3):
        messages = [
            {"role": "user", "content": "which order was declined?"},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": make(100 + seed)},
        ]
        theirs.append(timed(lambda: compress(messages, model="gpt-4o")))  # noqa: B023
    yield f"shrink, {name}, headroom", f"{1000 * statistics.median(theirs):.0f} ms", ""


_CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def _count(text: str) -> int:
    """Counted anew each time: the memo would hide what a first call costs."""
    return _COUNTER.count(text)


_COUNTER = meter_for("gpt-4o").counter
