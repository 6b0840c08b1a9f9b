"""An OpenTelemetry span for each compression; imported if the program uses OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace

Facts = Mapping[str, str | int | float | bool]


@contextmanager
def span(operation: str) -> Generator[Callable[[Facts], None], None, None]:
    """Open a span; the yielded function sets facts as ``holdfast.*`` attributes."""
    with trace.get_tracer("holdfast").start_as_current_span(operation) as current:

        def annotate(facts: Facts) -> None:
            current.set_attributes({f"holdfast.{name}": value for name, value in facts.items()})
            if facts.get("status") == "compacted":
                current.set_attribute("gen_ai.conversation.compacted", value=True)

        yield annotate
