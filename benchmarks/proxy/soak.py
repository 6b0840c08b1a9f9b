"""The proxy for many minutes, with a provider that fails in every way.

Nothing is lost or doubled, every fault arrives as it was, and memory stays where it is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

import aiohttp

from benchmarks.proxy.bodies import body, talk
from benchmarks.proxy.processes import memory, processor, proxy, upstream
from benchmarks.proxy.upstream import CHUNKS, EVENT, LARGE, SAID

WORKERS = 16
PAUSE = 0.1  # seconds between two requests of a worker: the proxy is to be loaded, not the machine
MODES = ("ok", "stream", "429", "500", "reset", "half", "halfstream", "large", "left")
WEIGHTS = (40, 20, 5, 5, 5, 5, 5, 3, 5)
STREAMED = EVENT * CHUNKS
FLAT = 0.05  # of memory
SETTLED = 0.25  # of the time, after which memory is to stay where it is


@dataclass
class Record:
    """What was asked, and what went wrong."""

    asked: Counter[str] = field(default_factory=Counter)
    may_miss: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def pool() -> list[bytes]:
    """Conversations that fit, and that do not, as they grow."""
    small = [body(talk(5, 2_000, f"s{n}")) for n in range(8)]
    return small + [body(talk(n, 2_000, f"l{m}")) for m in range(4) for n in range(20, 36)]


async def one(
    session: aiohttp.ClientSession, url: str, raw: bytes, name: str, mode: str, record: Record
) -> None:
    """One request, held against what should come of it."""
    sent = "stream" if mode == "left" else mode
    headers = {"x-mode": sent, "x-id": name, "content-type": "application/json"}
    record.asked[mode] += 1
    status, got, broken = 0, bytearray(), False
    try:
        async with session.post(f"{url}/v1/chat/completions", data=raw, headers=headers) as answer:
            status = answer.status
            async for part in answer.content.iter_any():
                got += part
                if mode == "left":
                    answer.close()
                    return
                if mode == "large":
                    await asyncio.sleep(0.002)
    except aiohttp.ClientError:
        broken = True
    expected = {
        "ok": status == 200 and bytes(got) == SAID,
        "stream": status == 200 and bytes(got) == STREAMED,
        "large": status == 200 and len(got) == LARGE * len(EVENT),
        "429": status == 429 and bytes(got) == b'{"error":"slow down"}',
        "500": status == 500 and bytes(got) == b'{"error":"broken"}',
        "reset": status == 502 and b"could not be reached" in got,
        "half": status == 200 and broken,
        "halfstream": status == 200 and broken and STREAMED.startswith(bytes(got)),
        "left": False,
    }
    if not expected[mode]:
        record.wrong.append(
            f"{mode}: status {status}, {len(got)} bytes, broken {broken}: {bytes(got[:120])!r}"
        )


async def worker(n: int, url: str, raws: list[bytes], until: float, record: Record) -> None:
    """Ask until the time is over."""
    chance = random.Random(n)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        asked = 0
        while monotonic() < until:
            mode = chance.choices(MODES, WEIGHTS)[0]
            await one(session, url, chance.choice(raws), f"{n}-{asked}", mode, record)
            if mode == "left":
                record.may_miss.add(f"{n}-{asked}")
            asked += 1
            await asyncio.sleep(PAUSE)
        record.asked[f"worker {n}"] = asked


async def watch(pid: int, until: float, record: Record) -> None:
    """Memory, every five seconds."""
    while monotonic() < until:
        record.memory.append(memory(pid))
        await asyncio.sleep(5)


async def soak(minutes: float) -> int:
    """Run it, print what came of it; 1 if anything is wrong."""
    record, raws = Record(), pool()
    with upstream() as (url, _), proxy(url, "--budget", "16k") as (address, pid):
        until = monotonic() + minutes * 60
        workers = [worker(n, address, raws, until, record) for n in range(WORKERS)]
        await asyncio.gather(watch(pid, until, record), *workers)
        used = processor(pid)
        async with aiohttp.ClientSession() as session:
            seen = json.loads(await (await session.get(f"{url}/counts")).read())
            faults = await (await session.get(f"{address}/metrics")).text()
    names = {f"{n}-{i}" for n in range(WORKERS) for i in range(record.asked[f"worker {n}"])}
    lost = [name for name in names - record.may_miss if name not in seen]
    doubled = [name for name, times in seen.items() if times > 1]
    settled = record.memory[int(len(record.memory) * SETTLED) :]
    third = max(1, len(settled) // 3)
    first, last = sum(settled[:third]) / third, sum(settled[-third:]) / third
    print(
        f"{minutes:g} minutes, {len(names):,} requests: "
        f"{dict(sorted((m, record.asked[m]) for m in MODES))}"
    )
    print(f"lost {len(lost)}, doubled {len(doubled)}, not as it was {len(record.wrong)}")
    print(
        f"memory {first:.1f} MB -> {last:.1f} MB ({last / first - 1:+.1%}), at most "
        f"{max(record.memory):.1f}"
    )
    print(
        f"processor time of the proxy {used:.0f} s, "
        f"{1_000 * used / max(1, len(names)):.2f} ms a request"
    )
    print(
        *(line for line in faults.splitlines() if line.startswith("holdfast_faults_total")),
        sep="\n",
    )
    for line in record.wrong[:10]:
        print(f"  {line}")
    return int(bool(lost or doubled or record.wrong or last / first - 1 > FLAT))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    sys.exit(asyncio.run(soak(parser.parse_args().minutes)))
