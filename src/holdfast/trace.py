"""A log record of every run and, where the program uses OpenTelemetry, a span.

Neither holds any text of the messages.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from time import perf_counter
from typing import cast

from holdfast.kernel.registry import imported
from holdfast.model_usage import ModelCall, ModelUsage
from holdfast.result import CompressionResult, Net

Facts = Mapping[str, str | int | float | bool]
Annotate = Callable[[Facts, Sequence[ModelCall]], None]
Span = Callable[[str], AbstractContextManager[Annotate]]

log = logging.getLogger("holdfast")
log.addHandler(logging.NullHandler())


@contextmanager
def traced(operation: str) -> Generator[list[CompressionResult], None, None]:
    """Time a run; then write the log record of each result and end its span."""
    span = _span()
    started = perf_counter()
    results: list[CompressionResult] = []
    with span(operation) as annotate:
        yield results
        for result in results:
            facts = {**_facts(result), "seconds": perf_counter() - started}
            annotate(facts, result.model_usage.calls)
            _write(result, facts)


def _facts(result: CompressionResult) -> Facts:
    return {
        "strategy": result.strategy_name,
        "steps": ", ".join(step.name for step in result.steps if step.applied),
        "tokens_before": result.metrics.tokens_before,
        "tokens_after": result.metrics.tokens_after,
        "messages_before": result.metrics.messages_before,
        "messages_after": result.metrics.messages_after,
        "reduction_percent": round(result.metrics.reduction_percent, 2),
        "status": result.status,
        "reason": result.reason,
        "budget_met": result.budget_met,
        "degraded": result.degraded,
        **(_net(result.net) if result.net else {}),
        **_calls(result.model_usage),
    }


def _net(net: Net) -> Facts:
    """The gain of a compression, in US dollars."""
    return {"net": net.net, **{f"net_{name}": value for name, value in asdict(net).items()}}


def _calls(usage: ModelUsage) -> Facts:
    """The figures of models, embedders and caches, if any were used."""
    facts: dict[str, int | float] = {}
    if usage.calls:
        facts |= {
            "model_requests": usage.requests,
            "model_failures": usage.failures,
            "model_cached": usage.cached,
            "model_input_tokens": usage.input_tokens,
            "model_output_tokens": usage.output_tokens,
            "model_seconds": usage.seconds,
        }
        if usage.cost is not None:
            facts["model_cost"] = usage.cost
    if usage.cache is not None:
        for kind, figures in (
            ("embeddings", usage.cache.embeddings),
            ("summaries", usage.cache.summaries),
        ):
            facts |= {f"cache_{kind}_{name}": value for name, value in asdict(figures).items()}
    return facts


def _write(result: CompressionResult, facts: Facts) -> None:
    if result.reason == "within_budget":
        log.debug("no compression needed", extra={"holdfast": facts})
        return
    level = logging.INFO if result.budget_met and not result.degraded else logging.WARNING
    log.log(level, "context compressed", extra={"holdfast": facts})


def _span() -> Span:
    """The function that opens a span: OpenTelemetry's if the program has loaded it."""
    if "opentelemetry" not in sys.modules:
        return _no_span
    try:
        return cast("Span", imported("holdfast.telemetry:span"))
    except ImportError:  # some other package of that name space, without the API
        return _no_span


def _forget(facts: Facts, calls: Sequence[ModelCall]) -> None:
    del facts, calls


@contextmanager
def _no_span(operation: str) -> Generator[Annotate, None, None]:
    del operation
    yield _forget
