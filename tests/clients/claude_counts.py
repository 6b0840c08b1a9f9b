"""Counts with ctok, as it is installed: run by ``make test-doors``."""

import pytest

from holdfast.http import Budgets
from holdfast.tokens import counter_for
from tests.doors import talks


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-3-opus", "claude_3"),
        ("claude-opus-4-7", "claude_4.7"),
        ("claude-sonnet-5", "claude_4.8"),
    ],
)
def test_each_generation_is_counted_with_its_own_vocabulary(model, name):
    counter = counter_for(model)
    assert counter.name == name
    plain = counter_for("cl100k_base").count(talks.output(1))
    assert plain < counter.count(talks.output(1)) < 2 * plain
    assert counter.count("") == 0


def test_next_to_nothing_of_a_budget_stays_free():
    assert Budgets("32k").of("claude-opus-4-8", {}).headroom == 0.02
