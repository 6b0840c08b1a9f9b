"""The operations that cases name about summaries by a model."""

import copy
from typing import Any

import holdfast
from holdfast.agent import AgentLoop
from holdfast.calls.cache import CompressionCache
from holdfast.compressors.squeeze import Squeeze
from holdfast.compressors.summaries import summary_key
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.errors import ModelError
from holdfast.providers.scripted import Scripted
from holdfast.result import CompressionResult, Conversation, unwrap, wrap
from holdfast.session import Session
from holdfast.stores.in_process import InProcessStore
from tests.conformance.outcome import Outcome, budget, told


def scripted(script: dict[str, Any] | None) -> Scripted:
    """The model of a case: one reply, several in order, or an error."""
    script = script or {}
    if "error" in script:
        return Scripted(lambda _: ModelError(script["error"]))
    return Scripted(script["replies"] if "replies" in script else script.get("reply", ""))


def summarizing(params: dict[str, Any]) -> Summarize:
    """The strategy with the parameters of a case, which name the newest messages in two ways."""
    keep = params.get("keep_recent", params.get("min_recent"))
    combine = params.get("combine", "concat")
    return Summarize(
        keep_recent=None if keep is None else max(0, keep), summary_max_tokens=512, combine=combine
    )


def summarized(given: Any, params: dict[str, Any]) -> Outcome:
    """``summarize``: every input in turn, each as often as the case says, with one model, store
    and cache.
    """
    model = scripted(params.get("llm"))
    store = InProcessStore() if params.get("store") == "memory" else None
    cache = CompressionCache(**params["cache"]) if "cache" in params else None

    def once(messages: list[Any]) -> CompressionResult:
        return holdfast.compress(
            copy.deepcopy(messages),
            budget(params),
            strategy=summarizing(params),
            counter=params.get("counter", "o200k_base"),
            llm=model,
            thread=params.get("thread_id"),
            store=store,
            cache=cache,
        )

    inputs = params.get("runs", [given])
    results = [once(messages) for messages in inputs for _ in range(params.get("repeat", 1))]
    facts = {
        **told(results[-1]),
        "llm_calls": len(model.calls),
        "runs": [result.messages for result in results],
        "llm_inputs": _inputs(model),
    }
    return Outcome(
        results[-1].messages,
        results[-1].metrics.tokens_after,
        facts,
        lambda messages: once(messages).messages,
        store=store,
    )


def squeezed(given: list[Any], params: dict[str, Any]) -> Outcome:
    """``squeeze_digest``: the summaries alone, whatever the budget."""
    return _forced(given, params, Squeeze(cap_tokens=params["cap_tokens"]))


def compacted_by_model(given: list[Any], params: dict[str, Any]) -> Outcome:
    """``compact``: everything but the newest where it is forced, else what is over the budget."""
    if params.get("force"):
        return _forced(given, params, Summarize(keep_recent=0))
    return summarized(given, params)


def _forced(given: list[Any], params: dict[str, Any], strategy: Any) -> Outcome:
    model = scripted(params.get("llm"))

    def once(messages: list[Any]) -> CompressionResult:
        counter = params.get("counter", "o200k_base")
        return holdfast.compress(
            copy.deepcopy(messages), 1, strategy=strategy, counter=counter, llm=model
        )

    result = once(given)
    facts = {**told(result), "llm_calls": len(model.calls), "llm_inputs": _inputs(model)}
    return Outcome(result.messages, result.metrics.tokens_after, facts, lambda m: once(m).messages)


def key_of_summary(given: Any, params: dict[str, Any]) -> Outcome:
    """``summary_key``."""
    return Outcome(facts={"value": _key(params)})


def keys_of_summaries(given: Any, params: dict[str, Any]) -> Outcome:
    """``summary_keys_distinct``."""
    keys = [_key(each) for each in params["keys"]]
    return Outcome(facts={"value": keys})


def _key(named: Any) -> str:
    if isinstance(named, dict):
        return summary_key(named["thread_id"], named["start"], named["end"])
    return summary_key(*named)


def stored_by_script(given: Any, params: dict[str, Any]) -> Outcome:
    """``store_script``."""
    store, found = InProcessStore(), []
    for name, *arguments in params["script"]:
        value = getattr(store, name)(*arguments)
        if name == "get":
            found.append(value)
    return Outcome(facts={"value": found})


def wrapped_and_unwrapped(given: list[Any], params: dict[str, Any]) -> Outcome:
    """``wrap_unwrap``: the round trip, and a compression in between that keeps the id and the
    metadata.
    """
    conversation = wrap(given, params["thread_id"], params.get("metadata"))
    compressed = holdfast.compress(conversation, 100_000).messages
    assert isinstance(compressed, Conversation)
    facts = {"conversation": {"thread_id": compressed.thread_id, "metadata": compressed.metadata}}
    return Outcome(list(unwrap(compressed)), 0, facts)


def _inputs(model: Scripted) -> list[str]:
    return [f"{call.system}\n{call.prompt}" for call in model.calls]


def called_with_recovery(given: list[Any], params: dict[str, Any]) -> Outcome:
    """``call_with_recovery``: the agent's loop over a provider that first raises what the case
    says.
    """
    errors, asked = list(params["provider"].get("errors", [])), []

    def provider(messages: list[Any], tools: Any) -> str:
        asked.append(len(messages))
        if errors:
            raise RuntimeError(errors.pop(0))
        return params["provider"]["then"]

    session = Session("case", budget=budget({"max_tokens": 100_000, **params}))
    session.append(*given[:-1])
    answer: Any = {"content": None}
    flag = ""
    try:
        answer = AgentLoop(provider, session, trigger="overflow").run(given[-1])
    except holdfast.ContextOverflowError:
        flag = "overflow"
    facts = {
        "result": answer["content"],
        "result_flag": {"degraded": False, "overflow": bool(flag)},
        "provider_calls": len(asked),
        "compactions": len(asked) - 1,
    }
    return Outcome(given, 0, facts)


SUMMARY_OPERATIONS = {
    "summarize": summarized,
    "squeeze_digest": squeezed,
    "compact": compacted_by_model,
    "summary_key": key_of_summary,
    "summary_keys_distinct": keys_of_summaries,
    "store_script": stored_by_script,
    "wrap_unwrap": wrapped_and_unwrapped,
    "call_with_recovery": called_with_recovery,
}
