"""A history that is summarized down to a boundary, once it has grown past a threshold
(tunacode).
"""

import pytest

import holdfast
from holdfast.compressors.summarize import Summarize
from holdfast.designs import tunacode_history
from holdfast.kernel.errors import ModelError
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore
from tests.compressors.summarize.threads import sent, thread, writer
from tests.formats.rules.messages import assistant, user
from tests.talks import exchange, words

OPENING = "[Compaction summary]\n\n"
WINDOW = holdfast.Budget(window=3_000, reserve=1_000)


def compacted(messages, model, budget=WINDOW, strategy=None, **options):
    strategy = strategy or tunacode_history(keep_at_least=500)
    return holdfast.compress(
        messages, budget, strategy=strategy, llm=model, counter="chars4_plus1", **options
    )


def tokens(messages):
    return (
        holdfast.count(messages, counter="chars4_plus1").total
        - holdfast.count([], counter="chars4_plus1").total
    )


def test_up_to_the_threshold_nothing_is_done_and_the_record_says_so():
    model = writer()
    result = compacted(thread(30), model)
    assert result.metrics.tokens_before <= 2_000
    assert (result.status, result.reason, result.steps[0].reason) == (
        "skipped",
        "within_budget",
        "within_budget",
    )
    assert result.messages == thread(30)
    assert not model.calls


def test_beyond_it_one_message_stands_for_all_but_the_newest():
    messages = thread(50)
    result = compacted(messages, writer())
    summary, *recent = result.messages[1:]
    assert summary["role"] == "user"
    assert summary["content"].startswith(f"{OPENING}## Goal")
    assert recent == messages[-len(recent) :]
    assert tokens(recent) >= 500 > tokens(recent[1:])
    assert (result.status, result.steps[0].reason) == ("compacted", "summarized")
    assert result.steps[0].detail.startswith(
        f"{len(messages) - 1 - len(recent)} messages, up to message "
    )
    assert holdfast.restore(result) == messages


def test_the_cut_parts_no_call_from_its_result():
    run = [
        user("Go."),
        *[m for n in range(20) for m in exchange(n, 40)],
        assistant("Done."),
        user(words(300)),
    ]
    result = compacted(run, Scripted("## Goal\nGo."), 700, tunacode_history(keep_at_least=310))
    assert result.steps[0].reason == "summarized"
    assert result.messages[1:] == run[-1:], "after a finished message"
    assert holdfast.validate(result.messages, provider="openai") == []


def test_a_run_in_which_nothing_is_finished_has_no_boundary():
    run = [user(words(400)), *[m for n in range(20) for m in exchange(n, 40)]]
    result = compacted(run, Scripted("never"), 700, tunacode_history(keep_at_least=10_000))
    assert (result.steps[0].status, result.steps[0].reason) == ("skipped", "no_boundary")
    assert result.messages == run


def test_the_summary_is_written_anew_with_what_has_come_and_stands_once():
    model = writer()
    first = compacted(thread(50), model).messages
    longer = [*first, *thread(100)[101:]]
    second = compacted(longer, model)
    assert sum(m["content"].startswith(OPENING) for m in second.messages) == 1
    assert len(model.calls) == 2
    assert "[Compaction summary]" in model.calls[1].prompt
    assert max(sent(model).values()) == 1


def test_a_stored_summary_is_written_anew_and_not_lengthened():
    store, model = InProcessStore(), Scripted(["Notes of the first time.", "Notes of the second."])
    compacted(thread(50), model, store=store)
    second = compacted(thread(100), model, store=store).messages[1]["content"]
    assert second == f"{OPENING}Notes of the second."
    assert "Notes of the first time." in model.calls[1].prompt


def test_a_summary_alone_is_not_summarized_again():
    strategy, model = tunacode_history(keep_at_least=1_500), writer()
    once = compacted(thread(50), model, 1_000, strategy)
    assert not once.budget_met, "what is asked for stays"
    assert compacted(once.messages, model, 1_000, strategy).messages == once.messages
    assert len(model.calls) == 1


def test_a_failing_model_leaves_the_whole_history_and_its_reason():
    result = compacted(thread(50), Scripted([ModelError("down")]))
    assert result.messages == thread(50)
    assert (result.status, result.reason, result.degraded) == (
        "failed",
        "summarization_failed",
        True,
    )


def test_without_a_model_it_is_skipped_and_says_so():
    result = compacted(thread(50), None)
    assert (result.status, result.steps[0].reason) == ("skipped", "no_model")


def test_the_profile_starts_at_the_threshold_of_the_design():
    result = holdfast.compress(thread(5), holdfast.Budget(window=200_000), profile="tunacode")
    assert result.limit == 200_000 - 16_384 - 20_000


def test_the_profile_summarizes_with_a_model_and_folds_by_rule_without_one():
    for llm, told in ((writer(), OPENING), (None, "[HISTORY_SUMMARY]\n")):
        result = holdfast.compress(
            thread(50), 2_000, profile="tunacode", llm=llm, counter="chars4_plus1"
        )
        assert result.budget_met
        assert any(m["content"].startswith(told) for m in result.messages)


def test_a_history_is_kept_by_one_measure():
    with pytest.raises(holdfast.ConfigError, match="give one of keep_recent and keep_at_least"):
        Summarize(keep_recent=3, keep_at_least=100)
