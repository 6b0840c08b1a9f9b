"""What an operation gave, and what the operations share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import holdfast
from holdfast.kernel.budget import tokens_of
from holdfast.kernel.ports import KeyValueStore
from holdfast.result import CompressionResult


@dataclass
class Outcome:
    """What an operation gave: messages with their tokens, and facts by the name of the expectation.

    ``store`` is where it kept originals.
    """

    messages: list[Any] = field(default_factory=list)
    tokens: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    again: Callable[[list[Any]], list[Any]] | None = None
    raised: Exception | None = None
    store: KeyValueStore | None = None


def budget(params: dict[str, Any]) -> holdfast.Budget:
    """The budget that a case states."""
    if "max_model_tokens" in params:
        limit = tokens_of(float(params["threshold_percent"]), params["max_model_tokens"])
        return holdfast.Budget(limit=limit)
    return holdfast.Budget(
        limit=params.get("max_tokens", params.get("budget")), headroom=params.get("headroom", 0.0)
    )


def told(result: CompressionResult) -> dict[str, Any]:
    """What a result says, by the names of the expectations."""
    return {
        "metrics": result.metrics.to_dict(),
        "budget_met": result.budget_met,
        "status": result.status,
        "reason": result.reason,
        "step_names": [step.name for step in result.steps],
        "steps_applied": [step.name for step in result.steps if step.applied],
        "result_flag": {"degraded": result.degraded},
        "llm_calls": 0,
        "provider_calls": 0,
    }
