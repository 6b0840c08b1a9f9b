from __future__ import annotations

from functools import partial

from tests.formats.rules.messages import broken_at, calling, mended, read, rule_of, same, tool, user

WHOLE = "tool_exchange_whole"
broken = partial(broken_at, WHOLE, provider="openai")
repaired = partial(mended, WHOLE, provider="openai")


def test_parallel_results_may_come_in_any_order():
    assert broken([user("x"), calling("a", "b"), tool("b"), tool("a")]) == []


def test_the_calls_of_the_last_message_have_no_results_either():
    assert broken([user("x"), calling("a")]) == [1]


def test_a_call_without_result_gets_one_that_says_so_right_after_the_others():
    before = [user("x"), calling("a", "b"), tool("b"), user("y")]
    after = repaired(before)
    assert same(after, before) == [0, 1, 2, None, 3]
    assert after[3] == {"role": "tool", "tool_call_id": "a", "content": "[no result was recorded]"}


def test_a_result_without_call_stays_as_it_is_behind_a_call_without_arguments():
    before = [user("x"), tool("a") | {"name": "grep"}, user("y")]
    after = repaired(before)
    assert same(after, before) == [0, None, 1, 2]
    call = {"id": "a", "type": "function", "function": {"name": "grep", "arguments": "{}"}}
    assert after[1] == {"role": "assistant", "content": None, "tool_calls": [call]}


def test_results_that_strayed_move_back_to_their_calls_and_are_not_copied():
    before = [
        user("x"),
        calling("a", "b"),
        user("y"),
        tool("a"),
        calling("c"),
        tool("b"),
        tool("c"),
    ]
    assert same(repaired(before), before) == [0, 1, 3, 5, 2, 4, 6]


def test_a_result_before_its_call_moves_behind_it():
    before = [tool("a"), user("x"), calling("a")]
    assert same(repaired(before), before) == [1, 2, 0]


def test_a_second_result_of_a_call_keeps_its_words_behind_a_call_of_its_own():
    before = [calling("a"), tool("a", "first"), tool("a", "second")]
    after = repaired(before)
    assert same(after, before) == [0, 1, None, 2]
    assert after[2]["tool_calls"][0]["id"] == "a"


def test_an_id_that_is_used_again_belongs_to_the_nearest_call_before():
    before = [calling("a"), tool("a", "1"), calling("a"), tool("a", "2")]
    assert broken(before) == []
    assert same(repaired(before), before) == [0, 1, 2, 3]


def test_the_old_function_calls_are_mended_in_their_own_words():
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "old", "arguments": "{}"},
    }
    assert repaired([call, user("x")])[1] == {
        "role": "function",
        "name": "old",
        "content": "[no result was recorded]",
    }
    assert repaired([{"role": "function", "name": "old", "content": "42"}])[0] == call


def test_a_system_message_inside_an_exchange_moves_behind_it():
    system = {"role": "system", "content": "It is noon."}
    before = [user("x"), calling("a", "b"), tool("a"), system, tool("b")]
    assert broken_at("results_right_after_call", before, "openai") == [3]
    assert broken(before) == []
    assert same(mended("results_right_after_call", before, "openai"), before) == [0, 1, 2, 4, 3]


def test_a_system_message_inside_an_exchange_belongs_to_its_unit():
    system = {"role": "system", "content": "It is noon."}
    messages = read([user("x"), calling("a"), system, tool("a"), user("y")], "openai")
    assert set(rule_of(WHOLE, "openai").welds(messages)) == {2, 3}
