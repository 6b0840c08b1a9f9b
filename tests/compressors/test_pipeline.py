import pytest

import holdfast
from holdfast.compressors.pipeline import Pipeline
from holdfast.compressors.prune import Prune
from holdfast.compressors.trim import Trim
from holdfast.compressors.window import SlidingWindow
from holdfast.kernel.compressor import Attempt, Plan, ask
from holdfast.kernel.edits import Drop, Insert, Offload, Replace
from holdfast.kernel.ports import All, Ask, Complete, Load
from tests.talks import Somebody, agent_run, chat, drops, same, words


def compressed(*steps, messages=None, budget=300, **settings):
    messages = agent_run(6) if messages is None else messages
    return holdfast.compress(messages, budget, strategy=list(steps), counter="words", **settings)


def told(result):
    return [(step.name, step.status, step.reason) for step in result.steps]


def test_it_stops_when_the_target_is_met_and_later_steps_are_not_asked():
    late = Somebody(AssertionError("never asked"))
    result = compressed(Trim(), late)
    assert told(result) == [("trim", "compacted", "trimmed"), ("somebody", "skipped", "target_met")]
    assert late.asked == 0
    assert not result.degraded


def test_there_is_one_record_a_step_with_what_it_did_or_why_not():
    result = compressed(
        SlidingWindow(window_size=99), Prune(protect_tokens=200, minimum_tokens=0), Trim()
    )
    assert [(step.name, step.applied) for step in result.steps] == [
        ("sliding_window", False), ("prune", True), ("trim", False)
    ]  # fmt: skip
    assert [step.before for step in result.steps][1:] == [step.after for step in result.steps][:-1]


def test_metrics_are_against_the_original_input():
    result = compressed(Prune(protect_tokens=400, minimum_tokens=0), Trim())
    assert result.metrics.tokens_before == holdfast.count(agent_run(6), counter="words").total
    assert result.metrics.messages_before == 15
    assert (
        result.metrics.tokens_after == holdfast.count(result.messages, counter="words").total <= 300
    )


def test_each_step_holds_the_messages_as_they_stood_after_it():
    result = compressed(Prune(protect_tokens=400, minimum_tokens=0), Trim())
    assert same(list(result.steps[-1].messages), result.messages)
    assert result.steps[0].undone(result.steps[0].messages) == agent_run(6)


def test_a_pipeline_inside_of_another_gives_the_records_of_its_steps():
    inner = Pipeline((Prune(protect_tokens=200, minimum_tokens=0), drops(2, 3)))
    result = compressed(inner, Trim())
    assert [step.name for step in result.steps] == ["prune", "somebody", "trim"]
    assert holdfast.restore(result) == agent_run(6)


def test_when_all_are_exhausted_the_last_state_stands_though_it_is_over():
    result = compressed(SlidingWindow(window_size=5), budget=20)
    assert len(result.messages) == 6
    assert (result.budget_met, result.reason) == (False, "budget_not_met")


@pytest.mark.parametrize("strategy", [[], (), "hybrid", Pipeline()])
def test_without_strategies_the_input_comes_back(strategy):
    messages = agent_run(6)
    result = holdfast.compress(messages, 300, strategy=strategy, counter="words")
    assert same(result.messages, messages)
    assert (result.status, result.budget_met, result.edits) == ("skipped", False, ())
    assert told(result) == [("hybrid", "skipped", "no_strategies")]


def test_what_fits_is_not_handed_to_any_strategy():
    step = Somebody(AssertionError("never asked"))
    messages = agent_run(6)
    result = compressed(step, messages=messages, budget=5_000)
    assert same(result.messages, messages)
    assert (result.status, result.reason, result.edits) == ("skipped", "within_budget", ())
    assert told(result) == [("somebody", "skipped", "within_budget")]


def test_what_would_not_be_smaller_is_not_done():
    result = compressed(Somebody(Plan((Replace(3, 0, words(500)),))), Trim())
    assert told(result)[0] == ("somebody", "skipped", "no_savings")
    assert not result.degraded


def test_another_round_is_made_when_one_step_made_room_for_another():
    picky = Somebody(lambda t, a: Plan((Drop((1, 2)),)) if len(t) < 15 else Plan.skip("too_many"))
    result = compressed(picky, SlidingWindow(window_size=10), budget=380)
    assert told(result) == [
        ("somebody", "skipped", "too_many"),
        ("sliding_window", "compacted", "older_dropped"),
        ("somebody", "compacted", ""),
    ]


FAULTS = {
    "raises": RuntimeError("out of luck"),
    "returns nothing": lambda t, a: None,
    "returns edits alone": lambda t, a: [Drop((2, 3))],
    "drops the system": Plan((Drop((0,)),)),
    "drops everything": lambda t, a: Plan((Drop(tuple(range(len(t)))),)),
    "splits an exchange": Plan((Drop((2,)),)),
    "rewords a user": Plan((Replace(1, 0, "x"),)),
    "edits what is not there": Plan((Drop((99,)),)),
    "drops a word": Plan((Drop(("two",)),)),
    "drops no tuple": Plan((Drop(5),)),
    "edits with a word": Plan(("drop it",)),
    "says nothing that is text": Plan((Replace(3, 0, None),)),
    "offloads what is not text": Plan((Offload(3, 0, 5, "key"),)),
    "inserts no message": Plan((Drop((2, 3)), Insert(2, "user", "x", original=5))),
    "inserts a message without content": Plan(
        (Drop((2, 3)), Insert(2, "user", "x", original={"role": "user"}))
    ),
    "plans steps that are none": Plan(steps=(5,)),
    "asks what nobody knows": lambda t, a: (yield Ask()),
    "asks for a number": lambda t, a: (yield 5),
    "loads without a store": lambda t, a: (yield Load("a1b2")),
    "completes without a model": lambda t, a: (yield Complete("summarise")),
    "attempts no strategy": lambda t, a: Plan((yield from ask(Attempt(5, t, a))).edits, "failed"),
}


@pytest.mark.parametrize("step", [0.0, 0.1], ids=["plain", "stepwise"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_strategy_with_a_fault_changes_nothing_and_the_next_takes_over(fault, step):
    messages = agent_run(6)
    result = compressed(Somebody(fault), Trim(), messages=messages, step=step)
    assert (result.steps[0].name, result.steps[0].status) == ("somebody", "failed")
    assert result.steps[0].edits == ()
    assert (result.status, result.degraded, result.budget_met) == ("compacted", True, True)
    assert "somebody failed" in result.detail or fault is FAULTS["attempts no strategy"]
    assert holdfast.restore(result) == messages == agent_run(6)


def test_a_fault_alone_leaves_the_history_and_says_failed():
    messages = agent_run(6)
    result = compressed(Somebody(RuntimeError("out of luck")), messages=messages)
    assert same(result.messages, messages)
    assert (result.status, result.reason, result.degraded) == ("failed", "strategy_failed", True)
    assert result.detail == "somebody failed: RuntimeError: out of luck; 619 tokens remain"
    assert not result.budget_met


def test_a_fault_after_something_was_done_keeps_what_was_done():
    result = compressed(SlidingWindow(window_size=9), Somebody(RuntimeError("out of luck")))
    assert (result.status, result.degraded, len(result.messages)) == ("compacted", True, 10)


def test_several_asks_without_a_store_are_each_answered_with_the_reason():
    def flow(transcript, allowance):
        answers = yield from ask(All((Load("a"), Complete("b"))))
        return Plan.skip("told", "; ".join(str(answer) for answer in answers))

    result = compressed(Somebody(flow), Trim())
    assert (
        result.steps[0].detail == "no store was given; pass store=; no model was given; pass llm="
    )


def test_a_flow_that_catches_its_failed_ask_is_not_degraded():
    def flow(transcript, allowance):
        try:
            yield from ask(Load("a"))
        except holdfast.StoreError as fault:
            return Plan.skip("no_store", str(fault))

    result = compressed(Somebody(flow), Trim())
    assert told(result)[0] == ("somebody", "skipped", "no_store")
    assert not result.degraded


def test_a_thousand_steps_are_a_loop():
    steps = [Somebody(Plan.skip("nothing"))] * 1_000
    result = compressed(*steps, Trim())
    assert len(result.steps) == 1_001
    assert result.budget_met


def test_the_same_input_gives_the_same_output_and_its_output_stays():
    for messages in (agent_run(9, 60), chat(12), agent_run(3, 400)):
        first, second = (
            compressed(Prune(), Trim(), messages=messages),
            compressed(Prune(), Trim(), messages=messages),
        )
        assert first == second
        again = compressed(Prune(), Trim(), messages=first.messages)
        assert same(again.messages, first.messages)
