"""A log record of every run and, where the program uses OpenTelemetry, spans of runs and calls.

None of them holds any text of the messages.
"""

import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from time import perf_counter
from typing import cast

from holdfast.kernel.registry import imported, moved_names
from holdfast.kernel.typed import attributes
from holdfast.model_usage import ModelCall, ModelUsage
from holdfast.result import CompressionResult, Net

Facts = Mapping[str, str | int | float | bool]
Annotated = AbstractContextManager[Callable[..., None]]

log = logging.getLogger("holdfast")
log.addHandler(logging.NullHandler())


@contextmanager
def traced(operation: str) -> Generator[list[CompressionResult]]:
    """Time a run; then write the log record of each result and end its span."""
    started = perf_counter()
    results: list[CompressionResult] = []
    with _telemetry("span", operation) as annotate:
        yield results
        for result in results:
            facts = {
                "strategy": result.strategy_name,
                "steps": ", ".join(step.name for step in result.steps if step.applied),
                **asdict(result.metrics),
                "reduction_percent": round(result.metrics.reduction_percent, 2),
                **attributes(result, "status reason budget_met degraded"),
                **(_net(result.net) if result.net else {}),
                **_calls(result.model_usage),
                "seconds": perf_counter() - started,
            }
            annotate(facts)
            level, told = logging.INFO, "context compressed"
            if result.reason == "within_budget":
                level, told = logging.DEBUG, "no compression needed"
            elif not result.budget_met or result.degraded:
                level = logging.WARNING
            log.log(level, told, extra={"holdfast": facts})


def told_gain(net: Net) -> None:
    """Write the log record and the span of what a new view of a session gains."""
    with _telemetry("span", "fit_session") as annotate:
        annotate(_net(net))
        log.info("view made again", extra={"holdfast": _net(net)})


def _net(net: Net) -> Facts:
    """The gain of a compression, in US dollars."""
    return {"net": net.net, **{f"net_{name}": value for name, value in asdict(net).items()}}


def _calls(usage: ModelUsage) -> Facts:
    """The figures of models, embedders and caches, if any were used."""
    facts: dict[str, int | float] = {}
    if usage.calls:
        facts |= {f"model_{name}": value for name, value in usage.totals().items()}
    if usage.cache is not None:
        for kind, figures in asdict(usage.cache).items():
            facts |= {f"cache_{kind}_{name}": value for name, value in figures.items()}
    return facts


def traced_call(call: ModelCall, max_tokens: int | None = None) -> Annotated:
    """The span of a call; what it yields takes the record of the call and its answer or error."""
    return _telemetry("call_span", call, max_tokens)


def _telemetry(kind: str, *about: object) -> Annotated:
    """A span of this kind, if the program has loaded OpenTelemetry; else nothing."""
    with suppress(ImportError):  # some other package of that name space, without the API
        if "opentelemetry" in sys.modules:
            return cast("Annotated", imported(f"holdfast.telemetry.spans:{kind}")(*about))
    return nullcontext(lambda *_: None)


__getattr__ = moved_names(
    __name__, dict.fromkeys(("span", "call_span"), "holdfast.telemetry.spans")
)
