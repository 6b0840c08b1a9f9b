"""A model's summary of an old tool output, where a placeholder would stand."""

import pytest

import holdfast
from holdfast.compressors.prune import Prune
from holdfast.compressors.references import key_in
from holdfast.kernel.errors import ModelError
from holdfast.kernel.ports import Complete
from holdfast.providers.scripted import Scripted
from tests.compressors.shrink.exchanges import log, outputs, run
from tests.formats.rules.messages import user
from tests.stores.doubles import TextStore
from tests.talks import planned

TALK = [
    *run(*[("bash", {"command": f"job {n}"}, log(name=f"job{n}")) for n in range(4)]),
    user("What is next?"),
]
PRUNE = Prune(protect_tokens=0, minimum_tokens=0, summary_tokens=60, contextual=True)
BUDGET = 2_000


def notes(prompt):
    return "The jobs ran, and one of them lost its connection."


def fitted(model, messages=TALK, **options):
    return holdfast.compress(messages, BUDGET, strategy=PRUNE, llm=model, **options)


def told(result):
    return [
        text for text in outputs(result) if text.startswith("[Summary of an old output of bash, ")
    ]


def test_old_outputs_are_told_by_the_model_with_their_exact_things_and_a_reference():
    store = TextStore()
    result = fitted(Scripted(notes), store=store)
    assert result.budget_met
    assert told(result)
    originals = {message["content"] for message in TALK if message["role"] == "tool"}
    for text in told(result):
        assert "The jobs ran" in text
        assert "\n- 2026-11-20 10:" in text, "exact things that the model left out"
        assert holdfast.recall(key_in(text), store=store) in originals
    assert holdfast.restore(result) == TALK


def test_the_same_output_is_never_sent_twice():
    store, model = TextStore(), Scripted(notes)
    first = fitted(model, store=store)
    calls = len(model.calls)
    assert calls == len(told(first))
    assert fitted(model, [*TALK, user("Go on.")], store=store).messages[:-1] == first.messages
    assert fitted(model, first.messages, store=store).messages == first.messages
    assert len(model.calls) == calls


@pytest.mark.parametrize("reply", ["", ModelError("down")])
def test_after_a_failure_the_placeholder_stands_and_no_more_is_asked(reply):
    model = Scripted([reply])
    result = fitted(model)
    without = fitted(None)
    assert result.messages == without.messages
    assert result.budget_met
    assert len([call for call in model.calls if isinstance(call, Complete)]) == 1
    assert "no more summaries were asked for" in result.steps[0].detail


def test_a_summary_of_an_error_may_begin_like_one():
    trace = "".join(f'  File "app/load.py", line {n}, in step_{n}\n' for n in range(200))
    failed = f"Traceback (most recent call last):\n{trace}KeyError: 'pool_size'"
    reply = "Error: KeyError in app/load.py, pool_size is missing."
    calls = [("bash", {"command": f"job {n}"}, failed.replace("step", f"s{n}")) for n in range(3)]
    result = fitted(Scripted(lambda _: reply), [*run(*calls), user("What is next?")])
    assert told(result)
    assert all(reply in text for text in told(result))


@pytest.mark.parametrize("reply", ["Error: 503", "Error: gpt-9 is overloaded", "Exception"])
def test_an_error_of_which_the_output_tells_nothing_is_no_summary(reply):
    assert not told(fitted(Scripted(lambda _: reply)))


def test_an_output_that_is_hardly_longer_than_a_summary_costs_no_call():
    model = Scripted(notes)
    short = run(*[("bash", {"command": f"job {n}"}, log(4, f"job{n}")) for n in range(30)])
    result = holdfast.compress(
        [*short, user("Next?")], 1_500, strategy=Prune(0, 0, summary_tokens=200), llm=model
    )
    assert result.steps[0].applied
    assert not model.calls


def test_what_the_newest_exchange_returned_is_never_told_by_the_model():
    model = Scripted(notes)
    holdfast.compress(TALK[:4], 300, strategy=[PRUNE, "trim"], llm=model)
    assert not model.calls


def test_a_clearing_without_summaries_is_still_a_plain_plan():
    plan = planned(Prune(protect_tokens=0, minimum_tokens=0), TALK, 500)
    assert plan.reason == "outputs_cleared"


def test_a_store_that_fails_costs_the_references_and_is_told():
    class Full(TextStore):
        def set(self, key, value):
            raise OSError("full")

    result = fitted(Scripted(notes), store=Full())
    assert told(result)
    assert "original:" not in str(result.messages)
    assert (
        result.steps[0].detail.count(
            "no original was saved from then on: the store failed: OSError: full"
        )
        == 1
    )
    assert (
        result.steps[0].detail.count("summaries are not kept: the store failed: OSError: full") == 1
    )
