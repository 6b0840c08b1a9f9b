"""A vendor that fails in any way never ends a compression: the budget is met, history stays,
the result says why.
"""

import asyncio
import json
import logging
from threading import Event

import pytest

import holdfast
from holdfast.api import acompress_many, compress_many
from holdfast.calls.cache import CompressionCache
from holdfast.calls.lineup import CallLimits
from holdfast.compressors.summarize import Summarize
from holdfast.providers.openai import OpenAIModel
from tests.stores.doubles import TextStore
from tests.talks import chat, system

FAULTS = ["busy", "broken", "hang", "cut", "malformed", "strange", "long", "refused"]
QUICK = CallLimits(retries=1, backoff=0.01)
SHORT = CallLimits(timeout=0.3, retries=1, backoff=0.01)
"""For calls that never end."""
SUMMARY = "They compared two plans for the move and chose the second one."


def history(name="plan"):
    """A conversation that is far over the budget, each with words of its own."""
    return [
        system("Be careful."),
        *chat(10, 30),
        *[{"role": "user", "content": f"Go on with {name}."}],
    ]


def settings(**given):
    return {
        "strategy": [Summarize(verify=False), "trim"],
        "counter": "words",
        "limits": QUICK,
        **given,
    }


def healthy(result, original):
    assert result.budget_met
    assert holdfast.restore(result) == original
    assert holdfast.validate(result.messages) == []
    assert result.messages[-1] == original[-1]


@pytest.mark.parametrize("door", ["compress", "acompress"])
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_told_and_the_next_step_meets_the_budget(vendors, model, fault, door):
    vendors.judge = lambda text: fault
    original = history()
    options = settings(llm=model, limits=SHORT if fault == "hang" else QUICK)
    if door == "compress":
        result = holdfast.compress(original, 200, **options)
    else:
        result = asyncio.run(holdfast.acompress(original, 200, **options))
    healthy(result, original)
    assert original == history()
    assert (result.degraded, result.steps[0].status) == (True, "failed")
    assert result.steps[0].detail in result.detail
    assert result.model_usage.failures >= 1
    attempts = {call.attempts for call in result.model_usage.calls if call.fault}
    assert attempts == ({1} if fault in {"long", "refused"} else {2})


@pytest.mark.parametrize("fault", ["busy", "broken", "cut", "malformed"])
def test_a_fault_that_passes_is_not_felt(vendors, model, fault):
    vendors.faults.append(fault)
    vendors.reply = lambda text: SUMMARY
    original = history()
    result = holdfast.compress(original, 200, **settings(llm=model))
    healthy(result, original)
    assert (result.degraded, result.steps[0].status) == (False, "compacted")
    assert SUMMARY in json.dumps(result.messages)
    (call,) = result.model_usage.calls
    assert (call.attempts, call.input_tokens, call.output_tokens, call.counted) == (2, 11, 5, False)


def test_what_is_too_long_for_the_model_is_told_to_it_in_parts(vendors, model):
    vendors.faults.append("long")
    vendors.reply = lambda text: SUMMARY
    original = history()
    result = holdfast.compress(original, 200, **settings(llm=model))
    healthy(result, original)
    assert (result.degraded, result.steps[0].status) == (False, "compacted")
    assert result.model_usage.failures == 1 < result.model_usage.requests


def test_a_vendor_that_asks_for_a_long_wait_is_not_waited_for(vendors):
    vendors.headers = {"retry-after": "3600"}
    vendors.judge = lambda text: "busy"
    model = OpenAIModel("a-model", base_url=vendors.base("openai"))
    result = holdfast.compress(history(), 200, **settings(llm=model))
    assert len(vendors.requests) == 1
    assert "it asks to wait 3.6e+03 s" in result.detail


def test_with_raise_the_caller_gets_the_fault(vendors, model):
    vendors.judge = lambda text: "refused"
    with pytest.raises(holdfast.StrategyError, match="this key is not known") as told:
        holdfast.compress(history(), 200, **settings(llm=model, on_failure="raise"))
    assert isinstance(told.value.__cause__, holdfast.ModelError)


@pytest.mark.parametrize("door", ["compress_many", "acompress_many"])
def test_a_failing_thread_leaves_its_neighbours_alone(vendors, door):
    vendors.judge = lambda text: (
        "refused" if "bad-one" in text else "hang" if "bad-two" in text else None
    )
    vendors.reply = lambda text: SUMMARY
    talks = [
        [{"role": "user", "content": f"About {name}."}, *history()]
        for name in ("bad-one", "good", "bad-two")
    ]
    model = OpenAIModel("a-model", base_url=vendors.base("openai"))
    alone = holdfast.compress(talks[1], 200, **settings(llm=model))
    options = settings(llm=model, limits=CallLimits(timeout=2, retries=0))
    if door == "compress_many":
        results = compress_many(talks, 200, **options)
    else:
        results = asyncio.run(acompress_many(talks, 200, **options))
    for talk, result in zip(talks, results, strict=True):
        healthy(result, talk)
    assert [result.degraded for result in results] == [True, False, True]
    assert results[1] == alone


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "[HISTORY_SUMMARY 0123456789abcdef]",
        "ignore previous instructions " * 20_000,
        "a \ud800 b",
        7,
        None,
    ],
    ids=["empty", "blank", "marker", "endless", "surrogate", "number", "nothing"],
)
def test_whatever_a_model_says_the_budget_is_met_and_nothing_is_lost(reply):
    original = history()
    result = holdfast.compress(original, 200, **settings(llm=lambda prompt: reply))
    healthy(result, original)
    json.dumps(result.messages).encode()
    assert "".join(str(message) for message in result.messages).isprintable()


def test_cancelling_leaves_nothing_half_written():
    asked, gate, store, cache = Event(), Event(), TextStore(), CompressionCache()

    def model(prompt):
        asked.set()
        gate.wait()
        return SUMMARY

    options = settings(llm=model, store=store, cache=cache, thread="t", limits=CallLimits())

    async def cancelled():
        work = asyncio.ensure_future(holdfast.acompress(history(), 200, **options))
        await asyncio.to_thread(asked.wait)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert list(store.entries) == ["secret"]
    assert cache.statistics().summaries.size == 0
    gate.set()
    result = holdfast.compress(history(), 200, **options)
    assert (result.degraded, result.steps[0].status) == (False, "compacted")


def test_the_log_says_that_a_model_failed(caplog):
    with caplog.at_level(logging.INFO, "holdfast"):
        holdfast.compress(history(), 200, **settings(llm=lambda prompt: 1 / 0))
    (record,) = caplog.records
    assert (record.levelno, record.holdfast["model_failures"]) == (logging.WARNING, 1)


@pytest.mark.parametrize(
    "fault",
    [GeneratorExit(), StopIteration(), RecursionError(), SystemExit("no key"), KeyboardInterrupt()],
)
def test_what_a_model_raises_to_end_something_ends_no_compression(fault):
    def model(prompt):
        raise fault

    result = holdfast.compress(history(), 200, **settings(llm=model))
    healthy(result, history())
    assert result.degraded


def test_an_asynchronous_model_that_exits_ends_no_compression():
    async def model(prompt):
        raise SystemExit("no key")

    result = holdfast.compress(history(), 200, **settings(llm=model))
    healthy(result, history())
    assert result.degraded
