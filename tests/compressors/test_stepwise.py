import itertools

import pytest

import holdfast
from holdfast.compressors.pipeline import Stepwise
from holdfast.compressors.trim import Trim
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop
from holdfast.profiles import profile_names
from tests.formats.rules.messages import user
from tests.talks import Somebody, agent_run, chat, exchange, same, system, words


def grown(profile, step, calls=200, budget=None, **settings):
    """The results of a loop in which an agent's conversation grows by one exchange a call."""
    messages = [system("Be careful."), user("Find the bug.")]
    results = []
    for number in range(calls):
        messages = [*messages, *exchange(number, 48)]
        results.append(
            holdfast.compress(
                messages, budget or 1_000, profile=profile, step=step, counter="words", **settings
            ).messages
        )
    return results


def prefix_share(results):
    """In how many of the calls the result before is the beginning of the next."""
    kept = [before == after[: len(before)] for before, after in itertools.pairwise(results)]
    return sum(kept) / len(kept)


def test_with_a_step_the_previous_output_is_a_prefix_of_the_next_in_nine_of_ten_calls():
    """What goes in tenths of a budget of a hundred exchanges, or in halves of one of twenty."""
    assert prefix_share(grown("fast", 0.1, calls=220, budget=5_000)) >= 0.9
    assert prefix_share(grown("fast", 0.5)) >= 0.9
    assert prefix_share(grown("fast", 0.0)) < 0.3


def test_a_larger_step_holds_longer():
    shares = [prefix_share(grown("fast", step, calls=100)) for step in (0.0, 0.1, 0.3, 0.5)]
    assert shares == sorted(set(shares))


@pytest.mark.parametrize("profile", profile_names())
def test_a_stepwise_result_always_fits(profile):
    for messages in grown(profile, 0.1, calls=60):
        assert holdfast.count(messages, counter="words").total <= 1_000
        assert messages[0] == system("Be careful.")


def test_the_step_of_the_call_stands_before_that_of_the_budget():
    messages = chat(30)
    budget = holdfast.Budget(limit=400, step=0.5)
    small = holdfast.compress(messages, budget, strategy="trim", step=0.1, counter="words")
    large = holdfast.compress(messages, budget, strategy="trim", counter="words")
    assert small.strategy["step"] == 0.1
    assert large.strategy["step"] == 0.5
    assert small.tokens > large.tokens


def test_without_a_step_nothing_is_said_of_one():
    assert "step" not in holdfast.compress(chat(30), 400, strategy="trim", step=0.0).strategy


def test_where_no_settled_part_can_be_made_to_fit_the_whole_is_planned():
    messages = [system("s"), user(words(100)), *exchange(1, 2_000)]
    result = holdfast.compress(messages, 300, strategy="trim", step=0.1, counter="words")
    assert result.budget_met


def test_what_it_decides_with_can_be_anything_and_its_name_is_that_one():
    inner = Somebody(lambda t, a: Plan((Drop((2, 3)),)))
    result = holdfast.compress(agent_run(6), 550, strategy=Stepwise(inner, 0.2), counter="words")
    assert [step.name for step in result.steps] == ["somebody"]
    assert len(result.messages) == 13
    assert inner.asked >= 1


def test_a_fault_of_what_decides_fails_the_step_alone():
    result = holdfast.compress(
        agent_run(6),
        300,
        strategy=[Stepwise(Somebody(RuntimeError("no")), 0.2), "trim"],
        counter="words",
    )
    assert [step.status for step in result.steps] == ["failed", "compacted"]
    assert result.budget_met


def test_edits_that_fit_the_settled_part_and_not_the_whole_are_not_used():
    everything = Somebody(lambda t, a: Plan((Drop(tuple(range(2, len(t) - 1))),)))
    result = holdfast.compress(
        agent_run(6), 300, strategy=[Stepwise(everything, 0.2), Trim()], counter="words"
    )
    assert result.budget_met
    assert holdfast.restore(result) == agent_run(6)


def test_a_target_below_the_limit_is_met_by_steps_too():
    budget = holdfast.Budget(limit=1_000, trigger=0.9, target=0.5, step=0.1)
    result = holdfast.compress(agent_run(12), budget, strategy="trim", counter="words")
    assert result.tokens <= 500
    again = holdfast.compress(result.messages, budget, strategy="trim", counter="words")
    assert same(again.messages, result.messages)


def test_what_misses_the_target_is_decided_again_so_that_the_result_stays_as_it_is():
    """A strategy that can do little with the whole, and much with the settled part of what is
    left then.
    """

    def odd(transcript, _):
        going = {15: (2, 3), 10: tuple(range(2, 8))}.get(len(transcript))
        return Plan((Drop(going),)) if going else Plan.skip("done", "enough")

    result = holdfast.compress(agent_run(6), 300, strategy=Somebody(odd), step=0.2, counter="words")
    assert result.budget_met
    again = holdfast.compress(
        result.messages, 300, strategy=Somebody(odd), step=0.2, counter="words"
    )
    assert same(again.messages, result.messages)
    assert holdfast.restore(result) == agent_run(6)
