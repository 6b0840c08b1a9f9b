"""Operations of deduplication, ranking and rules, in the library's own words."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import holdfast
from holdfast.compressors.dedupe import Semantic
from holdfast.compressors.rank import Hierarchical
from holdfast.compressors.rules import RULES, Rules
from holdfast.kernel.compressor import Compressor
from holdfast.providers.scripted import Scripted
from holdfast.text.similarity import cosine
from tests.conformance.outcome import Outcome
from tests.embedders import ScriptedEmbedder

_MEASURE = "ceil4_overhead"  # the formula of the design that the rules come from


def semantic(params: dict[str, Any]) -> Semantic:
    """The strategy of a case."""
    default = Semantic()
    return Semantic(
        params.get("similarity_threshold", default.similarity_threshold),
        params.get("keep_recent", default.keep_recent),
    )


def hierarchical(params: dict[str, Any]) -> Hierarchical:
    """The strategy of a case."""
    return Hierarchical(keep_recent=params.get("keep_recent", Hierarchical().keep_recent))


def scripted(params: dict[str, Any]) -> Scripted | None:
    """The model that a case describes."""
    told = params.get("llm")
    if told is None:
        return None
    if "error" in told:
        return Scripted(lambda _: RuntimeError(str(told["error"])))
    return Scripted(told["replies"] if "replies" in told else told["reply"])


def embedder(params: dict[str, Any]) -> ScriptedEmbedder | None:
    """The embedder that a case describes; a text that it does not name is like no other."""
    vectors: dict[str, list[float]] | None = params.get("vectors")
    if vectors is None:
        return None
    size = max(map(len, vectors.values()), default=1)
    return ScriptedEmbedder(lambda text: vectors.get(text, [0.0] * size))


def _compressed(
    strategy: Compressor, given: list[Any], params: dict[str, Any], budget: int
) -> Outcome:
    model, vectors = scripted(params), embedder(params)
    counter = params.get("counter", _MEASURE)

    def once(messages: list[Any]) -> holdfast.CompressionResult:
        return holdfast.compress(
            messages, budget, strategy=strategy, counter=counter, llm=model, embedder=vectors
        )

    result = once(copy.deepcopy(given))
    facts = {
        "metrics": result.metrics.to_dict(),
        "budget_met": result.budget_met,
        "status": result.status,
        "reason": result.reason,
        "step_names": [step.name for step in result.steps],
        "steps_applied": [step.name for step in result.steps if step.applied],
        "result_flag": {"degraded": result.degraded},
        "llm_calls": len(model.calls) if model else 0,
        "provider_calls": len(vectors.calls) if vectors else 0,
    }
    return Outcome(result.messages, result.metrics.tokens_after, facts, lambda m: once(m).messages)


def deduplicated(given: list[Any], params: dict[str, Any]) -> Outcome:
    """Semantic deduplication."""
    return _compressed(semantic(params), given, params, params.get("max_tokens", 1))


def ranked(given: list[Any], params: dict[str, Any]) -> Outcome:
    """Hierarchical compression."""
    return _compressed(hierarchical(params), given, params, params.get("max_tokens", 1))


def ruled(given: list[Any], params: dict[str, Any]) -> Outcome:
    """One rule by its name, or all of them; ``repeat`` applies it again to its own output."""
    names = (params["name"],) if "name" in params else RULES
    strategy = Rules(names, roles=("assistant", "tool"))
    outcome = _compressed(strategy, given, params, params.get("max_tokens", 1))
    for _ in range(params.get("repeat", 1) - 1):
        outcome = _compressed(strategy, outcome.messages, params, params.get("max_tokens", 1))
    return outcome


def cosines(given: Any, params: dict[str, Any]) -> Outcome:
    """The cosine of each pair."""
    return Outcome(facts={"value": [cosine(one, other) for one, other in params["pairs"]]})


SEMANTIC_OPERATIONS: dict[str, Callable[[Any, dict[str, Any]], Outcome]] = {
    "semantic_dedup": deduplicated,
    "hierarchical": ranked,
    "rule": ruled,
    "rules_all": ruled,
    "cosine": cosines,
}
