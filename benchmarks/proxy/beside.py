"""Calls through the proxy beside direct ones, in one run: ``python -m benchmarks.proxy.beside``.

Where the machine is busy, trust the ratios of processor time and the differences, not the times.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import sys
from time import perf_counter
from urllib.parse import urlsplit

import aiohttp

from benchmarks.proxy.bodies import body, talk
from benchmarks.proxy.processes import processor, proxy, upstream

CALLS = 600
CONNECTIONS = 16
SECONDS = 6
PATH = "/v1/chat/completions"
HEADERS = {"content-type": "application/json", "authorization": "Bearer k"}


class Line:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self.connection = http.client.HTTPConnection(str(where.hostname), where.port)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, raw: bytes) -> float:
        """Milliseconds of one call."""
        started = perf_counter()
        self.connection.request("POST", PATH, raw, HEADERS)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == 200
        return 1_000 * (perf_counter() - started)


def quantile(times: list[float], share: float) -> float:
    """A quantile of the times, in their unit."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def latencies(url: str, address: str, raws: list[bytes]) -> tuple[list[float], list[float]]:
    """Of direct calls and of those through the proxy, by turns."""
    direct, through = Line(url), Line(address)
    pairs = [(direct.call(raw), through.call(raw)) for raw in raws]
    return [a for a, _ in pairs], [b for _, b in pairs]


async def rate(url: str, raw: bytes) -> float:
    """Requests a second over so many connections."""
    done, until = 0, perf_counter() + SECONDS

    async def ask(session: aiohttp.ClientSession) -> None:
        nonlocal done
        while perf_counter() < until:
            async with session.post(url + PATH, data=raw, headers=HEADERS) as answer:
                await answer.read()
            done += 1

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:
        await asyncio.gather(*(ask(session) for _ in range(CONNECTIONS)))
    return done / SECONDS


def told(name: str, direct: list[float], through: list[float], bounds: tuple[float, float]) -> None:
    """Print what the proxy adds."""
    for share, bound in zip((0.5, 0.99), bounds, strict=True):
        a, b = quantile(direct, share), quantile(through, share)
        print(
            f"{name}, p{share * 100:g}: {a:.2f} -> {b:.2f} ms, adds {b - a:.2f} (bound {bound:g})"
        )


def main() -> int:
    """Measure, print."""
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    raw = body(talk(46, 2_060))
    with upstream() as (url, _), proxy(url, "--budget", "128k") as (address, pid):
        first = Line(address).call(raw)
        print(f"first request after start: {first:.1f} ms (bound 50)")
        used = processor(pid)
        direct, through = latencies(url, address, [raw] * CALLS)
        each = 1_000 * (processor(pid) - used) / CALLS
        told(f"{len(raw) // 1_000} KB passed by", direct, through, (1.0, 5.0))
        print(f"processor time of the proxy: {each:.2f} ms a request")
        plain = asyncio.run(rate(url, raw))
        passed = asyncio.run(rate(address, raw))
        print(
            f"{CONNECTIONS} connections: {plain:,.0f} a second direct, {passed:,.0f} "
            f"through (bound 1,500)"
        )
    with upstream() as (url, _), proxy(url, "--budget", "60k") as (address, pid):
        grown = [body(talk(n, 2_060)) for n in range(90, 90 + 40)]
        warm = Line(address)
        warm.call(grown[0])
        used = processor(pid)
        direct, through = latencies(url, address, grown[1:])
        each = 1_000 * (processor(pid) - used) / len(grown[1:])
        told("a fit of some 60,000 tokens that grow", direct, through, (5.0, float("inf")))
        print(f"processor time of the proxy: {each:.2f} ms a request")
    return 0


if __name__ == "__main__":
    sys.exit(main())
