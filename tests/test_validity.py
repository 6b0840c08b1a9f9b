from __future__ import annotations

import copy
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast.formats import named
from holdfast.kernel.errors import ConfigError, FormatError
from holdfast.kernel.integrity import Violation
from holdfast.kernel.messages import Media, Opaque, Text, ToolCall, ToolResult
from holdfast.result import CompressionResult, restore
from holdfast.validity import repair, validate
from tests.formats.conversations import anthropic_conversations, openai_conversations

BROKEN = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is in the file?"},
    {"role": "tool", "tool_call_id": "a", "content": "two lines"},
    {"role": "user", "content": "And?"},
]
many = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
    max_examples=300,
)


def test_validate_names_the_rule_and_the_message():
    problem = "tool result 'a' has no call before it"
    assert validate(BROKEN) == [Violation("tool_exchange_whole", 2, problem)]


def test_a_valid_conversation_comes_back_as_the_same_object():
    valid = [BROKEN[1]]
    result = repair(valid, "openai")
    assert result.messages is valid
    assert (result.status, result.reason, result.steps) == ("skipped", "valid", ())


def test_plain_messages_are_always_valid():
    assert validate([{"role": "assistant", "content": ""}]) == []


def test_the_provider_chooses_the_rules():
    twice = [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]
    assert validate(twice, "anthropic") == []
    assert [violation.rule for violation in validate(twice, "bedrock")] == ["roles_alternate"]


def test_an_unknown_provider_is_told_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"there is no format named 'antropic'; did you mean 'anthropic'\?"
    ):
        validate(BROKEN, "antropic")


def test_messages_of_another_vendor_are_refused_and_not_taken_for_broken_ones():
    with pytest.raises(
        FormatError,
        match=r"messages\[2\]\.tool_call_id: the Messages API has no such field; convert",
    ):
        validate(BROKEN, "anthropic")


def test_each_rule_that_was_mended_is_a_step_with_its_tokens():
    result = repair([*BROKEN, {"role": "assistant", "content": None}])
    assert [step.name for step in result.steps] == ["content_given", "tool_exchange_whole"]
    assert [step.applied for step in result.steps] == [True, True]
    assert result.steps[0].after == result.steps[1].before
    assert result.metrics.tokens_after == result.steps[-1].after == result.tokens
    assert (result.metrics.messages_before, result.metrics.messages_after) == (5, 6)
    assert result.budget_met


@pytest.mark.parametrize(
    "wrap", [list, tuple, lambda messages: {"model": "gpt-4o", "messages": messages, "seed": 7}]
)
def test_what_came_in_comes_back_mended(wrap):
    before = wrap(copy.deepcopy(BROKEN))
    result = repair(before)
    assert type(result.messages) is type(before)
    assert validate(result.messages) == []
    assert restore(result) == before


def test_a_repair_is_undone_in_another_process():
    text = repair(BROKEN).to_json()
    assert restore(CompressionResult.from_json(text)) == BROKEN


def test_the_edits_of_a_repair_show_what_was_brought_in():
    (edit,) = repair(BROKEN).edits
    assert (edit.at, edit.role, edit.reason) == (2, "assistant", "tool_exchange_whole")
    assert edit.original["tool_calls"][0]["id"] == "a"


def check(messages, provider):
    before = copy.deepcopy(messages)
    result = repair(messages, provider)
    left = validate(result.messages, provider)
    assert {violation.rule for violation in left} <= {"as_published"}
    assert (result.reason == "cannot_be_mended") == bool(left)
    assert messages == before
    assert restore(result) == before
    assert restore(CompressionResult.from_json(result.to_json())) == before
    again = repair(result.messages, provider)
    assert again.messages is result.messages
    lost = said(before, provider) - said(result.messages, provider)
    assert not lost


def said(messages, provider):
    """Everything that was said, with how often: white space, what only the model thought, and
    calls of the
    vendor's own tools aside.
    """
    counted = Counter()
    for message in named(provider).read(messages).messages:
        for part in message.parts:
            if isinstance(part, Text | ToolResult) and part.text.strip():
                counted[type(part).__name__, part.text.strip()] += 1
            elif isinstance(part, ToolCall):
                counted["ToolCall", part.name, part.arguments] += 1
            elif isinstance(part, Media):
                counted[json.dumps(repr(part))] += 1
            elif isinstance(part, Opaque) and "server_tool_use" not in part.text:
                counted["Text", part.text] += 1
    return counted


@many
@given(openai_conversations)
def test_whatever_is_broken_for_openai_is_mended_and_nothing_is_lost(messages):
    check(messages, "openai")


@many
@given(anthropic_conversations)
def test_whatever_is_broken_for_anthropic_is_mended_and_nothing_is_lost(messages):
    check(messages, "anthropic")


@many
@given(anthropic_conversations)
def test_whatever_is_broken_for_bedrock_is_mended_and_nothing_is_lost(messages):
    check(messages, "bedrock")


def test_all_white_space_at_the_end_goes_in_one_round():
    blank = {"type": "text", "text": " "}
    talk = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "text", "text": "b "}, blank]},
    ]
    result = repair(
        [*talk, {"role": "assistant", "content": [blank, blank]}, *[talk[1]] * 2], "anthropic"
    )
    assert result.reason == "repaired"
    assert validate(result.messages, "anthropic") == []


def test_thinking_of_a_user_and_results_of_the_assistant_do_not_go_round_in_circles():
    thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
    result = {"type": "tool_result", "tool_use_id": "a.", "content": "r"}
    use = {"type": "tool_use", "id": "a.", "name": "n", "input": {}}
    for provider in ("anthropic", "bedrock"):
        for content in ([result, thinking], [thinking, result, use], [result, result, use]):
            for role in ("user", "assistant"):
                done = repair([{"role": role, "content": content}], provider)
                assert {violation.rule for violation in validate(done.messages, provider)} <= {
                    "as_published"
                }
                assert len(done.messages) <= 7


def test_a_function_without_a_name_is_refused_as_a_result_without_an_id_is():
    with pytest.raises(
        FormatError,
        match='the tool result has no "name"; give the name of the call that it answers',
    ):
        validate([{"role": "function", "content": "two lines"}])


def test_a_step_that_left_its_rule_broken_is_not_called_repaired():
    picture = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    talk = [
        {"role": "user", "content": "a", "more": 1},
        {"role": "assistant", "content": [picture]},
    ]
    result = repair(talk, "anthropic")
    assert [(step.name, step.reason) for step in result.steps] == [
        ("as_published", "cannot_be_mended")
    ]


@pytest.mark.parametrize("junk", [[1], {"a": 1}, 5, True])
def test_kinds_and_ids_that_are_no_text_are_named_and_break_nothing(junk):
    for provider in ("openai", "anthropic"):
        talk = [{"role": "user", "content": [{"type": junk, "image_url": {"url": "u"}}]}]
        assert validate(talk, provider)
        assert validate(repair(talk, provider).messages, provider) == []
    call = {
        "type": "server_tool_use",
        "id": "s",
        "name": "web_search",
        "input": {},
        "tool_use_id": junk,
    }
    assert validate(
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": [call]}], "anthropic"
    )


USE = {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}
CALLS = {"functionCall": {"name": "f", "args": {}}}


@pytest.mark.parametrize(
    ("provider", "message", "problem"),
    [
        ("converse", {"role": "user", "content": [{}]}, "the object is empty"),
        ("converse", {"role": "user", "content": [{"text": "x", "cachePoint": {}}]}, "only one of"),
        ("converse", {"role": "user", "content": [USE]}, "toolUse: there is no such field"),
        (
            "converse",
            {"role": "assistant", "content": [{"toolUse": {**USE["toolUse"], "type": None}}]},
            "type: None is none of",
        ),
        ("gemini", {"role": "model", "parts": [{"functionCall": {"args": {}}}]}, '"name"'),
        ("gemini", {"role": None, "parts": [CALLS]}, "user"),
        ("responses", {"type": "", "id": "r"}, "is not of the form"),
        ("responses",
         {"type": "function_call", "call_id": "a", "name": "f", "arguments": "", "id": [1]},
         "a list"),
    ],
)  # fmt: skip
def test_what_the_newer_wires_refuse_is_named(provider, message, problem):
    talk = [message, {"role": "user", "content": [{"text": "x"}], "parts": [{"text": "x"}]}]
    assert problem in " ".join(each.problem for each in validate(talk[:1], provider))
    result = repair(talk, provider)
    assert repair(result.messages, provider).messages == result.messages


@pytest.mark.parametrize(
    ("provider", "field", "call", "result", "role"),
    [
        (
            "converse",
            "content",
            USE,
            {"toolResult": {"toolUseId": "a", "content": [{"text": "1"}]}},
            "assistant",
        ),
        (
            "gemini",
            "parts",
            CALLS,
            {"functionResponse": {"name": "f", "response": {"output": "1"}}},
            "model",
        ),
    ],
)
def test_a_call_of_an_unknown_role_stays_a_call(provider, field, call, result, role):
    asked, answered = ({"role": "user", field: [part]} for part in ({"text": "x"}, result))
    called = {"role": "stranger", field: [call]}
    mended = repair([asked, called, answered], provider).messages
    assert mended == [asked, {**called, "role": role}, answered]


def test_a_part_whose_type_is_no_text_is_opaque_on_the_wire_of_responses():
    talk = [{"role": "user", "content": [{"type": [1], "text": "x"}]}]
    assert validate(talk, "responses")


def test_a_call_that_is_put_in_before_a_result_has_the_name_that_the_result_says():
    answer = {"functionResponse": {"id": "7", "name": "f", "response": {"output": "1"}}}
    mended = repair([{"role": "user", "parts": [answer]}], "gemini").messages
    assert mended[-2]["parts"][0]["functionCall"] == {"id": "7", "name": "f", "args": {}}
