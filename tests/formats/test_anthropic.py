from __future__ import annotations

import pytest

import holdfast
from holdfast.formats import detect, named
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBOR"}


class TestAnthropic(FormatContract):
    @pytest.fixture
    def form(self):
        return named("claude")

    @pytest.fixture
    def messages(self):
        return [
            {
                "role": "user",
                "content": [
                    {
                        "type": "text",
                        "text": "What is this?",
                        "cache_control": {"type": "ephemeral"},
                    },
                    {"type": "image", "source": PNG},
                    {
                        "type": "document",
                        "source": {"type": "url", "url": "https://x/y.pdf"},
                        "title": "y",
                    },
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                    },
                    {"type": "document", "source": {"type": "content", "content": "c"}},
                    {"type": "hologram", "depth": 1},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "AAAA"},
                    {"type": "text", "text": "Reading."},
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {},
                    },
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                    {
                        "type": "tool_use",
                        "id": "toolu_1",
                        "name": "read",
                        "input": {"n": 12345678901234567890},
                    },
                    {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "two lines"},
                            {"type": "image", "source": PNG},
                        ],
                    },
                    {"type": "tool_result", "tool_use_id": "toolu_2"},
                    {"type": "text", "text": "And?"},
                ],
            },
            {"role": "assistant", "content": "Two lines."},
        ]

    @pytest.fixture
    def body(self, messages):
        return {"model": "claude-sonnet-4-5", "messages": messages}

    def test_each_part_is_what_it_says(self, form, messages):
        parts = [message.parts for message in form.read(messages).messages]
        assert parts[0] == (
            Text("What is this?"),
            Media("image", "image/png", "iVBOR"),
            Media("document", source="https://x/y.pdf"),
            Text("words"),
            Opaque('{"type":"content","content":"c"}'),
            Opaque('{"type":"hologram","depth":1}'),
        )
        assert parts[1][:3] == (
            Reasoning("Look first.", True),
            Reasoning("AAAA", True),
            Text("Reading."),
        )
        assert parts[1][3:5] == tuple(Opaque(part.text) for part in parts[1][3:5])
        assert parts[1][5:] == (
            ToolCall("toolu_1", "read", '{"n":12345678901234567890}'),
            ToolCall("toolu_2", "read", "{}"),
        )
        assert parts[2] == (
            ToolResult("toolu_1", "two lines", (Media("image", "image/png", "iVBOR"),), True),
            ToolResult("toolu_2", ""),
            Text("And?"),
        )

    def test_a_message_with_results_and_words_stays_with_its_calls(self, form, messages):
        assert range(1, 3) in form.read(messages).units


def test_system_prompt_and_tools_of_a_body_are_its_envelope():
    tool = {"name": "read", "input_schema": {"type": "object"}}
    blocks = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    read = named("anthropic").read
    assert [p.text for p in read({"system": "Be brief.", "messages": []}).envelope] == ["Be brief."]
    assert [p.text for p in read({"system": blocks, "tools": [tool], "messages": []}).envelope] == [
        "Be brief.",
        "Be kind.",
        '{"name":"read","input_schema":{"type":"object"}}',
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"system": "Be brief."},
        {"tools": [{"name": "read", "input_schema": {}}]},
        {"stop_sequences": ["x"]},
        {"anthropic_version": "bedrock-2023-05-31"},
    ],
)
def test_a_body_with_fields_of_its_own_is_recognised(body):
    assert detect({"messages": [{"role": "user", "content": "hi"}], **body}).name == "anthropic"


def test_what_other_servers_share_with_it_does_not_make_a_body_its_own():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "x"}]
    assert (
        detect(
            {
                "top_k": 5,
                "tools": [],
                "messages": [*messages, {"role": "tool", "tool_call_id": "a"}],
            }
        ).name
        == "openai_chat"
    )
    assert (
        detect([{"role": "assistant", "content": [{"type": "image"}], "tool_calls": [call]}]).name
        == "openai_chat"
    )


def test_on_bedrock_roles_alternate_and_elsewhere_they_need_not():
    twice = [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]
    assert "roles_alternate" in {rule.name for rule in named("bedrock").read(twice).rules}
    assert "roles_alternate" not in {rule.name for rule in named("anthropic").read(twice).rules}
    assert "roles_alternate" not in {rule.name for rule in named("vertex").read(twice).rules}


def test_the_words_of_the_system_become_a_users_message():
    assert named("anthropic").compose("system", "x") == {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            {"role": "user", "content": 5},
            r"messages\[0\]\.content: an int does not belong here; give text or a list of",
        ),
        (
            {"role": "user", "content": [5]},
            r"messages\[0\]\.content\[0\]: an int does not belong here; give an object",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": ["x"]}]},
            r"messages\[0\]\.content\[0\]\.text: a list does not belong here; give text",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
            r'messages\[0\]\.content\[0\]: the tool_result block has no "tool_use_id"; a '
            r"call and its result name",
        ),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": 5}],
            },
            r"messages\[0\]\.content\[0\]\.content: an int does not belong here",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]},
            r'messages\[0\]\.content\[0\]: the tool_use block has no "id"',
        ),
        (
            {"role": "user", "content": [{"type": "image", "source": "x"}]},
            r"messages\[0\]\.content\[0\]\.source: a str does not belong here",
        ),
        (
            {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
            r"messages\[0\]\.tool_calls: the Messages API has no such field; convert the "
            r"messages first",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(message, error):
    with pytest.raises(FormatError, match=error):
        named("anthropic").read([message])


def test_a_wrong_system_prompt_is_named():
    with pytest.raises(FormatError, match=r"^body\.system: an int does not belong here"):
        named("anthropic").read({"system": 5, "messages": []})


def test_a_block_whose_type_is_no_text_is_carried_along():
    (message,) = (
        named("anthropic").read([{"role": "user", "content": [{"type": ["odd"]}]}]).messages
    )
    assert message.parts == (Opaque('{"type":["odd"]}'),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "unheard_of"},
        {"text": "without a type"},
    ],
)
def test_a_message_of_the_system_has_text_alone(block):
    user = {"role": "user", "content": "Hi."}
    (found,) = holdfast.validate([user, {"role": "system", "content": [block]}, user], "anthropic")
    assert (found.rule, found.index) == ("as_published", 1)
    said = {
        "role": "system",
        "content": [{"type": "text", "text": "Be brief."}],
        "clear_at": "never",
    }
    assert holdfast.validate([user, said, user], "anthropic") == []
