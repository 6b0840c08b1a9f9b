"""What models and embedders took stands in the result, in its JSON and in the log record."""

import json
import logging

import pytest

import holdfast
from holdfast.calls.cache import CompressionCache
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.ports import Reply
from holdfast.model_usage import NO_CALLS, CacheFigures, ModelCall, ModelUsage
from holdfast.providers.scripted import Scripted
from tests.talks import chat, system

SUMMARY = "They compared two plans for the move and chose the second one."


def fitted(**options):
    model = Scripted(lambda prompt: Reply(SUMMARY, 100, 20), name="gpt-4o-mini")
    talk = [system("Be careful."), *chat(10, 30)]
    given = {
        "strategy": [Summarize(verify=False), "trim"],
        "counter": "words",
        "llm": model,
        **options,
    }
    return holdfast.compress(talk, 200, **given)


def test_every_call_is_in_the_result_with_what_it_took():
    usage = fitted().model_usage
    (call,) = usage.calls
    assert (call.kind, call.model, call.input_tokens, call.output_tokens) == (
        "complete",
        "gpt-4o-mini",
        100,
        20,
    )
    assert (usage.requests, usage.failures, usage.cached, usage.cache) == (1, 0, 0, None)
    assert usage.cost == pytest.approx(0.000027)
    assert usage.seconds >= call.seconds > 0


def test_the_statistics_of_the_cache_are_in_the_result():
    cache = CompressionCache(summaries=3)
    first, second = fitted(cache=cache).model_usage, fitted(cache=cache).model_usage
    assert first.cache.summaries == CacheFigures(1, 3, 0, 1)
    assert second.cache.summaries == CacheFigures(1, 3, 1, 1)
    assert (second.requests, second.cached, second.cost) == (0, 1, 0)
    assert cache.statistics() == second.cache


def test_it_survives_json():
    result = fitted(cache=CompressionCache())
    again = holdfast.CompressionResult.from_json(result.to_json())
    assert again.model_usage == result.model_usage
    assert json.loads(result.to_json())["model_usage"]["cost"] == result.model_usage.cost


def test_a_result_without_calls_says_so():
    result = holdfast.compress(chat(10, 30), 200, strategy="trim", counter="words")
    assert result.model_usage == NO_CALLS
    assert holdfast.CompressionResult.from_json(result.to_json()).model_usage == NO_CALLS


def test_one_unknown_price_makes_the_whole_unknown():
    known, unknown = ModelCall("complete", "a", cost=0.5), ModelCall("embed", "b", cost=None)
    assert ModelUsage((known, known)).cost == 1.0
    assert ModelUsage((known, unknown)).cost is None


def test_the_log_record_has_the_figures(caplog):
    with caplog.at_level(logging.INFO, "holdfast"):
        fitted(cache=CompressionCache())
        fitted(llm=Scripted(SUMMARY, name="somebodys-own"))
    cached, alone = (record.holdfast for record in caplog.records)
    told = {
        name: cached[name]
        for name in ("model_requests", "model_input_tokens", "model_output_tokens")
    }
    assert told == {"model_requests": 1, "model_input_tokens": 100, "model_output_tokens": 20}
    assert (cached["cache_summaries_size"], cached["cache_summaries_misses"]) == (1, 1)
    assert cached["model_cost"] > 0
    assert "model_cost" not in alone
    assert not any(name.startswith("cache") for name in alone)
