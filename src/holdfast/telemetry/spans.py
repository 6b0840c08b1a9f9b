"""OpenTelemetry spans and metrics of compressions; loaded if the API is installed.

Each call of a model or an embedder has a span and metrics as in OpenTelemetry's conventions for
generative AI, with the names of the package opentelemetry-semantic-conventions; all other names
begin with ``holdfast.``.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from inspect import signature
from typing import cast

from opentelemetry import metrics, trace
from opentelemetry.metrics import Histogram
from opentelemetry.trace import SpanKind, StatusCode

from holdfast.model_usage import ModelCall

from . import Facts

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
# as the conventions below have it for calls
_SECONDS = _histogram(
    "holdfast.compression.duration", "s", "Time of a compression", least=0.01, ratio=2
)
_NET = _METER.create_up_down_counter("holdfast.net", "{USD}", "What compressions are worth")
# as in OpenTelemetry's conventions for generative AI, from 1 token to 4^13
_USED = _histogram("gen_ai.client.token.usage", "{token}", "Tokens of calls", least=1, ratio=4)
# as there, from 10 ms to 82 s
_ASKED = _histogram("gen_ai.client.operation.duration", "s", "Time of calls", least=0.01, ratio=2)


@contextmanager
def span(operation: str) -> Generator[Callable[[Facts], None]]:
    """Open a span; the function that it yields adds facts as ``holdfast.*`` attributes."""
    with trace.get_tracer("holdfast").start_as_current_span(operation) as current:

        def annotate(facts: Facts) -> None:
            current.set_attributes({f"holdfast.{name}": value for name, value in facts.items()})
            if "status" in facts:
                told = {name: facts[name] for name in ("status", "budget_met", "degraded")}
                _RUNS.add(1, told)
                _SECONDS.record(float(facts["seconds"]), told)
                for side in ("before", "after"):
                    _TOKENS.add(int(facts[f"tokens_{side}"]), {"side": side})
            if "net" in facts:
                _NET.add(float(facts["net"]))

        yield annotate


@contextmanager
def call_span(
    about: ModelCall, max_tokens: int | None
) -> Generator[Callable[[ModelCall, object], None]]:
    """Open the span of a call; the function that it yields adds what came of it to the metrics.

    That function takes the record of the call, and its answer or its error.
    """
    kind = _OPERATIONS[about.kind]
    told = {
        "gen_ai.operation.name": kind,
        "gen_ai.provider.name": about.provider,
        "gen_ai.request.model": about.model,
    }
    most = {} if max_tokens is None else {"gen_ai.request.max_tokens": max_tokens}
    with trace.get_tracer("holdfast").start_as_current_span(
        f"{kind} {about.model}", kind=SpanKind.CLIENT, attributes={**told, **most}
    ) as current:

        def ended(call: ModelCall, answer: object) -> None:
            failed = {"error.type": type(answer).__name__} if call.fault else {}
            _ASKED.record(call.seconds, told | failed)
            if failed:  # without the text of the error, which may quote the conversation
                current.set_attributes(failed)
                current.set_status(StatusCode.ERROR)
                return
            sides = {"input": call.input_tokens}
            if call.kind == "complete":
                sides["output"] = call.output_tokens
            for side, tokens in sides.items():
                current.set_attribute(f"gen_ai.usage.{side}_tokens", tokens)
                _USED.record(tokens, told | {"gen_ai.token.type": side})

        yield ended
