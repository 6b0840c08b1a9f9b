"""Each message goes to the model once, and a call is made for a good stretch of new history
only.
"""

import re

import pytest

import holdfast
from holdfast.compressors.summarize import Summarize
from holdfast.stores.in_process import InProcessStore
from tests.compressors.summarize.threads import (
    BUDGET,
    fitted,
    grown,
    sent,
    summaries,
    thread,
    writer,
)

TURNS = 500
HISTORY = sum(len(message["content"]) // 4 + 1 for message in thread(TURNS))


@pytest.mark.parametrize("feeds_back", [False, True], ids=["handed over whole", "fed back"])
@pytest.mark.parametrize("name", ["thread-1", None], ids=["a thread", "no thread"])
def test_a_long_thread_costs_at_most_one_call_for_each_target_of_new_history(name, feeds_back):
    model = writer()
    results = grown(model, TURNS, feeds_back=feeds_back, thread=name, store=InProcessStore())
    assert 0 < len(model.calls) <= HISTORY / BUDGET
    assert set(sent(model).values()) == {1}
    assert all(result.budget_met and not result.degraded for result in results)
    assert all(len(summaries(result.messages)) <= 1 for result in results)
    assert not any(
        step.applied for result in results for step in result.steps if step.name == "trim"
    )


@pytest.mark.parametrize("feeds_back", [False, True], ids=["handed over whole", "fed back"])
def test_a_repeat_of_each_call_of_a_thread_makes_none(feeds_back):
    first, again, store, whole = writer(), writer(), InProcessStore(), thread(80)
    messages = whole[:1]
    for n in range(1, 81):
        given = [*messages, *whole[2 * n - 1 : 2 * n + 1]]
        result = fitted(given, first, thread="t", store=store)
        assert fitted(given, again, thread="t", store=store).messages == result.messages
        messages = result.messages if feeds_back else given
    assert first.calls
    assert not again.calls


@pytest.mark.parametrize("feeds_back", [False, True], ids=["handed over whole", "fed back"])
@pytest.mark.parametrize("name", ["thread-1", None], ids=["a thread", "no thread"])
def test_after_a_restart_what_was_summarized_is_found_in_the_file(tmp_path, name, feeds_back):
    store = f"sqlite:///{tmp_path}/summaries.db"
    before = grown(writer(), 60, feeds_back=feeds_back, thread=name, store=store)[-1]
    after = grown(model := writer(), 60, feeds_back=feeds_back, thread=name, store=store)[-1]
    assert not model.calls
    assert after.messages == before.messages


def test_a_result_that_is_compressed_again_stays_as_it_is():
    store, model = InProcessStore(), writer()
    for result in grown(model, 60, feeds_back=True, store=store):
        calls = len(model.calls)
        assert fitted(result.messages, model, store=store).messages == result.messages
        assert len(model.calls) == calls


def test_what_waits_for_the_model_stands_in_the_summary_by_its_exact_details():
    model = writer()
    results = grown(model, 50, feeds_back=False, thread="t", store=InProcessStore())
    waiting = next(
        result for result in results if any(step.reason == "told_by_rule" for step in result.steps)
    )
    assert len(model.calls) == 1
    details = summaries(waiting.messages)[0].partition("## Also mentioned")[2]
    named = {int(n) - 10_000 for n in re.findall(r"ORD-(\d+)", details)}
    assert named
    assert named.isdisjoint(sent(model))


def test_what_waits_in_a_fed_back_thread_reaches_the_model_in_the_end():
    model = writer()
    results = grown(model, 120, feeds_back=True, store=InProcessStore())
    assert any(step.reason == "told_by_rule" for result in results for step in result.steps)
    reached = sorted(sent(model))
    assert reached == list(range(reached[-1] + 1))


def test_without_a_store_a_fed_back_summary_is_extended_and_its_messages_are_sent_once():
    model = writer()
    results = grown(model, 120, feeds_back=True)
    assert len(model.calls) > 1
    assert set(sent(model).values()) == {1}
    assert len(summaries(results[-1].messages)) == 1


def test_two_threads_in_one_store_share_nothing():
    store, model = InProcessStore(), writer()
    for name in ("a", "b"):
        fitted(thread(40), model, thread=name, store=store)
    assert len(model.calls) == 2


def test_conversations_without_a_thread_share_what_they_have_in_common():
    store, model = InProcessStore(), writer()
    fitted(thread(40), model, store=store)
    other = [*thread(40), {"role": "user", "content": "And now something else."}]
    fitted(other, model, store=store)
    assert len(model.calls) == 1


@pytest.mark.parametrize("combine", ["concat", "model", "hybrid"])
def test_a_summary_stays_under_its_cap_however_often_it_is_extended(combine):
    strategy = Summarize(combine=combine, min_new=0, summary_max_tokens=200)
    results = grown(
        writer(), 150, feeds_back=False, thread="t", store=InProcessStore(), strategy=strategy
    )
    texts = [text for result in results for text in summaries(result.messages)]
    assert texts
    assert max(len(text) // 4 for text in texts) <= 200


def test_the_model_gets_its_earlier_notes_only_where_it_is_to_write_them_anew():
    for combine, given in (("concat", False), ("model", True)):
        model = writer()
        strategy = Summarize(combine=combine, min_new=0)
        grown(model, 60, feeds_back=False, thread="t", store=InProcessStore(), strategy=strategy)
        assert ("| Ship orders." in model.calls[1].prompt) is given


def test_hybrid_sets_texts_behind_each_other_until_the_cap_and_has_them_written_anew_then():
    model = writer()
    strategy = Summarize(combine="hybrid", min_new=0, summary_max_tokens=160)
    grown(model, 120, feeds_back=False, thread="t", store=InProcessStore(), strategy=strategy)
    anew = ["| Ship orders." in call.prompt for call in model.calls]
    assert anew[:2] == [False, False]
    assert any(anew)


def test_keys_of_a_fed_back_thread_name_positions_of_the_original_conversation():
    store = InProcessStore()
    grown(writer(), 120, feeds_back=True, thread="t", store=store)
    kept = [key.rpartition(":")[2] for key in store.keys("thread_t:summary:") if key[-1].isdigit()]
    assert {each.split("-")[0] for each in kept} == {"1"}
    assert max(int(each.split("-")[1]) for each in kept) > 180


def test_an_edit_inside_a_range_is_a_miss():
    store, model = InProcessStore(), writer()
    fitted(thread(40), model, thread="t", store=store)
    changed = thread(40)
    changed[3]["content"] = "Turn 1: never mind."
    result = fitted(changed, model, thread="t", store=store)
    assert len(model.calls) == 2
    assert not result.degraded


@pytest.mark.parametrize("other", [{"instructions": "Write it in French."}, {"keep_seconds": 0.0}])
def test_another_wish_or_an_expired_summary_is_a_miss(other):
    store, model = InProcessStore(), writer()
    fitted(thread(40), model, thread="t", store=store)
    fitted(thread(40), model, thread="t", store=store, strategy=Summarize(**other))
    assert len(model.calls) == 2


def test_another_model_does_not_get_the_words_of_the_first():
    store, one, other = InProcessStore(), writer(), writer()
    other.name = "another"
    fitted(thread(40), one, thread="t", store=store)
    fitted(thread(40), other, thread="t", store=store)
    assert (len(one.calls), len(other.calls)) == (1, 1)


def test_a_smaller_budget_makes_the_kept_summary_shorter_without_a_call():
    store, model = InProcessStore(), writer()
    strategy = Summarize(keep_recent=2)
    long = fitted(thread(40), model, 1_000, thread="t", store=store, strategy=strategy)
    short = fitted(thread(40), model, 130, thread="t", store=store, strategy=strategy)
    assert len(model.calls) == 1
    assert short.budget_met
    assert len(summaries(short.messages)[0]) < len(summaries(long.messages)[0])


def test_what_a_store_returns_is_used_only_if_it_is_whole():
    class Garbled(InProcessStore):
        def get(self, key):
            value = super().get(key)
            return value and value[: len(value) // 2]

    model = writer()
    for _ in range(2):
        result = fitted(thread(40), model, thread="t", store=Garbled())
        assert result.budget_met
        assert len(summaries(result.messages)) == 1


@pytest.mark.parametrize(
    "value",
    [
        "[]",
        "{}",
        "null",
        "[[1, 2]]",
        '[{"start": [1]}]',
        "[" * 50_000,
        '{"start": 1, "end": "x"}',
        "\udcff",
    ],
)
def test_what_somebody_else_wrote_under_a_key_is_no_summary(value):
    store = InProcessStore()
    fitted(thread(40), writer(), thread="t", store=store)
    for key in store.keys(""):
        store.set(key, value)
        result = fitted(thread(40), writer(), thread="t", store=store)
        assert len(summaries(result.messages)) == 1
        assert not result.degraded


def test_a_store_that_fails_costs_calls_and_nothing_else():
    class Broken:
        def get(self, key):
            raise OSError("the disk is gone")

        set = delete = get

    result = fitted(thread(40), writer(), thread="t", store=Broken())
    assert result.budget_met
    assert len(summaries(result.messages)) == 1
    assert "the disk is gone" in result.steps[0].detail
    assert holdfast.restore(result) == thread(40)
