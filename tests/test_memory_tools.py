"""The tools by which a model finds again what no longer stands in its view."""

from __future__ import annotations

import json
import re

import pytest

from holdfast.agent import AgentLoop, remember_tool, search_tool
from holdfast.kernel.errors import ConfigError
from holdfast.session import Session
from tests.session.talks import call

SECRET = "The valve is opened with the code KX-4471-PLUM."


def work(count: int):
    """Exchanges of one long task; one of them holds what is asked for later."""
    for number in range(count):
        rows = "\n".join(
            f"row {number}.{row}: nothing to see in the depot of Porto" for row in range(30)
        )
        yield call(number, f"{SECRET}\n{rows}" if number == 3 else f"File {number}.\n{rows}")


@pytest.fixture
def session():
    with Session("t", budget=2_000, format="openai") as opened:
        opened.append({"role": "user", "content": "Read every file."})
        for exchange in work(40):
            opened.append(*exchange)
        yield opened


def asked(session, most=2_000, **arguments) -> str:
    return search_tool(session, most=most)(json.dumps(arguments))


def test_a_model_finds_what_left_its_view_and_reads_it_whole(session):
    answer = asked(session, query="With which code is the valve opened?")
    assert "KX-4471-PLUM" in answer
    position = session.search("valve code", 1)[0].position
    assert re.search(rf"\[message {position}, tool, \d+ \w+ \d{{4}}\] ", answer)
    whole = session.restore()[position]["content"]
    assert asked(session, message=position) == whole
    assert asked(session, message=position, lines="1:1") == f"{SECRET}\n"
    assert (
        asked(session, message=position, pattern="row 3.7:")
        == "row 3.7: nothing to see in the depot of Porto\n"
    )


@pytest.mark.parametrize("most", [80, 300, 1_000])
def test_an_answer_keeps_to_its_tokens(session, most):
    answer = asked(session, most, query="What stands in the files, and which code opens the valve?")
    assert session.meter.text(answer) <= most
    assert session.meter.text(asked(session, most, message=8)) <= most


def test_the_loop_answers_a_search_and_what_it_gave_is_not_found_again(session):
    arguments = json.dumps({"query": "With which code is the valve opened?"})
    function = {"name": "search_conversation", "arguments": arguments}
    calling = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "s", "function": function}],
    }
    calling["tool_calls"][0]["type"] = "function"
    replies = iter([calling, {"role": "assistant", "content": "found"}])
    sent = []

    def model(messages, tools):
        sent.append(messages)
        assert [tool["function"]["name"] for tool in tools] == ["search_conversation"]
        return next(replies)

    AgentLoop(model, session, [search_tool(session)]).run("Open the valve.")
    assert "KX-4471-PLUM" in sent[1][-1]["content"]
    again = asked(session, query="With which code is the valve opened?")
    assert again.count("Found earlier in this conversation") == 1


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("{}", 'error: give an object such as {"query"'),
        ("[1]", 'error: give an object such as {"query"'),
        ("no JSON", 'error: give an object such as {"query"'),
        ('{"query": " "}', 'error: give an object such as {"query"'),
        ('{"message": 999}', "error: "),
        ('{"message": 8, "lines": "x"}', "error: lines: 'x' is not a range of lines"),
        ('{"message": 8, "pattern": "no such line"}', "[nothing of the message matches]"),
    ],
)
def test_a_call_that_cannot_be_answered_says_what_to_give(session, arguments, answer):
    assert answer in search_tool(session)(arguments)


def test_what_nobody_spoke_of_is_not_found(session):
    assert (
        asked(session, query="quantum chromodynamics") == "Nothing in this conversation answers it."
    )


def test_an_empty_thread_has_no_answer():
    with Session("t", budget=500) as session:
        assert asked(session, query="anything") == "Nothing in this conversation answers it."


@pytest.mark.parametrize("most", [0, 79, True, "many"])
def test_too_little_room_is_refused(session, most):
    with pytest.raises(ConfigError, match="is too little for an answer"):
        search_tool(session, most=most)


def test_both_vendors_have_the_tool(session):
    assert search_tool(session, "anthropic").schema["input_schema"]["required"] == []
    assert search_tool(session).schema["function"]["name"] == "search_conversation"


def test_arguments_that_are_nested_beyond_reading_are_told_to_the_model(session):
    for tool in (search_tool(session), remember_tool(session)):
        assert tool("[" * 100_000).startswith("error: give an object such as ")


def test_half_a_character_is_no_part_of_a_note(session):
    remember_tool(session)('{"text": "\\ud83d the pump leaks"}')
    assert list(session.notes().values()) == ["? the pump leaks"]
