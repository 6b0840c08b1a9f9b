"""What models and embedders are asked: shared where it is equal, remembered, checked, and put
on record.
"""

import asyncio
from math import inf, nan

import pytest

from holdfast.calls.cache import CompressionCache
from holdfast.calls.caller import Caller
from holdfast.calls.lineup import CallLimits, Lineup
from holdfast.kernel.errors import ContextOverflowError, ModelError
from holdfast.kernel.ports import Complete, Embed, Reply
from holdfast.model_usage import CallRecords, ModelUsage
from holdfast.providers import open_embedder
from holdfast.providers.prices import Price
from holdfast.providers.scripted import Scripted
from holdfast.providers.vendor import TransientError
from tests.embedders import ScriptedEmbedder


def words(text):
    return len(text.split())


def asked(*requests, ledgers=None, **given):
    """The answers to requests that are made together, and the ledgers of their calls."""
    limits = given.pop("limits", CallLimits(retries=0))
    embedder = open_embedder(given["embedder"]) if "embedder" in given else None
    ledgers = ledgers or [CallRecords()] * len(requests)
    caller = Caller(Lineup(words, given.get("model"), embedder, given.get("cache"), limits))
    return asyncio.run(caller.together(list(zip(requests, ledgers, strict=True)))), ledgers


def by_length(**given):
    return ScriptedEmbedder(lambda text: [float(len(text)), 1.0], **given)


def test_answers_come_in_the_order_of_the_requests():
    model = Scripted(lambda prompt: prompt.upper())
    answers, _ = asked(
        Complete("a"), Embed(("xx",)), Complete("b"), Embed(()), model=model, embedder=by_length()
    )
    assert answers == ["A", [[2.0, 1.0]], "B", []]


def test_usage_is_the_vendors_where_it_tells_and_counted_where_not():
    model = Scripted([Reply("one two", 100, 20), "one two three"], name="gpt-4o-mini")
    _, (ledger, _) = asked(
        Complete("a b", "c"), Complete("d"), model=model, limits=CallLimits(concurrency=1)
    )
    told, counted = ledger.calls
    assert (told.input_tokens, told.output_tokens, told.counted) == (100, 20, False)
    assert (counted.input_tokens, counted.output_tokens, counted.counted) == (1, 3, True)
    assert told.cost == pytest.approx((100 * 0.15 + 20 * 0.60) / 1e6)
    usage = ModelUsage(tuple(ledger.calls))
    assert (usage.requests, usage.input_tokens, usage.output_tokens, usage.failures) == (
        2,
        101,
        23,
        0,
    )
    assert usage.cost == pytest.approx(told.cost + counted.cost)


def test_the_cost_of_an_unknown_model_is_unknown_unless_it_brings_its_price():
    model = Scripted("fine", name="somebodys-own")
    _, (ledger,) = asked(Complete("a"), model=model)
    assert ModelUsage(tuple(ledger.calls)).cost is None
    model.price = Price(1_000_000.0, 0.0)
    _, (ledger,) = asked(Complete("a"), model=model)
    assert ModelUsage(tuple(ledger.calls)).cost == 1.0


def test_equal_requests_are_one_call():
    model = Scripted(["first", "second"])
    answers, (ledger, *_) = asked(
        Complete("a"), Complete("a"), Complete("a", max_tokens=9), model=model
    )
    assert sorted(answers) == ["first", "first", "second"]
    assert sorted(call.cached for call in ledger.calls) == [0, 0, 1]


def test_what_the_cache_knows_is_not_asked():
    cache = CompressionCache()
    for _ in range(2):
        model, embedder = Scripted("fine"), by_length()
        requests = (Complete("a", "s"), Embed(("x", "yy", "x")))
        answers, ledgers = asked(*requests, model=model, embedder=embedder, cache=cache)
        assert answers == ["fine", [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]]
    assert (model.calls, embedder.calls) == ([], [])
    assert sorted(call.cached for call in ledgers[0].calls) == [1, 3]
    assert cache.statistics().embeddings.hits == 2


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"system": "other"}, {"max_tokens": 9}, {"prompt": "b"}]
)
def test_another_model_or_another_question_is_another_entry(change):
    cache = CompressionCache()
    asked(Complete("a", "s"), model=Scripted("old"), cache=cache)
    name = change.pop("name", "scripted")
    answers, _ = asked(
        Complete(**{"prompt": "a", "system": "s", **change}),
        model=Scripted("new", name=name),
        cache=cache,
    )
    assert answers == ["new"]


@pytest.mark.parametrize("reply", ["", "  \n", ValueError("no")])
def test_what_is_no_reply_is_not_remembered(reply):
    cache = CompressionCache()
    asked(Complete("a"), model=Scripted([reply]), cache=cache)
    assert asked(Complete("a"), model=Scripted("better"), cache=cache)[0] == ["better"]


def test_texts_go_out_once_and_in_batches():
    embedder = by_length()
    texts = tuple(str(number) for number in range(250))
    answers, _ = asked(Embed(texts), Embed(texts[:9]), embedder=embedder)
    assert sorted(len(call) for call in embedder.calls) == [50, 100, 100]
    assert answers[1] == answers[0][:9]


def test_conversations_share_a_batch_and_each_has_its_own_tokens_on_record():
    embedder, ledgers = by_length(), [CallRecords(), CallRecords()]
    asked(Embed(("a b c", "d")), Embed(("d", "e f")), embedder=embedder, ledgers=ledgers)
    assert len(embedder.calls) == 1
    (first,), (second,) = (ledger.calls for ledger in ledgers)
    assert (first.input_tokens, first.items, first.cached) == (4, 2, 0)
    assert (second.input_tokens, second.items, second.cached) == (2, 2, 1)
    assert (first.attempts, second.attempts) == (1, 0)


def test_batches_that_were_answered_are_paid_although_another_one_fails():
    def embed(texts):
        if len(texts) < 100:
            raise ValueError("no")
        return [[1.0]] * len(texts)

    embed.price = Price(1_000_000.0)
    embedder = open_embedder(embed)
    embedder.price = embed.price
    texts = tuple(str(number) for number in range(250))
    (answer,), (ledger,) = asked(Embed(texts), embedder=embedder)
    assert isinstance(answer, ModelError)
    assert (ledger.calls[0].input_tokens, ledger.spent) == (200, 200.0)


class Picky:
    """Refuses every batch with a text that it does not like."""

    name = "picky"

    def __init__(self, fault):
        self.fault, self.calls = fault, 0

    def embed(self, texts):
        self.calls += 1
        if "bad" in texts:
            raise self.fault
        return [[1.0]] * len(texts)


def test_a_text_that_is_refused_fails_only_the_conversation_that_it_is_of():
    fault = ContextOverflowError("too long")
    answers, _ = asked(Embed(("a", "bad")), Embed(("b",)), embedder=Picky(fault))
    assert answers == [fault, [[1.0]]]


def test_a_vendor_that_is_down_is_not_asked_again_for_each_conversation():
    picky = Picky(TransientError("down"))
    answers, _ = asked(Embed(("bad",)), Embed(("b",)), embedder=picky)
    assert all(isinstance(answer, TransientError) for answer in answers)
    assert picky.calls == 1


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[nan], [1.0]],
        [[inf], [1.0]],
        [["x"], [1.0]],
        None,
        7,
        [1.0, 2.0],
        "ab",
        [[1], None],
    ],
    ids=str,
)
def test_vectors_that_are_none_are_one_clear_error(vectors):
    ((answer,), (ledger,)) = asked(Embed(("a", "b")), embedder=lambda texts: vectors)
    assert isinstance(answer, ModelError)
    assert "\n" not in str(answer)
    assert ledger.calls[0].fault == str(answer)


def test_vectors_of_nothing_but_zeros_are_vectors():
    assert asked(Embed(("a",)), embedder=lambda texts: [(0, 0)])[0] == [[[0.0, 0.0]]]


def test_vectors_of_another_length_than_those_remembered_are_told():
    cache = CompressionCache()
    asked(Embed(("a",)), embedder=ScriptedEmbedder(lambda text: [1.0]), cache=cache)
    answers, _ = asked(
        Embed(("a", "b")), embedder=ScriptedEmbedder(lambda text: [1.0, 2.0]), cache=cache
    )
    assert "different lengths (1 and 2)" in str(answers[0])


def test_lone_surrogates_neither_leave_nor_come_in():
    model = Scripted("a\ud800b")
    answers, _ = asked(Complete("p\udfffq", "\ud800"), model=model)
    assert answers == ["a\ufffdb"]
    assert model.calls == [Complete("p\ufffdq", "\ufffd")]


def test_without_a_model_that_is_told():
    answers, _ = asked(Complete("a"))
    assert "pass llm=" in str(answers[0])


@pytest.mark.parametrize("reply", [7, None, b"bytes", Reply(None)])
def test_a_reply_that_is_no_text_is_an_error(reply):
    answers, _ = asked(Complete("a"), model=Scripted(lambda prompt: reply or object()))
    assert isinstance(answers[0], ModelError)
