"""Many conversations in lockstep: the results of each alone, in fewer and fuller rounds."""

import asyncio
import threading

import pytest

import holdfast
from holdfast.api import acompress_many, compress_many
from holdfast.calls.lineup import CallLimits
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.compressor import Plan, ask
from holdfast.kernel.errors import ConfigError, InputError
from holdfast.kernel.ports import All, Complete, Embed, Read, Save, Write
from holdfast.providers.scripted import Scripted
from holdfast.result import CompressionResult, Conversation
from tests.embedders import ScriptedEmbedder
from tests.talks import Somebody, chat, system, words

SUMMARY = "They compared two plans for the move and chose the second one."


def many_awaited(conversations, budget, **options):
    return asyncio.run(acompress_many(conversations, budget, **options))


both_doors = pytest.mark.parametrize(
    "door", [compress_many, many_awaited], ids=["compress_many", "acompress_many"]
)


def talks(count=4):
    return [[system(f"Be careful {i}."), *chat(8 + i, 30)] for i in range(count)]


@both_doors
def test_results_are_those_of_each_alone_in_order(door):
    options = {
        "strategy": [Summarize(verify=False), "trim"],
        "counter": "words",
        "llm": Scripted(SUMMARY),
    }
    results = door(talks(), 200, **options)
    assert results == [holdfast.compress(talk, 200, **options) for talk in talks()]
    assert [len(result.model_usage.calls) for result in results] == [1, 1, 1, 1]
    assert all(result.budget_met for result in results)


@both_doors
def test_a_round_embeds_for_all_conversations_at_once(door):
    embedder = ScriptedEmbedder(lambda text: [float(len(text))])

    def embedding(transcript, allowance):
        vectors = yield from ask(Embed(tuple(message.plain for message in transcript.messages)))
        nested = yield from ask(
            All((Embed(("more",)), Save("kept"), Embed((transcript.messages[0].plain,))))
        )
        return Plan.skip("embedded", f"{len(vectors)} {len(nested)} {nested[2]}")

    options = {
        "strategy": [Somebody(embedding), "trim"],
        "counter": "words",
        "store": "memory://batch",
    }
    results = door(talks(3), 200, embedder=embedder, **options)
    assert len(embedder.calls) == 2
    assert [result.steps[0].detail for result in results] == [
        "17 3 [[13.0]]",
        "19 3 [[13.0]]",
        "21 3 [[13.0]]",
    ]


@both_doors
def test_one_that_cannot_be_read_fails_only_itself(door):
    good = talks(2)
    results = door([good[0], "no conversation", good[1]], 200, strategy="trim", counter="words")
    assert [result.status for result in results] == ["compacted", "failed", "compacted"]
    assert (results[1].reason, results[1].budget_met) == ("invalid_input", False)
    assert results[1].messages == "no conversation"
    assert results[1].detail


@both_doors
@pytest.mark.parametrize("wrong", [None, 5, "no conversation", {"a": 1}, [7]])
def test_what_could_not_be_read_is_given_back_as_it_was_and_nothing_reported(door, wrong):
    (result,) = door([wrong], 200)
    assert result.restore() is result.messages is wrong
    assert CompressionResult.from_json(result.to_json()).restore() == wrong
    assert result._repr_html_() is None
    with pytest.raises(InputError, match="^there is nothing to report on: .*; give"):
        result.report()


@both_doors
def test_one_that_cannot_be_made_to_fit_says_so_and_raises_nothing(door):
    budget = holdfast.Budget(limit=50, hard=True)
    large = [{"role": "user", "content": words(500)}]
    results = door(
        [large, chat(4, 20)], budget, strategy="trim", counter="words", on_failure="raise"
    )
    assert [result.budget_met for result in results] == [False, True]


@both_doors
def test_one_whose_model_fails_is_degraded_alone(door):
    model = Scripted(lambda prompt: ValueError("no") if "w17" in prompt else SUMMARY)
    results = door(
        talks(), 200, strategy=[Summarize(verify=False), "trim"], counter="words", llm=model
    )
    assert [result.degraded for result in results] == [False, False, True, True]
    assert all(result.budget_met for result in results)


@both_doors
@pytest.mark.parametrize("wrong", [{"store": "nope://x"}, {"counter": 5}, {"embedder": "nobody"}])
def test_options_that_are_wrong_for_every_conversation_are_raised(door, wrong):
    with pytest.raises(holdfast.ConfigError):
        door(talks(2), 200, **wrong)


@both_doors
def test_a_pin_that_one_conversation_does_not_have_fails_only_that_one(door):
    short = [{"role": "user", "content": "hello"}]
    results = door([short, chat(4, 20)], 500, pin=[3], counter="words")
    assert [result.reason for result in results] == ["invalid_input", "within_budget"]


@both_doors
@pytest.mark.parametrize("one", ["text", {"messages": chat(2, 5)}, 5])
def test_one_conversation_in_the_place_of_several_is_told(door, one):
    with pytest.raises(holdfast.ConfigError, match="is not a list of conversations; give a list"):
        door(one, 200)


@both_doors
def test_wrong_options_are_told_at_once(door):
    with pytest.raises(holdfast.ConfigError):
        door([], 200, strategy="no such strategy")
    with pytest.raises(holdfast.ConfigError):
        door([], 0)
    with pytest.raises(holdfast.ConfigError):
        door([], 200, llm="nobody:x")


@both_doors
def test_progress_counts_up_to_the_end(door):
    seen = []
    door(
        [*talks(), chat(1)],
        200,
        strategy=[Summarize(verify=False), "trim"],
        counter="words",
        llm=Scripted(SUMMARY),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[0] == (1, 5)
    assert seen[-1] == (5, 5)
    assert seen == sorted(seen)


@both_doors
def test_a_progress_that_raises_is_named(door):
    def progress(done, total):
        raise RuntimeError("one\ntwo")

    line = "^progress: the function failed: RuntimeError: one two$"
    with pytest.raises(ConfigError, match=line):
        door(talks(), 200, strategy="trim", progress=progress)


@both_doors
def test_no_conversation_is_no_work(door):
    assert door([], 200) == []


def test_calls_of_all_conversations_together_stay_within_the_concurrency():
    lock, now, most = threading.Lock(), [0], [0]

    def model(prompt):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.005)
        with lock:
            now[0] -= 1
        return SUMMARY

    limits = CallLimits(concurrency=2)
    compress_many(
        talks(6),
        200,
        strategy=[Summarize(verify=False), "trim"],
        counter="words",
        llm=model,
        limits=limits,
    )
    assert most[0] == 2


@both_doors
def test_asks_of_every_kind_are_answered(door):
    def asking(transcript, allowance):
        yield from ask(Write("key", "value"))
        read = yield from ask(Read("key"))
        text = yield from ask(Complete("p"))
        return Plan.skip("asked", f"{read} {text} {allowance.thread}")

    talk = Conversation("t", talks(1)[0])
    options = {"strategy": [Somebody(asking), "trim"], "counter": "words"}
    (result,) = door([talk], 200, llm="scripted:fine", store="memory://batch", **options)
    assert result.steps[0].detail == "value fine t"
    assert result.messages.thread_id == "t"


@both_doors
def test_the_messages_of_one_conversation_are_no_conversations(door):
    with pytest.raises(
        holdfast.ConfigError, match="^conversations: these are the messages of one conversation"
    ):
        door(talks(1)[0], 200)
