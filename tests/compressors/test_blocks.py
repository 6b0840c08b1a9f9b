"""Semantic blocks: what belongs together is in one, and every message is in some."""

from holdfast.compressors.digest import blocks
from holdfast.formats import named


def _grouped(messages, form="openai"):
    return [
        (block.type, list(block.messages)) for block in blocks(named(form).read(messages).messages)
    ]


def _call(call_id="c1"):
    call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _result(call_id="c1"):
    return {"role": "tool", "tool_call_id": call_id, "content": "seen"}


USER, ANSWER = (
    {"role": "user", "content": "what is it?"},
    {"role": "assistant", "content": "it is this"},
)


def test_a_question_with_its_calls_results_and_answer_is_one_block():
    assert _grouped([USER, _call(), _result(), ANSWER]) == [("user_assistant_pair", [0, 1, 2, 3])]


def test_an_agent_may_call_many_times_before_it_answers():
    run = [USER, _call("a"), _result("a"), _call("b"), _result("b"), ANSWER, USER]
    assert _grouped(run) == [
        ("user_assistant_pair", [0, 1, 2, 3, 4, 5]),
        ("user_assistant_pair", [6]),
    ]


def test_a_second_answer_stands_alone():
    assert _grouped([USER, ANSWER, ANSWER]) == [
        ("user_assistant_pair", [0, 1]),
        ("standalone_assistant", [2]),
    ]


def test_users_in_a_row_open_a_block_each():
    assert _grouped([USER, USER, ANSWER]) == [
        ("user_assistant_pair", [0]),
        ("user_assistant_pair", [1, 2]),
    ]


def test_a_result_without_a_block_stands_alone():
    assert _grouped([_result(), USER]) == [("standalone_tool", [0]), ("user_assistant_pair", [1])]


def test_results_that_come_in_a_users_message_do_not_open_a_block():
    messages = [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}],
        },
        ANSWER,
    ]
    assert _grouped(messages, "anthropic") == [("user_assistant_pair", [0, 1, 2, 3])]


def test_no_message_is_lost_and_the_order_is_kept():
    run = [
        {"role": "system", "content": "rules"},
        ANSWER,
        USER,
        _call(),
        _result(),
        ANSWER,
        _result("z"),
        USER,
    ]
    assert [i for _, places in _grouped(run) for i in places] == list(range(len(run)))
