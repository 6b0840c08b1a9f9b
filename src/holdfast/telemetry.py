"""OpenTelemetry spans and metrics of compressions; loaded if the API is installed.

Calls of models use the attribute names of OpenTelemetry's conventions for generative AI, from the
package opentelemetry-semantic-conventions; all other names begin with ``holdfast.``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import cast

from opentelemetry import metrics, trace
from opentelemetry.metrics import Histogram

from holdfast.model_usage import ModelCall

Facts = Mapping[str, str | int | float | bool]
_OPERATIONS = {"complete": "chat", "embed": "embeddings"}

_BUCKETS = "explicit_bucket_boundaries_advisory"  # not in older packages
_ADVISED = _BUCKETS in signature(metrics.Meter.create_histogram).parameters


def _histogram(name: str, unit: str, description: str, *, least: float, ratio: int) -> Histogram:
    """A histogram with the 14 buckets that the conventions have for its unit."""
    buckets = {_BUCKETS: [least * ratio**n for n in range(14)]} if _ADVISED else {}
    make = cast("Callable[..., Histogram]", _METER.create_histogram)
    return make(name, unit, description, **buckets)


_METER = metrics.get_meter("holdfast")
_RUNS = _METER.create_counter("holdfast.compressions", "{compression}", "Compressions")
_TOKENS = _METER.create_counter("holdfast.tokens", "{token}", "Tokens of conversations")
_SECONDS = _histogram(
    "holdfast.compression.duration", "s", "Time of a compression", least=0.01, ratio=2
)
_NET = _METER.create_up_down_counter("holdfast.net", "{USD}", "What compressions are worth")
_USED = _histogram("gen_ai.client.token.usage", "{token}", "Tokens of calls", least=1, ratio=4)
_ASKED = _histogram("gen_ai.client.operation.duration", "s", "Time of calls", least=0.01, ratio=2)


@contextmanager
def span(operation: str) -> Generator[Callable[[Facts, Sequence[ModelCall]], None], None, None]:
    """Open a span; the function that it yields adds facts as ``holdfast.*`` attributes."""
    with trace.get_tracer("holdfast").start_as_current_span(operation) as current:

        def annotate(facts: Facts, calls: Sequence[ModelCall]) -> None:
            current.set_attributes({f"holdfast.{name}": value for name, value in facts.items()})
            if calls:
                current.set_attributes(
                    {
                        **_about(calls[0]),
                        "gen_ai.usage.input_tokens": sum(call.input_tokens for call in calls),
                        "gen_ai.usage.output_tokens": sum(call.output_tokens for call in calls),
                    }
                )
            _measure(facts, calls)

        yield annotate


def _about(call: ModelCall) -> dict[str, str]:
    """What was asked of whom."""
    return {
        "gen_ai.operation.name": _OPERATIONS[call.kind],
        "gen_ai.provider.name": call.provider,
        "gen_ai.request.model": call.model,
    }


def _measure(facts: Facts, calls: Sequence[ModelCall]) -> None:
    """Add a compression and its calls to the metrics."""
    told = {name: facts[name] for name in ("status", "budget_met", "degraded")}
    _RUNS.add(1, told)
    _SECONDS.record(float(facts["seconds"]), told)
    for side in ("before", "after"):
        _TOKENS.add(int(facts[f"tokens_{side}"]), {"side": side})
    if "net" in facts:
        _NET.add(float(facts["net"]))
    for call in calls:
        about = _about(call)
        _ASKED.record(call.seconds, about | ({"error.type": "_OTHER"} if call.fault else {}))
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            _USED.record(tokens, about | {"gen_ai.token.type": kind})
