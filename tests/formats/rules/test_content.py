from __future__ import annotations

import pytest

from tests.formats.rules.messages import (
    assistant,
    broken_at,
    calling,
    mended,
    result,
    same,
    text,
    tool,
    use,
    user,
)

NOT_EMPTY, TRIMMED, GIVEN, CALLS = (
    "message_not_empty",
    "final_text_trimmed",
    "content_given",
    "call_list_not_empty",
)


def test_content_may_be_null_where_something_stands_in_its_place():
    refusing = {"role": "assistant", "content": None, "refusal": "No."}
    speaking = {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
    assert (
        broken_at(GIVEN, [user("x"), calling("a"), tool("a"), refusing, speaking], "openai") == []
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None},
        {"role": "assistant"},
        {"role": "assistant", "content": None, "tool_calls": None},
        {"role": "user", "content": None},
        {"role": "tool", "tool_call_id": "a", "content": None},
    ],
)
def test_content_that_is_missing_becomes_an_empty_text(message):
    assert broken_at(GIVEN, [message], "openai") == [0]
    assert mended(GIVEN, [message], "openai") == [{**message, "content": ""}]


def test_an_empty_list_of_calls_goes_and_the_message_stays():
    before = [{"role": "assistant", "content": "x", "tool_calls": [], "id": 7}, user("y")]
    assert broken_at(CALLS, before, "openai") == [0]
    after = mended(CALLS, before, "openai")
    assert after[0] == {"role": "assistant", "content": "x", "id": 7}
    assert same(after, before) == [None, 1]


@pytest.mark.parametrize("content", ["", " \n", [], None, [text("")], [text(" "), text("\n")]])
def test_a_message_that_says_nothing_goes(content):
    before = [user("x"), {"role": "assistant", "content": content}, user("y")]
    assert broken_at(NOT_EMPTY, before, "anthropic") == [1]
    assert same(mended(NOT_EMPTY, before, "anthropic"), before) == [0, 2]


def test_a_text_that_says_nothing_goes_and_what_stands_beside_it_stays():
    before = [user("x"), assistant("", use("a")), user(result("a"), " ")]
    assert broken_at(NOT_EMPTY, before, "anthropic") == [1, 2]
    assert mended(NOT_EMPTY, before, "anthropic")[1:] == [assistant(use("a")), user(result("a"))]


@pytest.mark.parametrize("content", ["", []])
def test_the_assistants_message_may_be_empty_at_the_end(content):
    assert (
        broken_at(NOT_EMPTY, [user("x"), {"role": "assistant", "content": content}], "anthropic")
        == []
    )
    assert broken_at(
        NOT_EMPTY, [assistant("x"), {"role": "user", "content": content}], "anthropic"
    ) == [1]


def test_white_space_beside_a_text_is_taken():
    assert broken_at(NOT_EMPTY, [user("x"), assistant("\n", "y"), user("z")], "anthropic") == []


def test_an_empty_tool_result_says_that_there_was_nothing():
    assert (
        broken_at(NOT_EMPTY, [user("x"), assistant(use("a")), user(result("a", ""))], "anthropic")
        == []
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (assistant("x \n"), [assistant("x")]),
        (assistant("x ", "y "), [assistant("x ", "y")]),
        (assistant("x", " "), [assistant(text("x"))]),
        (assistant(" "), []),
    ],
)
def test_white_space_at_the_very_end_goes_and_nothing_else(before, after):
    assert broken_at(TRIMMED, [user("q"), before], "anthropic") == [1]
    assert mended(TRIMMED, [user("q"), before], "anthropic")[1:] == after


def test_white_space_elsewhere_stays():
    assert broken_at(TRIMMED, [user("q "), assistant("x "), user("y ")], "anthropic") == []
    assert broken_at(TRIMMED, [user("q"), assistant("x ", use("a"))], "anthropic") == []
