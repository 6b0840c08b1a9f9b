"""The proxy's figures: counters for Prometheus, and the last requests for its page.

The usage that a provider reports is read from answers and streams as they pass. Only the reports of
the last few requests have text of messages, and only in memory.
"""

import re
from collections import OrderedDict, deque
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from time import gmtime, strftime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from holdfast.http.fitter import REMEMBERED, Fitted
from holdfast.result import CompressionResult

_FIGURE = re.compile(
    rb'"(?:(?P<read>input_tokens|prompt_tokens|promptTokenCount)'
    rb"|(?P<cached>cache_read_input_tokens|cached_tokens|cachedContentTokenCount)"
    rb'|(?P<written>output_tokens|completion_tokens|candidatesTokenCount))"\s{0,4}:'
    rb"\s{0,4}(?P<tokens>\d{1,12})"
)
_MARK = b"oken"  # part of the names of all figures
_TAIL = 64  # bytes at the end of a chunk that may begin a figure: name and number have some 40


@dataclass
class Usage:
    """Tokens by the provider's count: input, input read from its cache, and output."""

    read: int = 0
    cached: int = 0
    written: int = 0
    _tail: bytes = b""

    def see(self, chunk: bytes) -> None:
        """Read the next bytes of the answer; the last figure of each kind counts."""
        if _MARK not in chunk and not self._tail:
            return
        text = self._tail + chunk
        for figure in _FIGURE.finditer(text):
            name = next(name for name, value in figure.groupdict().items() if value)
            setattr(self, name, int(figure["tokens"]))
        self._tail = text[-_TAIL:] if _MARK in text[-_TAIL:] else b""


CACHED = 0.1
"""The price of a cached token relative to an uncached one, as Anthropic and OpenAI publish it for
their current models.
"""

_REPORTS = 10  # the newest reports, which are kept: one of 500,000 tokens takes 2 MB
# seconds, upper bounds of the histogram: those of Prometheus's Go client, but from 1 ms to 5 s
_LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


@dataclass
class Row:
    """One request, as the page shows it; times in milliseconds, sizes in tokens."""

    number: int
    at: str
    path: str
    model: str = ""
    thread: str = ""
    before: int = 0
    after: int = 0
    grown: bool = False
    changed: bool = False
    fitted_in: float = 0.0
    status: int = 0
    read: int = 0
    cached: int = 0
    note: str = ""
    report: bool = False


class Figures:
    """Counts requests; one instance serves a whole proxy, and is used by its event loop alone."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        self._requests = counter("holdfast_requests", "Requests passed on", ["outcome"])
        self._tokens = counter("holdfast_tokens", "Tokens of conversations", ["side"])
        self._provider = counter(
            "holdfast_provider_tokens", "Tokens by the provider's own count", ["kind"]
        )
        for outcome in ("passed", "fitted"):  # so that each is listed from the beginning
            self._requests.labels(outcome)
        for kind in ("read", "cached", "written"):
            self._provider.labels(kind)
        self._faults = counter("holdfast_faults", "Faults", ["where"])
        self._seconds = Histogram(
            "holdfast_fit_seconds", "Time of a fit", registry=self.registry, buckets=_LATENCIES
        )
        self.live = Gauge("holdfast_live", "Requests under way", registry=self.registry)
        self.recent: deque[Row] = deque(maxlen=50)  # rows on the page
        self.points: deque[tuple[float, int, int]] = deque(
            maxlen=120
        )  # points of the curve on the page
        self.totals = {"requests": 0, "before": 0, "after": 0, "read": 0, "cached": 0, "faults": 0}
        self.net = 0.0
        """Tokens saved, in tokens that are read at full price: what the cache would have spared
        without Holdfast, and what it cost to make views anew, are counted against it."""
        self._threads: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self.reports: deque[tuple[int, CompressionResult]] = deque(maxlen=_REPORTS)
        """The last requests with a new view, by number."""

    def begin(self, path: str) -> Row:
        """Record the arrival of a request."""
        self.totals["requests"] += 1
        return Row(self.totals["requests"], strftime("%H:%M:%S", gmtime()), path[:120])

    def fitted(self, row: Row, fitted: Fitted, seconds: float) -> None:
        """Record that its body was fitted."""
        row.model, row.thread = fitted.model[:80], fitted.thread
        row.before, row.after = fitted.before, fitted.after
        row.grown, row.changed, row.note = fitted.grown, fitted.changed, fitted.note[:300]
        row.fitted_in = round(seconds * 1_000, 2)
        self._seconds.observe(seconds)
        if fitted.fault:
            self.fault("fit")
        if not fitted.before:
            return
        for side, tokens in (("before", fitted.before), ("after", fitted.after)):
            self._tokens.labels(side).inc(tokens)
            self.totals[side] += tokens
        self.net += self._saved(fitted)
        self.points.append((row.number, fitted.before, fitted.after))
        if fitted.result is not None and fitted.changed and not fitted.grown:
            self.reports.append((row.number, fitted.result))
            row.report = True

    def _saved(self, fitted: Fitted) -> float:
        """The price of the request unfitted, minus its actual price."""
        before, after = self._threads.pop(fitted.thread, (0, 0))
        self._threads[fitted.thread] = (fitted.before, fitted.after)
        while len(self._threads) > REMEMBERED:  # a request of a forgotten one counts as its first
            self._threads.popitem(last=False)
        whole = fitted.before - min(before, fitted.before) * (1 - CACHED)
        held = min(after, fitted.after) if fitted.grown or not fitted.changed else 0
        return whole - (fitted.after - held * (1 - CACHED))

    def fault(self, where: str) -> None:
        """Record a failure of ``fit`` or ``upstream``."""
        self._faults.labels(where).inc()
        self.totals["faults"] += 1

    def end(self, row: Row, status: int, usage: Usage) -> None:
        """Record the end of a request, with the client's status (499: it disconnected)."""
        row.status = status
        self._requests.labels("fitted" if row.changed else "passed").inc()
        if usage.read or usage.written:
            row.read, row.cached = usage.read, usage.cached
            self.totals["read"] += usage.read
            self.totals["cached"] += usage.cached
            for kind in ("read", "cached", "written"):
                self._provider.labels(kind).inc(getattr(usage, kind))
        self.recent.append(row)

    def for_page(self) -> dict[str, Any]:
        """The figures for the page."""
        return {
            "totals": self.totals,
            "net": round(self.net),
            "points": list(self.points),
            "rows": [asdict(row) for row in reversed(self.recent)],
            "threads": [
                {"thread": name, "before": before, "after": after}
                for name, (before, after) in islice(reversed(self._threads.items()), 20)
            ],
        }
