from __future__ import annotations

from functools import partial

from tests.formats.rules.messages import (
    assistant,
    broken_at,
    mended,
    read,
    result,
    rule_of,
    same,
    text,
    use,
    user,
)

WHOLE = "tool_exchange_whole"
broken = partial(broken_at, WHOLE, provider="anthropic")
repaired = partial(mended, WHOLE, provider="anthropic")


def test_a_call_without_result_gets_one_before_the_words_of_the_next_message():
    before = [user("x"), assistant(use("a")), user("y")]
    assert broken(before) == [1]
    after = repaired(before)
    assert same(after, before) == [0, 1, None]
    assert after[2] == user(result("a", "[no result was recorded]"), "y")


def test_a_call_at_the_end_gets_a_message_with_its_result():
    after = repaired([user("x"), assistant(use("a"))])
    assert after[2] == user(result("a", "[no result was recorded]"))


def test_a_missing_result_joins_those_that_there_are():
    after = repaired([user("x"), assistant(use("a"), use("b")), user(result("b"), "y")])
    assert after[2] == user(result("b"), result("a", "[no result was recorded]"), "y")


def test_a_result_without_call_stays_as_it_is_behind_a_call_without_arguments():
    before = [user("x"), assistant("y"), user(result("a"), "z")]
    after = repaired(before)
    assert same(after, before) == [0, 1, None, 2]
    assert after[2] == assistant(use("a", "unknown_tool"))


def test_results_with_and_without_call_part_ways():
    after = repaired([user("x"), assistant(use("a")), user(result("a"), result("b"), "y")])
    assert after[2:] == [
        user(result("a")),
        assistant(use("b", "unknown_tool")),
        user(result("b"), "y"),
    ]


def test_results_that_strayed_move_back_and_leave_the_words_where_they_were():
    before = [user("x"), assistant(use("a")), user("y"), assistant("z"), user(result("a"), "w")]
    after = repaired(before)
    assert after == [
        user("x"),
        assistant(use("a")),
        user(result("a"), "y"),
        assistant("z"),
        user(text("w")),
    ]
    assert same(after, before) == [0, 1, None, 3, None]


def test_other_fields_of_a_message_stay():
    before = [user("x"), assistant(use("a")), {**user("y"), "x_trace": 7}]
    assert repaired(before)[2]["x_trace"] == 7


def test_results_in_two_messages_come_together():
    before = [user("x"), assistant(use("a"), use("b")), user(result("a")), user(result("b"), "y")]
    assert broken(before) == []
    assert broken_at("results_in_next_message", before, "anthropic") == [3]
    after = mended("results_in_next_message", before, "anthropic")
    assert after == [
        user("x"),
        assistant(use("a"), use("b")),
        user(result("a"), result("b")),
        user(text("y")),
    ]


def test_results_after_words_move_to_the_front_of_their_message():
    before = [user("x"), assistant(use("a"), use("b")), user(result("b"), "y", result("a"))]
    assert broken_at("results_lead_their_message", before, "anthropic") == [2]
    assert mended("results_lead_their_message", before, "anthropic")[2] == user(
        result("b"), result("a"), "y"
    )


def test_calls_move_behind_the_text_and_thinking_stays_in_front():
    thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
    before = [
        user("x"),
        assistant(thinking, use("a"), "y", use("b")),
        user(result("a"), result("b")),
    ]
    assert broken_at("calls_end_their_message", before, "anthropic") == [1]
    after = mended("calls_end_their_message", before, "anthropic")
    assert after[1] == assistant(thinking, text("y"), use("a"), use("b"))


def test_a_unit_reaches_from_the_call_to_the_last_result_and_the_words_beside_it():
    messages = read(
        [user("x"), assistant(use("a")), user(result("a"), "y"), assistant("z")], "anthropic"
    )
    assert set(rule_of(WHOLE, "anthropic").welds(messages)) == {2}
