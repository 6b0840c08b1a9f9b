"""Two caches in one object: what leaves first, what outlives the process, and what the figures
say.
"""

import asyncio
import threading
from hashlib import sha256

import pytest

import holdfast
from holdfast.calls.cache import CompressionCache, key_of
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.errors import ConfigError, StoreError
from holdfast.providers.scripted import Scripted
from holdfast.stores import open_store
from tests.stores.doubles import AwaitedTextStore, TextStore
from tests.talks import chat

STORES = [lambda: None, TextStore, AwaitedTextStore, lambda: "memory://cache-test"]


@pytest.fixture(params=STORES, ids=["memory alone", "at once", "awaited", "url"])
def place(request):
    store = request.param()
    yield store
    if isinstance(store, str):
        kept = open_store(store)
        for key in kept.keys("holdfast:cache:"):
            kept.delete(key)


def test_what_was_stored_is_found_under_its_content_and_model(place):
    cache = CompressionCache(store=place)
    cache.store_embedding("text", "model", [1.0, 0.25, -3e-9])
    cache.store_summary("text", "model", "short ✓")
    assert cache.get_embedding("text", "model") == [1.0, 0.25, -3e-9]
    assert cache.get_summary("text", "model") == "short ✓"
    assert cache.get_embedding("text", "another") is None
    assert cache.get_summary("texts", "model") is None


def test_the_one_that_was_used_longest_ago_leaves_first(place):
    cache = CompressionCache(summaries=2, store=place)
    for content in "ab":
        cache.store_summary(content, "m", content.upper())
    assert cache.get_summary("a", "m") == "A"
    cache.store_summary("c", "m", "C")
    assert [cache.get_summary(content, "m") for content in "abc"] == ["A", None, "C"]


def test_storing_again_makes_young_and_evicts_nothing(place):
    cache = CompressionCache(summaries=2, store=place)
    for content in "aba":
        cache.store_summary(content, "m", content.upper())
    cache.store_summary("c", "m", "C")
    assert [cache.get_summary(content, "m") for content in "abc"] == ["A", None, "C"]


def test_the_two_caches_are_independent(place):
    cache = CompressionCache(embeddings=1, summaries=1, store=place)
    cache.store_summary("x", "m", "X")
    for text in "ab":
        cache.store_embedding(text, "m", [1.0])
    assert cache.get_summary("x", "m") == "X"
    assert cache.get_embedding("a", "m") is None
    if place is not None:
        again = CompressionCache(embeddings=1, summaries=1, store=place)
        assert again.get_summary("x", "m") == "X"
        assert again.get_embedding("b", "m") == [1.0]


def test_a_capacity_of_nothing_keeps_nothing(place):
    cache = CompressionCache(0, 0, place)
    cache.store_summary("a", "m", "A")
    cache.store_embedding("a", "m", [1.0])
    assert (cache.get_summary("a", "m"), cache.get_embedding("a", "m")) == (None, None)
    assert cache.statistics().summaries.size == 0


def test_the_figures_tell_size_capacity_hits_and_misses(place):
    cache = CompressionCache(3, 7, place)
    cache.store_summary("a", "m", "A")
    for content in "aab":
        cache.get_summary(content, "m")
    figures = cache.statistics()
    assert (figures.summaries.size, figures.summaries.capacity) == (1, 7)
    assert (figures.summaries.hits, figures.summaries.misses) == (2, 1)
    assert (figures.embeddings.size, figures.embeddings.capacity, figures.embeddings.hits) == (
        0,
        3,
        0,
    )


def test_clearing_forgets_everything_in_the_store_too():
    store = TextStore()
    cache = CompressionCache(store=store)
    cache.store_summary("a", "m", "A")
    cache.store_embedding("a", "m", [1.0])
    cache.clear()
    assert store.entries == {}
    assert cache.get_summary("a", "m") is None
    assert cache.statistics().summaries.hits == 0


@pytest.mark.parametrize("kind", [TextStore, AwaitedTextStore])
def test_over_a_store_it_outlives_the_process_and_remembers_what_is_old(kind):
    store = kind()
    before = CompressionCache(summaries=2, store=store)
    for content in "ab":
        before.store_summary(content, "m", content.upper())
    after = CompressionCache(summaries=2, store=store)
    assert after.statistics().summaries.size == 2
    after.store_summary("c", "m", "C")
    assert [after.get_summary(content, "m") for content in "abc"] == [None, "B", "C"]
    assert len(store.entries) == 3


@pytest.mark.parametrize("spoiled", ["nothing", "{}", "[1, 2]", '"text"'])
def test_what_cannot_be_read_is_a_miss(spoiled):
    store = TextStore()
    CompressionCache(store=store).store_embedding("a", "m", [1.0])
    store.entries[f"holdfast:cache:embeddings:{key_of('m', 'a')}"] = "spoiled"
    assert CompressionCache(store=store).get_embedding("a", "m") is None
    store.entries["holdfast:cache:embeddings"] = spoiled
    assert CompressionCache(store=store).get_embedding("a", "m") is None


class Broken(TextStore):
    def get(self, key):
        raise StoreError("the line is dead")

    def set(self, key, value):
        raise RuntimeError("the line is dead")


def test_a_store_that_fails_makes_a_miss_and_no_fault():
    cache = CompressionCache(store=Broken())
    cache.store_summary("a", "m", "A")
    assert cache.get_summary("a", "m") is None
    assert cache.statistics().summaries.misses == 1


def test_many_threads_use_one_cache():
    cache = CompressionCache(summaries=50)

    def work(number):
        for i in range(200):
            content = str((number * 7 + i) % 80)
            cache.store_summary(content, "m", content)
            found = cache.get_summary(content, "m")
            assert found in (None, content)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = cache.statistics().summaries
    assert figures.size == 50
    assert figures.hits + figures.misses == 1600


def test_equal_requests_at_the_same_time_are_one():
    flights, made, gate = CompressionCache().flights, [], threading.Event()

    async def make():
        made.append(1)
        await asyncio.to_thread(gate.wait)
        return "answer"

    async def ask():
        return await flights.once("key", make)

    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(asyncio.run(ask()))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    while not made:
        gate.wait(0.001)
    gate.set()
    for thread in threads:
        thread.join()
    assert {answer for answer, _ in answers} == {"answer"}
    assert sum(own for _, own in answers) == len(made)


def test_threads_that_compress_the_same_conversation_at_the_same_time_pay_for_it_once():
    cache, gate = CompressionCache(), threading.Event()
    model = Scripted("They compared two plans for the move and chose the second one.", gate=gate)
    options = {
        "strategy": [Summarize(verify=False), "trim"],
        "counter": "words",
        "llm": model,
        "cache": cache,
    }
    results = []

    def work():
        results.append(holdfast.compress(chat(10, 30), 200, **options))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while not model.calls:
        gate.wait(0.001)
    gate.set()
    for thread in threads:
        thread.join()
    assert len(model.calls) == 1
    assert results == [results[0]] * 4
    assert sum(result.model_usage.requests for result in results) == 1


def test_whoever_is_cancelled_leaves_the_call_to_the_next():
    flights, started = CompressionCache().flights, []

    async def make():
        started.append(1)
        if len(started) == 1:
            await asyncio.Event().wait()
        return "answer"

    async def two():
        first = asyncio.ensure_future(flights.once("key", make))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(flights.once("key", make))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(two()) == ("answer", True)
    assert len(started) == 2


def test_keys_are_hashes_of_model_and_content_that_do_not_run_together():
    assert key_of("m", "text").endswith(sha256(b"text").hexdigest())
    assert key_of("m", "a", "b") != key_of("m", "ab") != key_of("ma", "b")
    assert key_of("m", "\ud800") != key_of("m", "?")


def test_a_capacity_that_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="CompressionCache.summaries"):
        CompressionCache(summaries=-1)
