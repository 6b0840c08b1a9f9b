from __future__ import annotations

from collections import UserDict

import pytest

from holdfast import count
from holdfast.formats import FORMATS, MARKS, detect, named
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.session import Session


def test_a_named_format_is_taken_whatever_the_messages_show():
    assert detect([{"role": "user", "content": "hi"}], "openai").name == "openai_chat"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("openai", "openai_chat"),
        ("azure", "openai_chat"),
        ("claude", "anthropic"),
        ("vertex", "anthropic"),
    ],
)
def test_providers_are_names_of_formats_too(alias, name):
    assert named(alias).name == name


@pytest.mark.parametrize("name", FORMATS.names())
def test_a_format_has_the_name_under_which_it_is_found(name):
    assert named(name).name == name


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        ConfigError,
        match=r"there is no format named 'opnai'; did you mean 'openai'\? known are anthropic",
    ):
        detect([], "opnai")


@pytest.mark.parametrize(
    "kind",
    """
    code_interpreter_call computer_call computer_call_output file_search_call image_generation_call
    mcp_approval_request mcp_approval_response mcp_call mcp_list_tools tool_search_output
    """.split(),
)
def test_an_item_of_any_tool_shows_the_responses_api(kind):
    asks, item = {"role": "user", "content": "find the port"}, {"type": kind, "id": "i"}
    assert detect([asks, item]).name == "openai_responses"
    assert detect([asks, {**item, "role": "user", "content": "said"}]).name == "plain"
    with Session("t") as session:
        session.append(item, asks)
        assert session.wire().name == "openai_responses"


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ("hello", r"^a str is not a list of messages; give a list such as"),
        (None, r"^null is not a list of messages"),
        (5, r"^an int is not a list of messages"),
        (
            {},
            r'^an object without "messages" is not a conversation; give a list of messages, '
            r"or a request body",
        ),
        ({"role": "user", "content": "hi"}, r'^an object without "messages" is not a conversation'),
        ({"messages": "hi"}, r"^messages: a str is not a list of messages"),
        (["hi"], r"^messages\[0\]: a str is not a message; give a dictionary"),
        ([{"role": "user", "content": "x"}, None], r"^messages\[1\]: null is not a message"),
        (
            [{"content": "hi"}],
            r'^messages\[0\]: the message has no "role"; give a role such as user',
        ),
        (
            {"contents": [{"role": "user", "content": "hi"}]},
            r'^contents\[0\]: the message has "content" and no "parts"; put its text into "parts"',
        ),
        ([{"role": "", "content": "hi"}], r"^messages\[0\]\.role: the role is empty"),
        ([{"role": " ", "content": "hi"}], r"^messages\[0\]\.role: the role is empty"),
        ([{"role": 5, "content": "hi"}], r"^messages\[0\]\.role: an int is not a role"),
        ([{"role": ["user"], "content": "hi"}], r"^messages\[0\]\.role: a list is not a role"),
    ],
)
def test_what_is_no_conversation_is_refused_in_one_line_that_names_the_place(payload, error):
    with pytest.raises(FormatError, match=error) as caught:
        detect(payload).read(payload)
    assert "\n" not in str(caught.value)


def test_what_nobody_recognises_is_read_as_plain_which_says_what_is_wrong():
    class Letter:
        role = "user"

    with pytest.raises(
        FormatError, match=r"^messages\[0\]: a Letter is not a message; give a dictionary"
    ):
        detect([Letter()]).read([Letter()])


def test_a_format_from_outside_is_asked_before_anything_is_called_unreadable(monkeypatch):
    class Letters(type(named("plain"))):
        name = "letters"

        def recognises(self, payload):
            return payload == ["Dear reader"]

    class Point:
        name = "letters"

        def load(self):
            return Letters

    def entry_points(group, name="letters"):
        return [Point()] if (group, name) == ("holdfast.formats", "letters") else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.setattr(
        "holdfast.kernel.registry._brings", bool
    )  # there is no file that would tell of it
    assert detect(["Dear reader"]).name == "letters"


def test_odd_values_where_a_word_is_expected_do_not_break_the_detection():
    assert detect([{"role": {}, "content": [{"type": {}}, 5, None]}]).name == "openai_chat"
    assert detect({"messages": [{"role": "user", "content": "x"}], "tools": [5]}).name == "plain"
    assert detect([{"role": "user", "content": "x", "kind": []}]).name == "plain"


def test_a_format_recognises_what_is_detected_as_it():
    calls = [{"role": "assistant", "content": None, "tool_calls": []}]
    assert named("openai").recognises(calls)
    assert not named("anthropic").recognises(calls)


def test_every_format_but_bedrocks_has_marks():
    assert {*MARKS} == {*FORMATS.names()} - {"bedrock"}


def test_unknown_fields_and_roles_do_not_make_messages_a_vendors():
    assert detect([{"role": "narrator", "content": "x", "x_trace": {"a": 1}}]).name == "plain"


def test_any_mapping_is_a_message():
    message = UserDict({"role": "user", "content": "hi"})
    (read,) = detect([message]).read([message]).messages
    assert read.original is message
    assert read.saying({0: "yo"}).original == {"role": "user", "content": "yo"}


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a" * 1_000_000, ""])
def test_any_text_is_a_text(text):
    messages = [{"role": "user", "content": text}]
    assert detect(messages).read(messages).messages[0].plain == text


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "openai"])
@pytest.mark.parametrize(
    "block", [{"toolUse": {"toolUseId": "1", "name": "look", "input": {}}}, {"toolResult": {}}]
)
def test_messages_of_the_converse_api_are_refused_by_their_name(name, block):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [block]}]
    with pytest.raises(
        FormatError,
        match=r"^messages\[1\]\.content\[0\]: this is a block of Bedrock's Converse API; ",
    ):
        count(messages, format=name)
