"""How asks are answered, and what a run leaves behind: one log record and one span, never
message text.
"""

import asyncio
import json
import logging
import re
import threading
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from prometheus_client import generate_latest

import holdfast
from holdfast.cost import Costs
from holdfast.kernel.compressor import Plan, ask
from holdfast.kernel.ports import All, Complete, Embed, Load, Read, Save, Write
from holdfast.providers.prices import Price
from holdfast.providers.scripted import Scripted
from holdfast.telemetry import spans as telemetry
from tests.stores.doubles import AwaitedTextStore, TextStore
from tests.talks import Somebody, agent_run

FACTS = {
    "strategy": "hybrid",
    "steps": "prune",
    "tokens_before": 619,
    "messages_before": 15,
    "status": "compacted",
    "reason": "compacted",
    "budget_met": True,
    "degraded": False,
}


def compress(**settings):
    given = {"strategy": ["prune", "trim"], "counter": "words", **settings}
    return holdfast.compress(agent_run(6), given.pop("budget", 300), **given)


# the log


class Kept(logging.Handler):
    """Keeps the records."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def records():
    logger, handler = logging.getLogger("holdfast"), Kept()
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield handler.records
    logger.setLevel(before)
    logger.removeHandler(handler)


def test_a_compression_writes_one_record_with_its_facts(records):
    done = compress()
    (record,) = records
    assert (record.name, record.levelno, record.getMessage()) == (
        "holdfast",
        logging.INFO,
        "context compressed",
    )
    assert record.holdfast.items() >= FACTS.items()
    assert record.holdfast["tokens_after"] == done.metrics.tokens_after
    assert record.holdfast["reduction_percent"] == round(done.metrics.reduction_percent, 2)
    assert record.holdfast["seconds"] >= 0
    assert json.loads(json.dumps(record.holdfast)) == record.holdfast


def test_where_nothing_is_needed_that_is_told_at_debug_level(records):
    compress(budget=5_000)
    (record,) = records
    assert (record.levelno, record.getMessage()) == (logging.DEBUG, "no compression needed")
    assert record.holdfast["steps"] == ""


@pytest.mark.parametrize(
    "settings",
    [{"budget": 1}, {"strategy": [Somebody(RuntimeError("no")), "trim"]}],
    ids=["not met", "degraded"],
)
def test_what_should_worry_somebody_is_a_warning(records, settings):
    compress(**settings)
    assert [record.levelno for record in records] == [logging.WARNING]


def test_no_text_of_a_message_is_logged(records):
    compress()
    assert not any(
        word in str(vars(record)) for record in records for word in ("out0", "Find the bug")
    )


def test_a_run_that_raises_is_told_too_when_it_came_to_a_result(records):
    with pytest.raises(holdfast.BudgetError):
        compress(budget=holdfast.Budget(limit=1, hard=True))
    assert [record.holdfast["budget_met"] for record in records] == [False]
    with pytest.raises(holdfast.ConfigError):
        compress(budget=0)
    assert len(records) == 1


def test_the_asynchronous_door_logs_alike(records):
    asyncio.run(holdfast.acompress(agent_run(6), 300, strategy=["prune", "trim"], counter="words"))
    (record,) = records
    assert record.holdfast.items() >= FACTS.items()


def test_nothing_is_printed_where_nobody_set_up_logging(capsys):
    compress(budget=1)
    assert capsys.readouterr() == ("", "")


# the span


@pytest.fixture(scope="module")
def exporter():
    """The SDK as an application sets it up, its spans kept in memory."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter):
    exporter.clear()
    return exporter.get_finished_spans


def test_a_compression_is_one_span_with_its_facts(spans):
    done = compress()
    (span,) = spans()
    assert span.name == "compress_messages"
    told = {key.removeprefix("holdfast."): value for key, value in span.attributes.items()}
    assert told.items() >= FACTS.items()
    assert told["tokens_after"] == done.metrics.tokens_after
    assert span.instrumentation_scope.name == "holdfast"


def test_a_span_of_a_run_that_had_nothing_to_do_says_so(spans):
    compress(budget=5_000)
    (span,) = spans()
    assert span.attributes["holdfast.reason"] == "within_budget"


# the metrics


@pytest.fixture(scope="module")
def scraped():
    """What Prometheus reads of an application that has set the SDK up."""
    metrics.set_meter_provider(MeterProvider(metric_readers=[PrometheusMetricReader()]))
    return lambda: generate_latest().decode()


def test_prometheus_reads_compressions_tokens_net_and_the_calls_of_models(scraped):
    costs = Costs(Price(3.0), calls=1)
    llm = Scripted("The build failed in step 3 because of read({}) out0.")
    compress(strategy=["summarizing", "trim"], llm=llm, costs=costs)
    told = scraped()
    for name in ("compressions_total", "tokens_total", "compression_duration_seconds_count", "net"):
        assert f"holdfast_{name}{{" in told
    for label in ('status="compacted"', 'side="after"', 'gen_ai_operation_name="chat"'):
        assert label in told
    assert 'gen_ai_request_model="scripted"' in told
    assert 'gen_ai_provider_name="holdfast"' in told
    assert 'gen_ai_token_type="input"' in told
    for name, least in (
        ("holdfast_compression_duration_seconds", 0.01),
        ("gen_ai_client_operation_duration_seconds", 0.01),
        ("gen_ai_client_token_usage", 1),
    ):
        buckets = re.findall(rf'{name}_bucket{{.*?le="([^"]+)"', told)
        assert (float(buckets[0]), len(set(buckets))) == (least, 15)


def test_names_of_generative_ai_are_those_of_the_package_of_conventions(spans):
    compress(strategy=["summarizing", "trim"], llm=Scripted("Nothing."))
    known = {each for each in vars(gen_ai_attributes).values() if isinstance(each, str)}
    known |= {each for each in vars(gen_ai_metrics).values() if isinstance(each, str)}
    source = Path(telemetry.__file__).read_text("utf-8")
    named = set(re.findall(r'"(gen_ai\.[a-z_.]+)"', source))
    assert named <= known
    used = {name for span in spans() for name in span.attributes if name.startswith("gen_ai.")}
    assert used <= known


class Failing:
    name = "somebody"

    def complete(self, prompt, **_):
        raise RuntimeError(prompt)


def test_each_call_of_a_model_is_a_span_within_that_of_the_run(spans):
    llm = Scripted("The build failed in step 3 because of read({}) out0.")
    done = compress(strategy=["summarizing", "trim"], llm=llm)
    *calls, run = spans()
    assert run.name == "compress_messages"
    assert len(calls) == len(done.model_usage.calls) == 1
    (span,) = calls
    assert (span.name, span.kind, span.parent.span_id) == (
        "chat scripted",
        trace.SpanKind.CLIENT,
        run.context.span_id,
    )
    told = {name.removeprefix("gen_ai."): value for name, value in span.attributes.items()}
    assert told.pop("request.max_tokens") > 0
    assert told == {
        "operation.name": "chat",
        "provider.name": "holdfast",
        "request.model": "scripted",
        "usage.input_tokens": done.model_usage.input_tokens,
        "usage.output_tokens": done.model_usage.output_tokens,
    }


def test_a_call_that_fails_is_a_span_with_the_kind_of_error_and_without_its_text(spans):
    compress(strategy=["summarizing", "trim"], llm=Failing())
    span = next(each for each in spans() if each.name == "chat somebody")
    assert not span.status.is_ok
    assert span.attributes["error.type"] == "ModelError"
    assert not any("usage" in name for name in span.attributes)
    assert "Find the bug" not in span.to_json()


def test_a_reply_of_the_cache_is_no_call(spans):
    cache, llm = holdfast.CompressionCache(), Scripted("It failed in step 3: read({}) out0.")
    for _ in range(2):
        compress(strategy=["summarizing", "trim"], llm=llm, cache=cache)
    assert [span.name for span in spans()].count("chat scripted") == 1


def test_embeddings_and_the_questions_of_a_judge_are_spans_too(spans):
    asyncio.run(holdfast.acompress(agent_run(6), 300, strategy=["semantic", "trim"]))
    (span,) = (each for each in spans() if each.name.startswith("embeddings "))
    assert span.attributes["gen_ai.usage.input_tokens"] > 0
    assert "gen_ai.usage.output_tokens" not in span.attributes
    judge = Scripted("step 3")
    holdfast.evaluate(agent_run(2), agent_run(1), [("Which step?", ["step 3"])], judge)
    assert [span.name for span in spans()].count("chat scripted") == 2


def test_a_span_stands_inside_of_the_callers_own(spans):
    with trace.get_tracer("app").start_as_current_span("turn") as turn:
        compress()
        asyncio.run(holdfast.acompress(agent_run(6), 300))
    ours = [span for span in spans() if span.name == "compress_messages"]
    assert [span.parent.span_id for span in ours] == [turn.get_span_context().span_id] * 2


def test_a_span_of_wrong_input_records_the_error(spans):
    with pytest.raises(holdfast.InputError):
        holdfast.compress("hello", 300)
    (span,) = spans()
    assert not span.status.is_ok
    assert [event.attributes["exception.type"] for event in span.events] == [
        "holdfast.kernel.errors.FormatError"
    ]


def test_no_text_of_a_message_is_in_a_span(spans):
    compress()
    assert not any(word in span.to_json() for span in spans() for word in ("out0", "Find the bug"))


# asks


def keeping(transcript, allowance):
    """Keep two texts, and get one of them back."""
    first, second = yield from ask(All((Save("one"), Save("two", "log"))))
    back = yield from ask(Load(first))
    return Plan.skip("kept", f"{back} {first != second}")


class PromisingStore(TextStore):
    """Answers with an awaitable though its methods are no coroutine functions."""

    async def _later(self, value):
        return value

    def get(self, key):
        return self._later(super().get(key))

    def set(self, key, value):
        super().set(key, value)
        return self._later(None)


STORES = [TextStore, AwaitedTextStore, PromisingStore, lambda: "memory://test_runtime"]


@pytest.mark.parametrize("store", STORES, ids=["at once", "awaited", "promising", "url"])
def test_a_store_answers_at_once_or_awaited_at_both_doors(store):
    strategy = [Somebody(keeping), "trim"]
    done = compress(strategy=strategy, store=store())
    awaited = asyncio.run(
        holdfast.acompress(agent_run(6), 300, strategy=strategy, store=store(), counter="words")
    )
    assert done.steps[0].detail == awaited.steps[0].detail == "one True"
    assert done == awaited


def writing(transcript, allowance):
    """Keep a text under a key of its own, and get it back."""
    before = yield from ask(Read("thread:key"))
    yield from ask(Write("thread:key", "value"))
    after = yield from ask(Read("thread:key"))
    return Plan.skip("written", f"{before} {after}")


@pytest.mark.parametrize("store", STORES[:3], ids=["at once", "awaited", "promising"])
@pytest.mark.parametrize("door", ["compress", "acompress"])
def test_plain_keys_are_those_of_the_callers_store(store, door):
    kept = store()
    settings = {
        "strategy": [Somebody(writing), "trim"],
        "store": kept,
        "counter": "words",
        "secret": "s",
    }
    if door == "compress":
        done = holdfast.compress(agent_run(6), 300, **settings)
    else:
        done = asyncio.run(holdfast.acompress(agent_run(6), 300, **settings))
    assert done.steps[0].detail == "None value"
    assert kept.entries == {"thread:key": "value"}


@pytest.mark.parametrize(
    "request_", [Read("k"), Write("k", "v"), Save("t"), Load("k"), Complete("p")], ids=repr
)
@pytest.mark.parametrize("door", ["compress", "acompress"])
def test_without_a_store_or_a_model_an_ask_is_refused_with_what_to_pass(request_, door):
    settings = {
        "strategy": [Somebody(lambda t, a: Plan(detail=(yield from ask(request_)))), "trim"]
    }
    if door == "compress":
        done = holdfast.compress(agent_run(6), 300, counter="words", **settings)
    else:
        done = asyncio.run(holdfast.acompress(agent_run(6), 300, counter="words", **settings))
    assert done.steps[0].status == "failed"
    assert "pass llm=" in done.detail or "pass store=" in done.detail


def everything(transcript, allowance):
    answers = yield from ask(
        All((Complete("p"), Save("t"), Embed(("a", "b")), Load("0" * 64), Complete("p")))
    )
    return Plan.skip(
        "asked", f"{answers[0]} {answers[1] is not None} {answers[2]} {answers[3]} {answers[4]}"
    )


async def vectors_of(texts):
    return [[float(ord(text))] for text in texts]


@pytest.mark.parametrize("door", ["compress", "acompress"])
def test_asks_of_all_kinds_are_answered_together_and_in_order(door):
    settings = {
        "strategy": [Somebody(everything), "trim"],
        "store": TextStore(),
        "counter": "words",
    }
    settings |= {"llm": "scripted:fine", "embedder": vectors_of}
    if door == "compress":
        done = holdfast.compress(agent_run(6), 300, **settings)
    else:
        done = asyncio.run(holdfast.acompress(agent_run(6), 300, **settings))
    assert done.steps[0].detail == "fine True [[97.0], [98.0]] None fine"


def telling(transcript, allowance):
    yield from ask(Complete("p"))
    return Plan.skip("told", f"{allowance.writer} {allowance.writer_window} {allowance.thread}")


@pytest.mark.parametrize(
    ("llm", "told"),
    [
        (Scripted("x", name="gpt-4o-mini"), "gpt-4o-mini 128000 t"),
        (Scripted("x", window=99), "scripted 99 t"),
    ],
    ids=["known", "own"],
)
def test_a_strategy_is_told_who_writes_how_much_that_takes_and_whose_thread_it_is(llm, told):
    assert (
        compress(strategy=[Somebody(telling), "trim"], llm=llm, thread="t").steps[0].detail == told
    )


def test_a_function_that_is_awaited_is_called_on_the_callers_own_loop():
    loops = []

    async def model(prompt):
        loops.append(asyncio.get_running_loop())
        return "fine"

    async def inside():
        await holdfast.acompress(
            agent_run(6),
            300,
            strategy=[Somebody(telling), "trim"],
            counter="words",
            llm=model,
            thread="t",
        )
        return asyncio.get_running_loop()

    assert loops == [asyncio.run(inside())] == loops[-1:]


def test_a_synchronous_call_inside_of_a_running_loop_waits_for_an_asynchronous_store():
    async def inside():
        return compress(strategy=[Somebody(keeping), "trim"], store=AwaitedTextStore())

    assert asyncio.run(inside()).steps[0].detail == "one True"


def test_a_store_that_blocks_gets_a_thread_of_its_own_at_the_asynchronous_door():
    seen = []

    class Blocking(TextStore):
        def set(self, key, value):
            seen.append(threading.current_thread() is threading.main_thread())
            super().set(key, value)

    asyncio.run(
        holdfast.acompress(
            agent_run(6), 300, strategy=[Somebody(keeping), "trim"], store=Blocking()
        )
    )
    assert seen
    assert not any(seen)


class Broken(TextStore):
    def get(self, key):
        raise ConnectionError("the line is dead")

    def set(self, key, value):
        raise ConnectionError("the line is dead")


@pytest.mark.parametrize("door", ["compress", "acompress"])
def test_a_store_that_fails_fails_only_the_step_that_asked(door):
    strategy = [Somebody(lambda t, a: Plan(detail=(yield from ask(Save("text"))))), "trim"]
    settings = {"strategy": strategy, "store": Broken(), "counter": "words"}
    if door == "compress":
        done = holdfast.compress(agent_run(6), 300, **settings)
    else:
        done = asyncio.run(holdfast.acompress(agent_run(6), 300, **settings))
    assert done.steps[0].status == "failed"
    assert "ConnectionError: the line is dead" in done.steps[0].detail
    assert (done.degraded, done.budget_met) == (True, True)
    assert holdfast.restore(done) == agent_run(6)
