"""What is measured; each gives rows of (what, figure, bound or empty)."""

import json
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator

import holdfast
from benchmarks.speed.conversation import Messages, unseen
from benchmarks.speed.peers import PEERS
from benchmarks.speed.plain import encoder
from benchmarks.speed.timing import Row, timed
from holdfast.profiles import profile_names
from holdfast.text.memo import MOST_BYTES
from holdfast.tokens import count_memo, counter_for

CALLS = 520
PEER_EVERY = (
    20  # a peer takes every twentieth call, and is held against what we took for those very calls
)
BUDGET = 16_000


def stops(length: int) -> list[int]:
    """How long the conversation is at each call of the growing loop."""
    return [max(1, round((n + 1) * length / CALLS)) for n in range(CALLS)]


def fitted(found: Messages, stop: int, **options: object) -> holdfast.CompressionResult:
    """One stateless call with the first ``stop`` messages."""
    return holdfast.compress(found[:stop], BUDGET, format="openai", **options)


def growing_loop(found: Messages) -> Iterator[Row]:
    """The 520 calls: we and the recount alternate every 20 calls, peers run the last of each 20.

    A peer's call is held against the mean of ours in its turn. Turns alternate, so that a machine
    that slows down slows down all of them.
    """
    encode = encoder()
    count = lambda text: len(encode(text))  # noqa: E731 - a function with one name for all contenders
    peers, missing = {}, []
    for name, prepare in PEERS.items():
        try:
            peers[name] = prepare(found, BUDGET, count)
        except ImportError:
            missing.append(name)
    fast = balanced = plain = ours_then = 0.0
    theirs = dict.fromkeys(peers, 0.0)
    everything = stops(len(found))
    for first in range(0, CALLS, PEER_EVERY):
        run = everything[first : first + PEER_EVERY]
        plain += sum(
            timed(lambda stop=stop: sum(len(encode(m["content"] or "")) for m in found[:stop]))
            for stop in run
        )
        ours = [timed(lambda: fitted(found, stop, profile="fast")) for stop in run]  # noqa: B023
        fast += sum(ours)
        balanced += sum(timed(lambda: fitted(found, stop)) for stop in run)  # noqa: B023
        ours_then += sum(ours) / len(
            ours
        )  # of one call, a pause of the collector would be most of it
        for name, fit in peers.items():
            theirs[name] += timed(lambda: fit(run[-1]))  # noqa: B023
    yield (
        f"growing loop, {CALLS} calls, fast / plain recount",
        f"{fast / plain:.3f}",
        "at most 0.35",
    )
    yield "growing loop, default profile / plain recount", f"{balanced / plain:.3f}", "at most 0.6"
    for name, seconds in theirs.items():
        bound = "at least 20" if name.startswith("LangChain") else ""
        yield f"growing loop, {name} / fast", f"{seconds / ours_then:.1f}", bound
    for name in missing:
        yield f"growing loop, {name}", "not installed, not measured", ""


def cold_call(found: Messages) -> Iterator[Row]:
    """One call with texts that were never counted, against the plain count of the same texts."""
    encode = encoder()
    for profile in ("fast", "balanced"):
        ratios = []
        for copy in range(9):
            texts = unseen(found, f"{profile} {copy}")
            ours = timed(lambda: fitted(texts, len(texts), profile=profile))  # noqa: B023
            plain = timed(lambda: sum(len(encode(m["content"] or "")) for m in texts))  # noqa: B023
            ratios.append(ours / plain)
        bound = "at most 2" if profile == "fast" else "at most 7"
        yield (
            f"cold call, {profile} / plain count (median of 9)",
            f"{statistics.median(ratios):.2f}",
            bound,
        )


def shared_prefix(found: Messages) -> Iterator[Row]:
    """How often the last result begins the next one, with steps of a tenth of the budget."""
    for profile in profile_names():
        kept, before = 0, None
        for stop in stops(len(found)):
            messages = fitted(found, stop, profile=profile, step=0.1).messages
            kept += before is not None and messages[: len(before)] == before
            before = messages
        bound = "at least 90 %" if profile in ("fast", "balanced") else ""
        yield (
            f"previous result is a prefix, step=0.1, {profile}",
            f"{100 * kept / (CALLS - 1):.1f} %",
            bound,
        )


def import_time() -> Iterator[Row]:
    """A fresh process that imports the package, less one that imports nothing: medians of 15."""

    def process(code: str) -> float:
        times = [
            timed(lambda: subprocess.run([sys.executable, "-c", code], check=True))
            for _ in range(15)
        ]
        return statistics.median(times)

    nothing = process("pass")
    yield (
        "import holdfast",
        f"{1000 * (process('import holdfast') - nothing):.0f} ms",
        "at most 60 ms",
    )
    first = 1000 * (process("from holdfast import compress") - nothing)
    yield "import holdfast and load compress", f"{first:.0f} ms", ""


def memo_memory() -> Iterator[Row]:
    """Three times as much text as all caches together may hold goes through one."""
    memo, size = count_memo(counter_for("floor4")), 4_000
    tracemalloc.start()
    for n in range(3 * MOST_BYTES // size):
        memo(f"{n} " + "x" * size)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    yield (
        f"caches after {3 * MOST_BYTES / 1e6:,.0f} MB of text",
        f"{held:,} bytes",
        f"at most {MOST_BYTES:,} bytes",
    )


def described(found: Messages) -> str:
    """How long the measured conversation is."""
    size = holdfast.count(found, format="openai").total
    return json.dumps({"messages": len(found), "tokens": size, "budget": BUDGET})
