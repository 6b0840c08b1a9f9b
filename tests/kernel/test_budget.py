import math
from dataclasses import replace

import numpy as np
import pytest

from holdfast import Budget, ConfigError
from holdfast.kernel.budget import tokens_of
from holdfast.tokens import meter_for
from tests.talks import METER, agent_run, settled, system, tool, user, words


def test_nobody_has_so_many_tokens():
    for number in (10**400, 10**30, str(10**30)):
        with pytest.raises(ConfigError, match=r"^budget: .* is more than any model takes; give"):
            Budget.of(number)
    with pytest.raises(ConfigError, match="^window: "):
        Budget(window=10**400, headroom=0.1)


@pytest.mark.parametrize("kind", ["int64", "uint16"])
def test_a_whole_number_of_numpy_is_a_number_of_tokens(kind):
    assert Budget.of(getattr(np, kind)(8_000)) == Budget(limit=8_000)


@pytest.mark.parametrize("value", ["yes", None, 1])
def test_hard_is_true_or_false(value):
    with pytest.raises(ConfigError, match=r"^hard: "):
        Budget(limit=100, hard=value)


@pytest.mark.parametrize("value", [0, -1, True, "many", "0", "-8k", 1.5, [], math.nan, math.inf])
def test_what_is_no_number_of_tokens_is_no_budget(value):
    with pytest.raises(ConfigError, match=r"^budget: "):
        Budget.of(value)


@pytest.mark.parametrize("written", ["8000", "8_000", "8,000", "8k", " 8K ", "0.008m"])
def test_a_budget_may_be_written_as_people_write_numbers(written):
    assert Budget.of(written) == Budget(limit=8_000)


def test_no_budget_is_the_window_of_the_model():
    assert Budget.of(None).tokens(128_000) == 128_000


@pytest.mark.parametrize("name", ["limit", "window"])
@pytest.mark.parametrize("value", [0, -1, True, "many", 1.5, math.inf])
def test_a_limit_and_a_window_are_positive_numbers_of_tokens(name, value):
    with pytest.raises(ConfigError, match=f"^{name}: .*give a positive number of tokens"):
        Budget(**{name: value})


@pytest.mark.parametrize("value", [-1, True, "much", 0.5, None])
def test_a_reserve_is_a_number_of_tokens(value):
    with pytest.raises(ConfigError, match=r"^reserve: "):
        Budget(limit=100, reserve=value)


@pytest.mark.parametrize("name", ["headroom", "step"])
@pytest.mark.parametrize("value", [1.0, 1, 2, -0.1, math.nan, "x", None])
def test_headroom_and_step_are_shares_below_one(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}: .*share in \[0, 1\)"):
        Budget(limit=100, **{name: value})


@pytest.mark.parametrize("name", ["trigger", "target"])
@pytest.mark.parametrize("value", [-1, 1.01, -0.5, math.nan, True, "x"])
def test_trigger_and_target_are_tokens_or_shares(name, value):
    with pytest.raises(ConfigError, match=f"^{name}: "):
        Budget(limit=100, **{name: value})


def test_a_whole_number_may_be_written_as_a_float_and_no_other():
    assert Budget.of(8e3) == Budget(limit=8_000)
    for wrong in (8_000.5, math.inf, math.nan, -8e3, 0.0):
        with pytest.raises(ConfigError, match="^budget: "):
            Budget.of(wrong)


def test_an_error_of_a_budget_is_one_line_with_place_and_advice_as_facts():
    with pytest.raises(ConfigError) as caught:
        Budget.of(b"8k")
    assert (caught.value.place, caught.value.problem) == ("budget", "b'8k' does not belong here")
    assert caught.value.advice == "give a positive number of tokens, such as 8000"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (Budget(limit=8_000), 8_000),
        (Budget(window=128_000, reserve=4_000), 124_000),
        (Budget(window=128_000, reserve=4_000, headroom=0.05), 117_800),
        (Budget(limit=1_000, headroom=0.1), 900),
        (Budget(limit=8_000, window=4_000), 4_000),
        (Budget(limit=4_000, window=8_000, reserve=500), 3_500),
        (Budget(limit=7, headroom=0.5), 3),
    ],
)
def test_reserve_comes_off_first_and_headroom_is_a_share_of_the_rest(budget, left):
    assert budget.tokens() == left


def test_a_budget_without_a_limit_takes_the_window_of_the_model():
    assert Budget(reserve=1_000).tokens(128_000) == 127_000
    with pytest.raises(ConfigError, match="name a model whose window is known"):
        Budget(reserve=1_000).tokens()


@pytest.mark.parametrize("headroom", [0.0, 0.05, 0.08, 0.1, 0.18192, 0.3, 0.5, 0.9])
def test_the_limit_for_so_many_tokens_is_the_smallest_that_leaves_them(headroom):
    budget = Budget(limit=1, reserve=100, headroom=headroom)
    for tokens in range(1, 2_000):
        least = budget.limit_for(tokens)
        assert replace(budget, limit=least).tokens() >= tokens
        if tokens > 1:
            assert replace(budget, limit=least - 1).tokens() < tokens


@pytest.mark.parametrize("budget", [Budget(limit=100, reserve=100), Budget(limit=1, headroom=0.5)])
def test_a_budget_that_leaves_nothing_says_what_to_lower(budget):
    with pytest.raises(ConfigError, match=r"leave nothing of .* lower reserve= or headroom="):
        budget.tokens()


def test_a_share_is_a_float_and_tokens_are_an_int():
    assert [tokens_of(share, 8_192) for share in (0.7, 1.0, 0.0, 1, 5_000)] == [
        5_734,
        8_192,
        0,
        1,
        5_000,
    ]
    _, allowance = settled(agent_run(), 250)
    assert (allowance.share(0.4), allowance.share(40)) == (100, 40)


@pytest.mark.parametrize(
    ("budget", "target"),
    [
        (Budget(limit=100), 100),
        (Budget(limit=100, target=0.7), 70),
        (Budget(limit=100, trigger=0.9, target=0.7), 70),
        (Budget(limit=100, trigger=50), 50),
        (Budget(limit=100, trigger=50, target=80), 50),
        (Budget(limit=100, target=500), 100),
    ],
)
def test_the_target_is_never_above_the_trigger_nor_the_trigger_above_the_limit(budget, target):
    _, allowance = settled(agent_run(), budget)
    assert (allowance.target, allowance.limit) == (target, 100)


def test_a_meter_adds_a_tariff_to_the_texts():
    meter = meter_for(None, len)
    transcript, _ = settled([user("12345"), tool("c", "123")], 1000, format="openai")
    assert [*meter.sizes(transcript)] == [5 + 4, 3 + 4]
    assert meter.total(transcript) == 9 + 7 + 10


def test_what_stands_beside_the_messages_is_counted_too():
    body = {
        "system": words(7),
        "tools": [{"name": "x", "input_schema": {}}],
        "messages": [user("go")],
    }
    bare, _ = settled(body["messages"], format="anthropic")
    whole, _ = settled(body, format="anthropic")
    assert METER.total(whole) == METER.total(bare) + 7 + METER.text(
        '{"name":"x","input_schema":{}}'
    )


def test_sizes_are_those_of_the_meter_that_asks():
    transcript, _ = settled([system("four words of text")], 1000)
    assert METER.sizes(transcript) != meter_for(None, "chars4_plus1").sizes(transcript)
    assert METER.sizes(transcript) == [METER.message(message) for message in transcript.messages]
