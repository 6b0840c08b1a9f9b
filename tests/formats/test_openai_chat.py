from __future__ import annotations

import pytest

from holdfast.formats import detect, named
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract


class TestOpenAIChat(FormatContract):
    @pytest.fixture
    def form(self):
        return named("openai")

    @pytest.fixture
    def messages(self):
        return [
            {"role": "developer", "content": "Be brief.", "name": "house"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                    {"type": "file", "file": {"file_id": "file-1"}},
                    {"type": "hologram", "depth": 12345678901234567890},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "Look first.",
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "x"}'},
                    },
                    {"id": "b", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "read", "arguments": {"path": "y"}},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "two lines"},
            {
                "role": "tool",
                "tool_call_id": "b",
                "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
            },
            {"role": "tool", "tool_call_id": "c", "content": ""},
            {
                "role": "assistant",
                "content": "",
                "function_call": {"name": "old", "arguments": "{}"},
            },
            {"role": "function", "name": "old", "content": "42"},
            {"role": "assistant", "content": "A cat.", "refusal": None, "annotations": []},
            {"role": "assistant", "content": None, "refusal": "I would rather not."},
        ]

    @pytest.fixture
    def body(self, messages):
        return {"model": "gpt-4o", "messages": messages, "max_completion_tokens": 10}

    def test_each_part_is_what_it_says(self, form, messages):
        parts = [message.parts for message in form.read(messages).messages]
        assert parts[1] == (
            Text("What is this?"),
            Media("image", source="https://x/y.png", detail="low"),
            Media("audio", "audio/wav", "AAAA"),
            Media("document", source="file-1"),
            Opaque('{"type":"hologram","depth":12345678901234567890}'),
        )
        assert parts[2] == (
            Reasoning("Look first."),
            ToolCall("a", "read", '{"path": "x"}'),
            ToolCall("b", "shell", "ls"),
            ToolCall("c", "read", '{"path":"y"}'),
        )
        assert parts[4] == (ToolResult("b", "x\ny"),)
        assert parts[6:8] == [
            (Text(""), ToolCall("function:old", "old", "{}")),
            (ToolResult("function:old", "42"),),
        ]
        assert parts[9] == (Text("I would rather not."),)

    def test_a_call_and_its_results_are_one_unit_also_by_the_old_names(self, form, messages):
        units = form.read(messages).units
        assert range(2, 6) in units
        assert range(6, 8) in units


def test_the_schemas_of_a_body_are_counted_and_may_be_given_beside_it():
    form = named("openai_chat")
    body = {
        "messages": [],
        "tools": [{"type": "function"}],
        "functions": [{"name": "f"}],
        "response_format": {"x": 1},
    }
    assert [part.text for part in form.read(body).envelope] == [
        '{"type":"function"}',
        '{"name":"f"}',
        '{"x":1}',
    ]
    assert form.read(body, [{"name": "g"}]).envelope[0].text == '{"name":"g"}'


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"response_format": {"type": "json_object"}},
        {"seed": 7},
    ],
)
def test_a_body_with_fields_of_its_own_is_recognised(body):
    assert detect({"messages": [{"role": "user", "content": "hi"}], **body}).name == "openai_chat"


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            {"role": "tool", "content": "x"},
            r'messages\[0\]: the tool result has no "tool_call_id"; give the id',
        ),
        (
            {"role": "tool", "tool_call_id": "", "content": "x"},
            r'messages\[0\]: the tool result has no "tool_call_id"',
        ),
        (
            {"role": "tool", "tool_call_id": 5, "content": "x"},
            r"messages\[0\]\.tool_call_id: an int does not belong",
        ),
        (
            {"role": "user", "content": 5},
            r"messages\[0\]\.content: an int does not belong here; give text or a list",
        ),
        (
            {"role": "user", "content": {"a": 1}},
            r"messages\[0\]\.content: a dict does not belong here",
        ),
        (
            {"role": "user", "content": ["x"]},
            r"messages\[0\]\.content\[0\]: a str does not belong here; give an object",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": 5}]},
            r"messages\[0\]\.content\[0\]\.text: an int does not belong here; give text",
        ),
        (
            {"role": "assistant", "tool_calls": "x"},
            r"messages\[0\]\.tool_calls: a str does not belong here; give a list",
        ),
        (
            {"role": "assistant", "tool_calls": [None]},
            r"messages\[0\]\.tool_calls\[0\]: null does not belong here",
        ),
        (
            {"role": "assistant", "tool_calls": [{**CALL, "id": None}]},
            r'tool_calls\[0\]: the tool call has no "id"',
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            r"tool_calls\[0\]\.function: null does not belong here",
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [{**CALL, "function": {"name": "f", "arguments": 5}}],
            },
            r"messages\[0\]\.tool_calls\[0\]\.function\.arguments: an int does not belong here",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(message, error):
    with pytest.raises(FormatError, match=error):
        named("openai_chat").read([message])


def test_missing_content_and_null_beside_a_call_are_nothing_wrong():
    read = named("openai_chat").read(
        [
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
        ]
    )
    assert [len(message.calls) for message in read.messages] == [1, 1]
    assert [message.content_text for message in read.messages] == [None, None]


def test_a_result_with_an_image_loses_it_when_its_text_changes():
    content = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]
    (message,) = (
        named("openai_chat")
        .read([{"role": "tool", "tool_call_id": "a", "content": content}])
        .messages
    )
    assert message.parts == (ToolResult("a", "x", (Media("image", source="u"),)),)
    assert message.saying({0: "y"}).original == {
        "role": "tool",
        "tool_call_id": "a",
        "content": "y",
    }


def test_arguments_that_are_an_object_stay_one():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"path": "x"}}}
    (message,) = (
        named("openai_chat")
        .read([{"role": "assistant", "content": None, "tool_calls": [call]}])
        .messages
    )
    assert message.saying({0: '{"path": 1}'}).original["tool_calls"][0]["function"][
        "arguments"
    ] == {"path": 1}
    assert message.saying({0: "gone"}).original["tool_calls"][0]["function"]["arguments"] == {
        "text": "gone"
    }
