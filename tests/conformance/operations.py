"""The operations that cases name, each in the library's own words."""

import copy
from collections.abc import Callable
from typing import Any

import holdfast
from holdfast.compressors.pipeline import Named, Pipeline
from holdfast.compressors.prune import Prune
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.designs import tunacode
from holdfast.designs.llm4s import SizeClasses, llm4s_history
from holdfast.in_place import prune_old_tool_outputs
from holdfast.kernel.budget import tokens_of
from holdfast.profiles import load_profile
from holdfast.result import CompressionMetrics, CompressionResult
from holdfast.stores.in_process import InProcessStore
from holdfast.tokens import counter_for
from tests.conformance.cache_operations import CACHE_OPERATIONS
from tests.conformance.digest_operations import DIGEST_OPERATIONS
from tests.conformance.memory_operations import MEMORY_OPERATIONS
from tests.conformance.outcome import Outcome, budget, told
from tests.conformance.semantic_operations import (
    SEMANTIC_OPERATIONS,
    embedder,
    hierarchical,
    scripted,
    semantic,
)
from tests.conformance.summary_operations import SUMMARY_OPERATIONS, summarizing


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
    if op in STRATEGIES:
        return STRATEGIES[op](params)
    raise LookupError(f"unknown strategy {op!r}")


def _prune(params: dict[str, Any]) -> Prune:
    given = {
        "protect_tokens": "protect_tokens",
        "minimum_tokens": "minimum_threshold",
        "min_user_turns": "min_user_turns",
    }
    default = tunacode()
    return Prune(**{knob: params.get(name, getattr(default, knob)) for knob, name in given.items()})


def _compressed(given: list[Any], params: dict[str, Any]) -> Outcome:
    def once(messages: list[Any]) -> CompressionResult:
        counter = params.get("counter", "o200k_base")
        strategy = _strategy(params)
        told = next((each for each in (params, *params.get("strategies", ())) if "llm" in each), {})
        given = {"llm": scripted(told), "embedder": embedder(params)}
        return holdfast.compress(
            messages, budget(params), strategy=strategy, counter=counter, **given
        )

    result = once(copy.deepcopy(given))
    return Outcome(
        result.messages, result.metrics.tokens_after, told(result), lambda m: once(m).messages
    )


def _trimmed_to_budget(given: list[Any], params: dict[str, Any]) -> Outcome:
    return _compressed(given, {**params, "op": "trim_to_budget"})


def _managed(given: list[Any], params: dict[str, Any]) -> Outcome:
    """The four-step pipeline, with the profile's own number of blocks unless the case gives
    another.
    """
    steps = tuple(
        Named(llm4s_history(params["keep_last_blocks"]), step.name)
        if step.name == "HistoryCompression" and "keep_last_blocks" in params
        else step
        for step in load_profile("four_step").steps
    )
    model = scripted(params) if "llm" in params else None

    def once(messages: list[Any]) -> CompressionResult:
        return holdfast.compress(
            messages,
            budget(params),
            strategy=Pipeline(steps, "four_step"),
            counter=params["counter"],
            llm=model,
        )

    result = once(copy.deepcopy(given))
    facts = {**told(result), "llm_calls": len(model.calls) if model else 0}
    return Outcome(result.messages, result.metrics.tokens_after, facts, lambda m: once(m).messages)


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
    return Outcome(
        facts={"value": [counters[model].name for model in params["models"]], "accuracy": accuracy}
    )


def _thresholds(given: Any, params: dict[str, Any]) -> Outcome:
    return Outcome(
        facts={"value": [tokens_of(float(share), whole) for whole, share in params["pairs"]]}
    )


def _metrics(given: Any, params: dict[str, Any]) -> Outcome:
    return Outcome(
        facts={"value": [CompressionMetrics(*quad).to_dict() for quad in params["quads"]]}
    )


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


NOT_YET: frozenset[str] = frozenset()
"""Operations that cases name and that are still to be built."""

STRATEGIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "summarize": summarizing,
    "semantic_dedup": semantic,
    "hierarchical": hierarchical,
}

OPERATIONS: dict[str, Callable[[Any, dict[str, Any]], Outcome]] = {
    **CACHE_OPERATIONS,
    **DIGEST_OPERATIONS,
    **MEMORY_OPERATIONS,
    **SEMANTIC_OPERATIONS,
    **SUMMARY_OPERATIONS,
    "sliding_window": _compressed,
    "trim": _compressed,
    "hybrid": _compressed,
    "prune_tool_outputs": _pruned,
    "compact_tool_outputs": _compacted,
    "manage_context": _managed,
    "trim_to_budget": _trimmed_to_budget,
    "trim_to_budget_errors": _trim_errors,
    "count_tokens": _counted,
    "count_tokens_each": _counted_each,
    "tokenizer_for_model": _tokenizers,
    "threshold": _thresholds,
    "metrics": _metrics,
    "defaults": _defaults,
}
