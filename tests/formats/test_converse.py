from __future__ import annotations

import pytest

import holdfast
from holdfast.formats import named
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract


class TestConverse(FormatContract):
    @pytest.fixture
    def form(self):
        return named("bedrock_converse")

    @pytest.fixture
    def messages(self):
        image = {"image": {"format": "png", "source": {"bytes": b"\0\0\0"}}}
        return [
            {
                "role": "user",
                "content": [
                    {"text": "What is this?"},
                    image,
                    {
                        "document": {
                            "format": "pdf",
                            "name": "y",
                            "source": {"s3Location": {"uri": "s3://x/y"}},
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {
                        "reasoningContent": {
                            "reasoningText": {"text": "Look first.", "signature": "c2ln"}
                        }
                    },
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "a", "name": "read", "input": {"path": "x"}}},
                    {"toolUse": {"toolUseId": "b", "name": "read", "input": {"path": "y"}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "a", "content": [{"text": "x"}, image]}},
                    {
                        "toolResult": {
                            "toolUseId": "b",
                            "content": [{"json": {"hits": 3}}],
                            "status": "error",
                        }
                    },
                ],
            },
            {"role": "assistant", "content": [{"text": "A cat."}]},
        ]

    @pytest.fixture
    def body(self, messages):
        return {"modelId": "amazon.nova-pro-v1:0", "messages": messages}

    def test_each_part_is_what_it_says(self, form, messages):
        parts = [message.parts for message in form.read(messages).messages]
        assert parts[0] == (
            Text("What is this?"),
            Media("image", "image/png", "AAAA"),
            Media("document", "application/pdf", "s3://x/y"),
            Opaque('{"cachePoint":{"type":"default"}}'),
        )
        assert parts[1] == (
            Reasoning("Look first.", signed=True),
            Text("I look."),
            ToolCall("a", "read", '{"path":"x"}'),
            ToolCall("b", "read", '{"path":"y"}'),
        )
        assert parts[2] == (
            ToolResult("a", "x", (Media("image", "image/png", "AAAA"),)),
            ToolResult("b", '{"hits":3}', is_error=True),
        )

    def test_a_message_that_is_one_text_is_known_without_reading_its_parts(self, form):
        (message,) = form.read([{"role": "user", "content": [{"text": "hello"}]}]).messages
        assert message.plain == "hello"
        assert "parts" not in vars(message)

    def test_what_a_result_says_now_is_one_block(self, form, messages):
        changed = form.read(messages).messages[2].saying({0: "less"})
        assert changed.original["content"][0]["toolResult"]["content"] == [{"text": "less"}]


def test_the_system_prompt_and_the_tools_of_a_body_are_counted_beside_the_messages():
    tool = {"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}
    body = {
        "messages": [],
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        "toolConfig": {"tools": [tool], "toolChoice": {"auto": {}}},
    }
    assert [part.text for part in named("converse").read(body).envelope] == [
        "Be brief.",
        '{"cachePoint":{"type":"default"}}',
        '{"toolSpec":{"name":"read","inputSchema":{"json":{"type":"object"}}}}',
    ]


def test_a_run_of_calls_is_fitted_and_comes_back():
    messages = [{"role": "user", "content": [{"text": "Fix it."}]}]
    for n in range(30):
        output = "\n".join(f"{line}: step {n} has value {line * 7919 + n}" for line in range(40))
        call = {"toolUse": {"toolUseId": f"t{n}", "name": "sh", "input": {}}}
        result = {"toolResult": {"toolUseId": f"t{n}", "content": [{"text": output}]}}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    body = {"messages": messages, "modelId": "x"}
    result = holdfast.compress(body, 4_000)
    assert result.budget_met
    assert holdfast.validate(result.messages) == []
    assert holdfast.restore(result) == body


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ({"text": 5}, r"messages\[0\]\.content\[0\]\.text: an int does not belong here"),
        (
            {"toolUse": {"name": "f"}},
            r'content\[0\]\.toolUse: the block has no "toolUseId"; a call',
        ),
        ({"toolResult": "x"}, r"content\[0\]\.toolResult: a str does not belong here"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(block, error):
    with pytest.raises(FormatError, match=error):
        named("converse").read([{"role": "user", "content": [block]}])


@pytest.mark.parametrize(
    "source", [lambda text: {"text": text}, lambda text: {"content": [{"text": text}]}]
)
@pytest.mark.parametrize("in_result", [False, True])
def test_the_words_of_a_document_are_counted(source, in_result):
    def total(text):
        document = {"document": {"format": "txt", "name": "n", "source": source(text)}}
        called = {"toolUse": {"toolUseId": "a", "name": "read", "input": {}}}
        result = {"toolResult": {"toolUseId": "a", "content": [document]}}
        messages = [{"role": "user", "content": [{"text": "Read this."}, document]}]
        if in_result:
            messages = [
                {"role": "user", "content": [{"text": "Read it."}]},
                {"role": "assistant", "content": [called]},
                {"role": "user", "content": [result]},
            ]
        return holdfast.count({"messages": messages}, format="converse").total

    assert total("word " * 1_001) - total("word") >= 1_000


def test_documents_of_one_name_get_numbers_that_no_other_has():
    def document(name):
        return {"document": {"name": name, "format": "txt", "source": {"text": "x"}}}

    result = {"toolResult": {"toolUseId": "a", "content": [document("d"), document("d")]}}
    called = {"toolUse": {"toolUseId": "a", "name": "read", "input": {}}}
    messages = [
        {"role": "user", "content": [{"text": "Read."}, document("d"), document("d-2")]},
        {"role": "assistant", "content": [called]},
        {"role": "user", "content": [result, {"text": "So?"}, document("d-2"), document("e")]},
    ]
    done = holdfast.repair(messages, "converse")
    assert (done.reason, done.restore() == messages) == ("repaired", True)
    assert done.messages[:2] == messages[:2]
    mended, _, other, alone = done.messages[2]["content"]
    names = [each["document"]["name"] for each in (*mended["toolResult"]["content"], other, alone)]
    assert names == ["d-3", "d-4", "d-2-2", "e"]
