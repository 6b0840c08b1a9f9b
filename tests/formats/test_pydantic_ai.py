"""Messages of Pydantic AI, as objects and as JSON."""

from __future__ import annotations

import json

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

import holdfast
from holdfast.formats import detect, named
from holdfast.formats.convert import convert
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract
from tests.talks import words


def asked(*said: object, **fields: object) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(each) for each in said], **fields)


def talk(output: object = "two lines") -> list:
    calls = [ThinkingPart("Look first.", signature="c2ln"), TextPart("I look.")]
    calls += [ToolCallPart("read", {"path": "x"}, "a"), ToolCallPart("grep", '{"q":"y"}', "b")]
    found = [
        ToolReturnPart("read", output, "a"),
        ToolReturnPart("grep", "no such", "b", outcome="retried"),
    ]
    return [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("What is in it?")]),
        ModelResponse(parts=calls, model_name="gpt-4o"),
        ModelRequest(parts=found, instructions="Be kind."),
        ModelResponse(parts=[TextPart("Two lines.")]),
        asked("And then?", instructions="Be very kind."),
    ]


def as_json(messages: list) -> list:
    return json.loads(ModelMessagesTypeAdapter.dump_json(messages))


class TestPydanticAI(FormatContract):
    @pytest.fixture
    def form(self):
        return named("pydantic_ai")

    @pytest.fixture
    def messages(self):
        return as_json(talk())

    def test_a_message_that_is_one_text_is_known_without_reading_its_parts(self, form):
        (message,) = form.read([asked("hello")]).messages
        assert message.plain == "hello"
        assert "parts" not in vars(message)
        assert [part.text for part in message.parts] == ["hello"]

    def test_tool_schemas_are_counted_beside_the_messages(self, form):
        schema = {"name": "read", "parameters_json_schema": {"type": "object"}}
        told = form.read(talk(), [schema]).envelope
        assert [part.text for part in told[:1]] == ["Be very kind."]
        assert json.loads(told[1].text) == schema


@pytest.mark.parametrize("written", [lambda messages: messages, as_json], ids=["objects", "json"])
def test_each_part_is_what_it_says(written):
    told = written(talk({"rows": 2}))
    assert detect(told).name == "pydantic_ai"
    messages = named("pydantic_ai").read(told).messages
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert messages[0].parts == (Text("Be brief."), Text("What is in it?"))
    assert messages[1].parts == (
        Reasoning("Look first.", signed=True),
        Text("I look."),
        ToolCall("a", "read", '{"path":"x"}'),
        ToolCall("b", "grep", '{"q":"y"}'),
    )
    assert messages[2].parts[0] == ToolResult("a", '{"rows":2}')
    assert messages[2].parts[1].is_error
    assert all(message.original is each for message, each in zip(messages, told, strict=True))


def test_what_a_user_shows_are_parts_beside_what_is_said():
    image = BinaryContent(b"\x89PNG", media_type="image/png")
    shown = ["Look:", image, ImageUrl("https://x/y.png"), TextContent("a note")]
    for told in ([asked(shown)], as_json([asked(shown)])):
        (message,) = named("pydantic_ai").read(told).messages
        assert message.parts[0] == Text("Look:")
        assert [part.kind for part in message.parts[1:3] if isinstance(part, Media)] == [
            "image"
        ] * 2
        assert message.parts[1].source == "iVBORw=="
        assert message.parts[3] == Text("a note")


def test_what_is_not_touched_is_the_very_same_object_and_so_are_the_parts_beside_it():
    messages = talk(words(4_000))
    done = holdfast.compress(messages, 500)
    assert (done.format, done.budget_met) == ("pydantic_ai", True)
    assert all(isinstance(message, ModelRequest | ModelResponse) for message in done.messages)
    assert done.messages[0] is messages[0]
    assert all(now is was for now, was in zip(holdfast.restore(done), messages, strict=True))
    changed = named("pydantic_ai").read(messages).messages[2].saying({0: "less"}).original
    assert changed.parts[0].content == "less"
    assert changed.parts[0].timestamp == messages[2].parts[0].timestamp
    assert changed.parts[1] is messages[2].parts[1]
    assert changed.instructions == "Be kind."


def test_a_request_with_words_of_the_system_stays_whatever_the_budget():
    long = [talk()[0], *[asked(words(300)) for _ in range(30)], talk()[-1]]
    done = holdfast.compress(long, 600, strategy="trim")
    assert done.messages[0] is long[0]


@pytest.mark.parametrize("profile", ["balanced", "fast", "four_step"])
def test_the_newest_instructions_stay_those_that_are_sent(profile):
    messages = [
        asked(words(300), instructions="Old."),
        ModelResponse(parts=[TextPart(words(300))]),
        asked(words(300), instructions="New."),
        ModelResponse(parts=[TextPart(words(300))]),
        asked("Go on."),
    ]
    done = holdfast.compress(messages, 500, profile=profile)
    kept = [message.instructions for message in done.messages if message.kind == "request"]
    assert list(filter(None, kept))[-1] == "New."
    assert done.tokens == holdfast.count(done.messages).total < 2_400


def test_only_the_newest_instructions_are_counted():
    first, last = asked("x", instructions=words(500)), asked("y", instructions="Be kind.")
    assert holdfast.count([first, last]).total < 100
    assert holdfast.count([last, first]).total > 500


def test_a_call_without_its_result_is_repaired_with_objects():
    assert "tool_exchange_whole" in {each.rule for each in holdfast.validate(talk()[:2])}
    mended = holdfast.repair(talk()[:2]).messages
    assert [part.tool_name for part in mended[-1].parts] == ["read", "grep"]
    assert isinstance(mended[-1], ModelRequest)


def test_calls_of_the_same_id_get_another_one_with_their_results():
    part = ToolCallPart("read", {}, "a")
    twice = [asked("x"), ModelResponse(parts=[part, part])]
    twice.append(ModelRequest(parts=[ToolReturnPart("read", each, "a") for each in ("1", "2")]))
    mended = holdfast.repair(twice).messages
    assert [part.tool_call_id for part in mended[1].parts] == ["a", "a_2"]
    assert [part.tool_call_id for part in mended[2].parts] == ["a", "a_2"]


def test_the_words_of_the_system_become_the_system_prompt_elsewhere():
    body = convert(talk(), "anthropic")
    assert body["system"] == "Be very kind.\n\nBe brief."
    assert body["messages"][0] == {"role": "user", "content": "What is in it?"}
    assert body["messages"][2]["content"][1]["is_error"]


def test_what_was_converted_is_taken_by_the_package_itself():
    body = convert(convert(talk(), "openai_chat"), "pydantic_ai")
    messages = ModelMessagesTypeAdapter.validate_python(body["messages"])
    assert [type(message) for message in messages] == [ModelRequest, *map(type, talk())]
    assert messages[2].parts[1].args == {"path": "x"}
    assert messages[3].parts[0].tool_name == "read"


def test_unknown_parts_and_the_calls_of_a_vendor_are_carried_along():
    strange = {"kind": "response", "parts": [{"part_kind": "hologram", "depth": 3, "hue": None}]}
    (message,) = named("pydantic_ai").read([strange]).messages
    assert message.parts == (Opaque('{"part_kind":"hologram","depth":3}'),)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"kind": "reply"}, r"messages\[1\]: this is not a message of Pydantic AI"),
        (
            {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "f"}]},
            r'messages\[1\].parts\[0\]: the tool-call has no "tool_call_id"',
        ),
        (
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": 5}]},
            r"messages\[1\].parts\[0\].content: an int does not belong here",
        ),
        (
            {"kind": "request", "parts": [None]},
            r"messages\[1\].parts\[0\]: null does not belong here; give an object",
        ),
        (
            {"kind": "response", "parts": ["hi"]},
            r"messages\[1\].parts\[0\]: a str does not belong here; give an object",
        ),
        (
            {"kind": "request", "parts": [], "instructions": ["a"]},
            r"messages\[1\].instructions: a list does not belong here; give text",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place(message, line):
    with pytest.raises(FormatError, match=line):
        holdfast.count([*as_json([asked("x")]), message], format="pydantic_ai")


def test_data_that_is_no_text_is_no_medium():
    shown = {"kind": "binary", "data": 5, "media_type": "image/png"}
    message = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": [shown]}]}
    (part,) = named("pydantic_ai").read([message]).messages[0].parts
    assert part == Opaque('{"kind":"binary","data":5,"media_type":"image/png"}')
