"""An embedder that fails or answers nonsense never ends a compression, and leaves history as it
was.
"""

from math import nan

import pytest

import holdfast
from holdfast.calls.lineup import CallLimits
from holdfast.compressors.dedupe import Semantic
from holdfast.providers import default_embedder, name_of
from tests.talks import chat, system

QUICK = CallLimits(retries=1, backoff=0.01)


def history():
    return [system("Be careful."), *[message for _ in range(4) for message in chat(3, 40)]]


def fitted(embedder, **options):
    strategy = [Semantic(), "trim"]
    given = {
        "strategy": strategy,
        "counter": "words",
        "embedder": embedder,
        "limits": QUICK,
        **options,
    }
    return holdfast.compress(history(), 300, **given)


def test_vectors_come_from_the_vendor_in_one_request(vendors, embedder):
    result = fitted(embedder)
    assert result.steps[0].status == "compacted"
    assert len(vendors.requests) == 1
    (call,) = result.model_usage.calls
    assert (call.kind, call.model, call.attempts, call.counted) == ("embed", "an-embedder", 1, True)
    assert holdfast.restore(result) == history()


@pytest.mark.parametrize(
    "fault", ["busy", "broken", "cut", "malformed", "strange", "long", "refused"]
)
def test_every_fault_is_told_and_the_next_step_meets_the_budget(vendors, embedder, fault):
    vendors.judge = lambda text: fault
    result = fitted(embedder)
    assert (result.degraded, result.budget_met, result.steps[0].status) == (True, True, "failed")
    assert result.steps[0].detail in result.detail
    assert holdfast.restore(result) == history()
    assert holdfast.validate(result.messages) == []


@pytest.mark.parametrize("row", [[], [nan], ["x"], None, 7], ids=str)
def test_vectors_that_are_none_fail_the_step_alone(row):
    result = fitted(lambda texts: [[1.0], *[row] * (len(texts) - 1)])
    assert (result.degraded, result.budget_met, result.steps[0].status) == (True, True, "failed")
    assert holdfast.restore(result) == history()


def test_vectors_of_nothing_but_zeros_are_like_nothing():
    result = fitted(lambda texts: [[0.0, 0.0]] * len(texts))
    assert (result.degraded, result.budget_met) == (False, True)
    assert result.steps[0].status == "skipped"


def test_without_an_embedder_the_result_says_which_one_was_taken():
    result = fitted(None)
    (call,) = result.model_usage.calls
    assert call.model == name_of(default_embedder())
    assert call.cost == 0
