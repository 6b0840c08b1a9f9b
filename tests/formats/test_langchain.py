"""Messages of LangChain, as objects and as JSON."""

from __future__ import annotations

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_to_dict,
)

import holdfast
from holdfast.formats import detect, named
from holdfast.formats.convert import convert
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract
from tests.talks import words

CALL = {"name": "read", "args": {"path": "x"}, "id": "a", "type": "tool_call"}
BLOCKS = [
    {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
]


def talk(output: str = "two lines") -> list:
    return [
        SystemMessage("Be brief."),
        HumanMessage("What is in the file?", id="h", name="ann"),
        AIMessage(BLOCKS, tool_calls=[CALL], id="i"),
        ToolMessage(output, tool_call_id="a", name="read", id="t", artifact=object()),
        AIMessage("Two lines."),
        HumanMessage("And then?"),
    ]


class TestLangChain(FormatContract):
    @pytest.fixture
    def form(self):
        return named("langchain")

    @pytest.fixture
    def messages(self):
        image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
        shown = HumanMessage(["Look:", image, {"type": "hologram", "depth": 3}])
        return [
            message.model_dump(mode="json", exclude={"artifact"}) for message in [*talk(), shown]
        ]

    def test_a_message_that_is_one_text_is_known_without_reading_its_parts(self, form):
        (message,) = form.read([HumanMessage("hello")]).messages
        assert message.plain == "hello"
        assert "parts" not in vars(message)
        assert [part.text for part in message.parts] == ["hello"]


def test_each_part_of_an_object_is_what_it_says():
    parts = [message.parts for message in named("langchain").read(talk()).messages]
    assert parts[2] == (
        Reasoning("Look first.", signed=True),
        Text("I look."),
        ToolCall("a", "read", '{"path":"x"}'),
    )
    assert parts[3] == (ToolResult("a", "two lines"),)


@pytest.mark.parametrize(
    "written",
    [lambda m: m, lambda m: messages_to_dict([m])[0], dumpd, lambda m: m.model_dump()],
    ids=["object", "messages_to_dict", "dumpd", "model_dump"],
)
def test_objects_and_all_that_is_written_of_them_say_the_same(written):
    form = named("langchain")
    told = [written(message) for message in talk()[:3]]
    assert detect(told).name == "langchain"
    for message, same in zip(form.read(told).messages, form.read(talk()).messages, strict=False):
        assert (message.role, message.parts, message.aside) == (same.role, same.parts, same.aside)
        assert message.original in told


def test_what_is_not_touched_is_the_very_same_object_and_what_is_keeps_all_else():
    messages = talk(words(4_000))
    done = holdfast.compress(messages, 600)
    assert (done.format, done.budget_met) == ("langchain", True)
    untouched = {id(message) for message in messages}
    assert sum(id(message) in untouched for message in done.messages) > 2
    assert all(isinstance(message, type(messages[0]).__mro__[1]) for message in done.messages)
    assert all(now is was for now, was in zip(holdfast.restore(done), messages, strict=True))
    (result,) = [message for message in done.messages if isinstance(message, ToolMessage)]
    assert (result.id, result.name, result.artifact) == ("t", "read", messages[3].artifact)
    assert len(result.content) < len(messages[3].content)
    calling = next(message for message in done.messages if isinstance(message, AIMessage))
    assert calling.content[0] == BLOCKS[0]


def test_a_call_that_is_shortened_keeps_the_blocks_of_the_vendor_around_it():
    form = named("langchain")
    message = form.read(talk()).messages[2].saying({1: "Less.", 2: '{"path":"y"}'}).original
    assert message.content == [BLOCKS[0], {"type": "text", "text": "Less."}, BLOCKS[2]]
    assert message.tool_calls == [{**CALL, "args": {"path": "y"}}]
    assert message.id == "i"


def test_the_system_prompt_the_tools_and_the_names_are_counted():
    schema = {"type": "function", "function": {"name": "read", "description": words(200)}}
    plain = holdfast.count(talk()).total
    assert holdfast.count(talk(), tools=[schema]).total > plain + 200
    assert holdfast.count([SystemMessage(words(300)), *talk()]).total > plain + 300


def test_an_image_is_counted_as_one_and_not_as_the_text_of_its_data():
    image = {"type": "image", "base64": "A" * 90_000, "mime_type": "image/png"}
    (message,) = named("langchain").read([HumanMessage([image])]).messages
    assert isinstance(message.parts[0], Media)
    assert message.parts[0].kind == "image"
    assert holdfast.count([HumanMessage([image])]).total < 10_000


def test_pieces_of_a_stream_and_the_roles_of_a_chat_are_read():
    told = [ChatMessage("x", role="user"), AIMessageChunk("y", tool_calls=[CALL])]
    messages = named("langchain").read(told).messages
    assert [message.role for message in messages] == ["user", "assistant"]
    assert messages[1].calls[0].id == "a"


def test_the_result_of_a_fault_stays_one_on_other_wires():
    found = [*talk()[:3], ToolMessage("no such file", tool_call_id="a", status="error")]
    block = convert(found, "anthropic")["messages"][-1]["content"][0]
    assert block["is_error"]


def test_a_call_without_its_result_is_repaired_with_objects():
    assert [each.rule for each in holdfast.validate(talk()[:3])] == ["tool_exchange_whole"]
    mended = holdfast.repair(talk()[:3]).messages
    assert isinstance(mended[-1], ToolMessage)
    assert mended[-1].tool_call_id == "a"


def test_secrets_are_masked_in_objects_and_in_what_has_left():
    key = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    messages = [HumanMessage("Go on."), AIMessage("I read."), *talk(f"key={key} " + words(3_000))]
    messages.insert(2, AIMessage("Noted.", additional_kwargs={"raw": key}))
    done = holdfast.compress(messages, 400, redact=True)
    assert done.redacted
    assert key not in str(done.messages) + str(holdfast.restore(done))


def test_what_was_converted_is_taken_by_the_package_itself():
    request = convert(talk(), "anthropic")
    back = convert(request, "langchain")
    messages = convert_to_messages(back["messages"])
    assert [type(message) for message in messages] == [type(message) for message in talk()]
    assert messages[2].tool_calls == [CALL]


def test_a_result_without_the_id_of_its_call_is_refused_by_its_place():
    with pytest.raises(FormatError, match=r'messages\[1\]: the tool result has no "tool_call_id"'):
        holdfast.count([HumanMessage("x"), {"type": "tool", "content": "y"}])


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        (["x"], r"^messages\[1\].tool_calls\[0\]: a str does not belong here; give an object$"),
        (5, r"^messages\[1\].tool_calls: an int does not belong here; give a list of objects$"),
        ([{"id": "a", "name": ["f"]}], r"function.name: a list does not belong here; give text$"),
    ],
)
def test_calls_that_are_none_are_refused_by_their_place(calls, line):
    messages = [{"type": "human", "content": "x"}, {"type": "ai", "content": "y"}]
    messages[1]["tool_calls"] = calls
    for read in (holdfast.count, holdfast.validate, holdfast.repair):
        with pytest.raises(FormatError, match=line):
            read(messages)
    with holdfast.Session("t") as session, pytest.raises(FormatError, match=line):
        session.append(*messages)


def test_a_block_whose_type_is_no_text_is_carried_along():
    said = {"type": "human", "content": [{"type": ["x"]}]}
    assert named("langchain").read([said]).messages[0].original is said
