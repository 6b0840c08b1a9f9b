"""The operations that cases name, each in the library's own words."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import holdfast
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.prune import Prune, tunacode
from holdfast.compressors.size_classes import SizeClasses
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.in_place import prune_old_tool_outputs
from holdfast.kernel.budget import tokens_of
from holdfast.kernel.ports import KeyValueStore
from holdfast.result import CompressionMetrics, CompressionResult
from holdfast.stores.in_process import InProcessStore
from holdfast.tokens import counter_for

NOT_YET = frozenset(
    "summarize semantic_dedup hierarchical history_digest squeeze_digest manage_context rule "
    "rules_all compact call_with_recovery group_blocks group_blocks_each retention_boundary cosine content_key "
    "summary_key summary_keys_distinct recency access entity_importance has_importance_marker cache_script "
    "store_script wrap_unwrap retrieve tiers tier_roundtrip tier_context".split()
)
"""Operations of later issues."""


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


class NeverCalled:
    """Stands in for a strategy that a case lists and must not reach."""

    def __init__(self, name: str) -> None:
        self.name = name

    def plan(self, transcript, allowance):
        raise AssertionError(f"{self.name} was called")


def _strategy(params: dict[str, Any]) -> Any:
    op = params["op"]
    if op == "sliding_window":
        return SlidingWindow(window_size=params.get("window_size"))
    if op == "trim":
        return Trim(
            keep_recent=max(0, params.get("min_recent", 2)),
            only_when_last_is_user=params.get("only_when_last_is_user", False),
            clamp=False,  # the design drops and never clamps
        )
    if op == "trim_to_budget":
        return Trim()
    if op == "prune_tool_outputs":
        return _prune(params)
    if op == "hybrid":
        return Pipeline(tuple(map(_strategy, params["strategies"])))
    if op in NOT_YET:
        return NeverCalled(op)
    raise LookupError(f"unknown strategy {op!r}")


def _prune(params: dict[str, Any]) -> Prune:
    given = {
        "protect_tokens": "protect_tokens",
        "minimum_tokens": "minimum_threshold",
        "min_user_turns": "min_user_turns",
    }
    default = tunacode()
    return Prune(**{knob: params.get(name, getattr(default, knob)) for knob, name in given.items()})


def _budget(params: dict[str, Any]) -> holdfast.Budget:
    if "max_model_tokens" in params:
        limit = tokens_of(float(params["threshold_percent"]), params["max_model_tokens"])
        return holdfast.Budget(limit=limit)
    return holdfast.Budget(
        limit=params.get("max_tokens", params.get("budget")), headroom=params.get("headroom", 0.0)
    )


def _told(result: CompressionResult) -> dict[str, Any]:
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


def _compressed(given: list[Any], params: dict[str, Any]) -> Outcome:
    def once(messages: list[Any]) -> CompressionResult:
        counter = params.get("counter", "o200k_base")
        return holdfast.compress(messages, _budget(params), strategy=_strategy(params), counter=counter)

    result = once(copy.deepcopy(given))
    return Outcome(result.messages, result.metrics.tokens_after, _told(result), lambda m: once(m).messages)


def _trimmed_to_budget(given: list[Any], params: dict[str, Any]) -> Outcome:
    return _compressed(given, {**params, "op": "trim_to_budget"})


def _trim_errors(given: Any, params: dict[str, Any]) -> Outcome:
    found = []
    for case in params["cases"]:
        try:
            _trimmed_to_budget(case.get("input", given) or [], {**params, **case})
        except holdfast.ConfigError as fault:
            found.append(f"error:{'budget' if fault.place in ('limit', 'budget') else fault.place}")
        else:
            found.append("no error")
    return Outcome(facts={"value": found})


def _pruned(given: list[Any], params: dict[str, Any]) -> Outcome:
    counter = params.get("counter", "floor4")

    def once(messages: list[Any]) -> tuple[list[Any], int]:
        done = prune_old_tool_outputs(messages, counter=counter, prune=_prune(params))
        assert done.messages is messages
        return done.messages, done.reclaimed

    messages = copy.deepcopy(given)
    reclaimed = [once(messages)[1] for _ in range(params.get("repeat", 1))]
    facts = {"reclaimed": reclaimed[0], "reclaimed_runs": reclaimed}
    return Outcome(messages, 0, facts, lambda m: once(copy.deepcopy(m))[0])


def _compacted(given: list[Any], params: dict[str, Any]) -> Outcome:
    store = InProcessStore()
    strategy = SizeClasses(params["inline_bytes"], params["external_bytes"])

    def once(messages: list[Any]) -> list[Any]:
        return holdfast.compress(messages, 1, strategy=strategy, store=store).messages

    return Outcome(once(copy.deepcopy(given)), again=once, store=store)


def _counted(given: list[Any], params: dict[str, Any]) -> Outcome:
    each = holdfast.count(given, counter=params["counter"])
    value = {
        "per_message": [row.tokens for row in each.messages],
        "conversation": each.total,
        "empty_conversation": holdfast.count([], counter=params["counter"]).total,
    }
    return Outcome(given, each.total, {"value": value})


def _counted_each(given: list[Any], params: dict[str, Any]) -> Outcome:
    rows = holdfast.count(given, counter=params["counter"]).messages
    return Outcome(given, 0, {"value": [row.tokens for row in rows]})


def _tokenizers(given: Any, params: dict[str, Any]) -> Outcome:
    counters = {model: counter_for(model) for model in params["models"]}
    accuracy = {model: counter.accuracy.kind for model, counter in counters.items()}
    return Outcome(facts={"value": [counters[model].name for model in params["models"]], "accuracy": accuracy})


def _thresholds(given: Any, params: dict[str, Any]) -> Outcome:
    return Outcome(facts={"value": [tokens_of(float(share), whole) for whole, share in params["pairs"]]})


def _metrics(given: Any, params: dict[str, Any]) -> Outcome:
    return Outcome(facts={"value": [CompressionMetrics(*quad).to_dict() for quad in params["quads"]]})


def _defaults(given: Any, params: dict[str, Any]) -> Outcome:
    if params["of"] != "prune_tool_outputs":
        raise LookupError(f"unknown defaults of {params['of']!r}")
    prune = tunacode()
    value = {
        "protect_tokens": prune.protect_tokens,
        "minimum_threshold": prune.minimum_tokens,
        "min_user_turns": prune.min_user_turns,
        "placeholder": prune.placeholder,
        "chars_per_token": 400 // counter_for("floor4").count("x" * 400),
    }
    return Outcome(facts={"value": value})


OPERATIONS: dict[str, Callable[[Any, dict[str, Any]], Outcome]] = {
    "sliding_window": _compressed,
    "trim": _compressed,
    "hybrid": _compressed,
    "prune_tool_outputs": _pruned,
    "compact_tool_outputs": _compacted,
    "trim_to_budget": _trimmed_to_budget,
    "trim_to_budget_errors": _trim_errors,
    "count_tokens": _counted,
    "count_tokens_each": _counted_each,
    "tokenizer_for_model": _tokenizers,
    "threshold": _thresholds,
    "metrics": _metrics,
    "defaults": _defaults,
}
