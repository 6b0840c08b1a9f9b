"""The operations of tiered memory that cases name."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import holdfast
from benchmarks.message_index import Index
from holdfast.memory import pack, remembered, written
from holdfast.memory.entities import importance
from holdfast.memory.forms import RuleCondenser
from holdfast.memory.relevance import (
    Candidate,
    Choice,
    Context,
    Relevance,
    access,
    importances,
    recency,
)
from holdfast.memory.tiers import Maintenance, Segment, Tiers, TierSizes, demote, expand
from holdfast.text.importance import has_importance_marker
from holdfast.tokens import meter_for
from tests.conformance.outcome import Outcome

STEP = 60.0  # seconds between two inputs of a case


def _value(value: Any) -> Outcome:
    return Outcome(facts={"value": value})


def _recency(given: Any, params: dict[str, Any]) -> Outcome:
    return _value([recency(age, params["lambda"]) for age in params["ages"]])


def _access(given: Any, params: dict[str, Any]) -> Outcome:
    relevance = Relevance(alpha=params["alpha"], idle=params["k"], counting=params["c"])
    return _value([access(case["idle"], case["count"], relevance) for case in params["cases"]])


def _entity_importance(given: Any, params: dict[str, Any]) -> Outcome:
    return _value(
        importance(params["entities"], params["context_entities"], params["global"], params["beta"])
    )


def _markers(given: Any, params: dict[str, Any]) -> Outcome:
    return _value([has_importance_marker(text) for text in params["texts"]])


def _retrieve(given: Any, params: dict[str, Any]) -> Outcome:
    candidates = [
        Candidate(each["id"], each["tier"], each["score"]) for each in params["candidates"]
    ]
    chosen = Choice(params["threshold"], params["max_segments"]).of(candidates)
    return _value([each.id for each in chosen])


def _segments(given: list[Any], count: Any) -> list[Segment]:
    return [
        Segment(f"segment-{at}", message["content"], at * STEP, count(message["content"]))
        for at, message in enumerate(given)
    ]


def _matter(newest: Segment, held: Sequence[Segment]) -> list[float]:
    return [each.score for each in importances(held, Context.of(newest.content), newest.created)]


def _tiers(given: list[Any], params: dict[str, Any]) -> Outcome:
    count = meter_for(counter=params["counter"]).text
    segments = _segments(given, count)
    archive = {segment.id: segment.content for segment in segments}
    sizes = TierSizes(
        *(params[name] for name in ("hot", "warm", "cold", "trigger", "target")),
        protect_last=params.get("protect_last", 10),
    )
    maintenance = Maintenance(sizes, count, archive.__getitem__)
    tiers, demotions = Tiers(), []
    for segment in segments:
        now = segment.created
        done = maintenance.run(tiers.adding(segment), partial(_matter, segment), now)
        tiers = done.tiers
        demotions += [move for move in done.moves if move.after is not None]
    newest = tiers.find(segments[-1].id) or next(
        (tier, each)
        for tier in ("hot", "warm", "cold")
        for each in tiers.of(tier)
        if each.origin == segments[-1].id
    )
    facts: dict[str, Any] = {
        "tier_of_last": newest[0],
        "hot_tokens": tiers.tokens("hot"),
        "llm_calls": 0,
    }
    if demotions:
        facts["demoted_segment"] = _described(demotions[0].before, demotions[0].after)
    return Outcome(facts=facts)


_RECORDED = (
    "original_length",
    "compressed_length",
    "compression_ratio",
    "original_entities",
    "retained_entities",
)


def _described(before: Segment, after: Segment) -> dict[str, Any]:
    return {
        "compression_level": after.level,
        "same_id": after.id == before.id,
        "same_creation_time": after.created == before.created,
        "same_access_count": after.access_count == before.access_count,
        "same_importance": after.importance == before.importance,
        "same_last_accessed": after.accessed == before.accessed,
        "metadata_keys": [key for key in _RECORDED if key in after.metadata],
    }


def _roundtrip(given: list[Any], params: dict[str, Any]) -> Outcome:
    count = meter_for(counter=params.get("counter", "o200k_base")).text
    original = _segments(given, count)[0]
    cold = demote(original, original.content, params["to_level"], RuleCondenser(), count, STEP)
    back = expand(cold, original.content, count, 2 * STEP)
    facts = {
        "recalled_equals_original": back.content == original.content,
        "recall_llm_calls": 0,
        "llm_calls": 0,
        "segment": {
            "compression_level": back.level,
            "access_count": back.access_count,
            "same_id": back.id == original.id,
            "metadata": dict(back.metadata),
        },
    }
    return Outcome([{"role": given[0]["role"], "content": back.content}], facts=facts)


def _context(given: list[Any], params: dict[str, Any]) -> Outcome:
    counter = params.get("counter", "o200k_base")
    count = meter_for(counter=counter).text
    index, newest = Index(), given[-1]
    for at, message in enumerate(given[:-1]):
        index.add(remembered(at, message["role"], message["content"]))
    empty = holdfast.count([{"role": "user", "content": ""}, newest], counter=counter).total
    hits = index.search(params["query"], len(given))
    found = [hit.position for hit in hits]
    messages = index.messages.read(found)
    excerpts = pack(
        found, messages, params["budget_tokens"] - empty, count, question=params["query"]
    )
    past = [{"role": "user", "content": written(excerpts)}] if excerpts else []
    output = [*past, newest]
    facts = {
        "budget_met": holdfast.count(output, counter=counter).total <= params["budget_tokens"],
        "llm_calls": 0,
    }
    return Outcome(output, holdfast.count(output, counter=counter).total, facts)


MEMORY_OPERATIONS = {
    "recency": _recency,
    "access": _access,
    "entity_importance": _entity_importance,
    "has_importance_marker": _markers,
    "retrieve": _retrieve,
    "tiers": _tiers,
    "tier_roundtrip": _roundtrip,
    "tier_context": _context,
}
