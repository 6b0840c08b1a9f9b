"""The digest of a long conversation: once with new texts, and then turn after turn."""

import json
from collections.abc import Iterator
from random import Random
from statistics import median
from time import process_time
from typing import Any

import holdfast
from benchmarks.speed.timing import Row
from holdfast.compressors.digest import Digest
from holdfast.engine import prepare
from holdfast.options import Options

MESSAGES, TURNS, BUDGET = 10_000, 60, 16_000


def turn(number: int, rng: Random) -> list[dict[str, Any]]:
    """A wish, a look-up with its record, and an answer."""
    order, sku = f"ORD-{rng.randrange(10**7):07}", f"SKU-{rng.randrange(10**5):05}"
    record = {
        "order_id": order,
        "customer": {
            "name": f"customer {rng.randrange(10**5)}",
            "email": f"c{rng.randrange(10**6)}@example.org",
        },
        "items": [
            {"sku": sku, "price": rng.randrange(9_000) / 100},
            {"sku": "SKU-00001", "price": 4.5},
        ],
        "state": rng.choice(("open", "paid", "sent")),
    }
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "find_order", "arguments": json.dumps({"order_id": order})},
    }
    return [
        {
            "role": "user",
            "content": f"Where is my order {order}? I need it by {rng.randrange(1, 29)} May.",
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(record)},
        {
            "role": "assistant",
            "content": f"It left the warehouse at {rng.randrange(24)}:15; {sku} is in the box.",
        },
    ]


def talk(messages: int, rng: Random) -> list[dict[str, Any]]:
    """So many messages in turns of four."""
    return [message for n in range(messages // 4) for message in turn(n, rng)]


def digesting() -> Iterator[Row]:
    """CPU time of the digest alone; an added turn mostly costs reading the messages."""
    _planned(talk(400, Random(0)))  # loads what it needs
    found = talk(MESSAGES, Random(1))
    yield f"digest of {MESSAGES:,} messages, cold", f"{_planned(found):.2f} s", "at most 1.5 s"
    rng = Random(2)
    added: list[float] = []
    for n in range(TURNS):
        found += turn(MESSAGES + n, rng)
        added.append(_planned(found))
    shown = f"{1000 * sum(added) / TURNS:.1f} ms, median {1000 * median(added):.1f} ms"
    yield f"digest of {MESSAGES:,} messages, each of {TURNS} turns more", shown, "at most 5 ms"
    start = process_time()
    holdfast.compress(found, BUDGET, strategy=Digest(), format="openai")
    yield (
        "the same call again, reading and counting with it",
        f"{1000 * (process_time() - start):.1f} ms",
        "",
    )


def _planned(messages: list[dict[str, Any]]) -> float:
    """Seconds of the plan; counts, units and protected messages are found beforehand."""
    job = prepare(messages, BUDGET, Options(format="openai", strategy="digest")).unlocked("")
    transcript, meter = job.start, job.allowance.meter
    _ = meter.sizes(transcript), transcript.units, transcript.protected, transcript.user_positions
    start = process_time()
    Digest().plan(transcript, job.allowance)
    return process_time() - start
