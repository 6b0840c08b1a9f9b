from __future__ import annotations

import pytest

from holdfast import Session, compress, count
from holdfast.formats import named
from holdfast.validity import repair, validate

from .messages import assistant, broken_at, mended, result, same, text, use, user

RULE = "server_tool_exchange_whole"


def search(call_id):
    return {
        "type": "server_tool_use",
        "id": call_id,
        "name": "web_search",
        "input": {"query": "news"},
    }


def found(call_id, words="x"):
    hit = {
        "type": "web_search_result",
        "title": "T",
        "url": "https://x",
        "encrypted_content": words,
    }
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": [hit]}


def units(messages):
    return [list(unit) for unit in named("anthropic").read(messages).units]


def test_a_call_and_its_result_in_the_next_message_are_one_unit():
    talk = [user("a"), assistant("I look.", search("s")), assistant(found("s"), "Done."), user("b")]
    assert validate(talk) == []
    assert units(talk) == [[0], [1, 2], [3]]


def test_a_call_and_its_result_in_one_message_are_a_unit_of_one():
    talk = [user("a"), assistant(search("s"), found("s"), "Done."), user("b")]
    assert validate(talk) == []
    assert units(talk) == [[0], [1], [2]]


def test_code_that_calls_tools_is_one_unit_with_them():
    code = {"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "x"}}
    ran = {
        "type": "code_execution_tool_result",
        "tool_use_id": "s",
        "content": {"type": "code_execution_result"},
    }
    talk = [
        user("a"),
        assistant(code, use("t")),
        user(result("t")),
        assistant(ran, "Done."),
        user("b"),
    ]
    assert broken_at(RULE, talk, "anthropic") == []
    assert units(talk) == [[0], [1, 2, 3], [4]]
    assert broken_at(RULE, talk[:3], "anthropic") == []


def test_a_turn_that_was_paused_is_open():
    assert broken_at(RULE, [user("a"), assistant(search("s"))], "anthropic") == []


@pytest.mark.parametrize(
    ("talk", "places", "after"),
    [
        ([user("a"), assistant("I look.", search("s")), user("b")], [1], [0, None, 2]),
        ([user("a"), assistant(found("s")), user("b")], [1], [0, 2]),
        ([user("a"), assistant(found("s"), search("s")), user("b")], [1, 1], [0, 2]),
        ([user("a"), assistant(search("s")), assistant(search("s"), found("s"))], [1], [0, 2]),
    ],
)
def test_a_half_without_the_other_is_refused_and_goes(talk, places, after):
    assert broken_at(RULE, talk, "anthropic") == places
    now = mended(RULE, talk, "anthropic")
    assert same(now, talk) == after


def test_what_stood_beside_a_half_that_goes_stays():
    talk = [user("a"), assistant("I look.", search("s")), user("b")]
    assert repair(talk, "anthropic").messages[1]["content"] == [text("I look.")]


def orphans(messages):
    blocks = [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    calls = {block["id"] for block in blocks if block["type"] == "server_tool_use"}
    return calls ^ {
        block["tool_use_id"] for block in blocks if block["type"].endswith("_tool_result")
    }


def talk_of(turns):
    for i in range(turns):
        yield user(f"question {i} " + "word " * 30)
        yield assistant(f"Searching {i} " + "thought " * 20, search(f"srv_{i}"))
        yield assistant(found(f"srv_{i}", "abc" * 40), f"Answer {i} " + "fact " * 40)
    yield user("last?")


@pytest.mark.parametrize("profile", ["fast", "balanced"])
def test_no_budget_parts_a_call_from_its_result(profile):
    talk = list(talk_of(12))
    for budget in range(200, count(talk).total, 50):
        assert orphans(compress(talk, budget, profile=profile).messages) == set()


def test_no_view_of_a_session_parts_them_either():
    talk = list(talk_of(12))
    for budget in range(300, count(talk).total, 150):
        session = Session("talk", store="memory://", budget=budget)
        session.append(*talk)
        assert orphans(session.fit().messages) == set()
