"""What the packages of vendors answer with is read as it stands in a history."""

from __future__ import annotations

import json
from collections import UserDict

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import TextBlock
from google.genai.types import Content
from langchain_core.messages import AIMessage, HumanMessage
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

import holdfast
from holdfast.compressors.prune import Prune
from holdfast.formats import named
from holdfast.formats.payloads import as_sent
from holdfast.kernel.errors import FormatError
from tests.talks import words

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
GO = {"role": "user", "content": "go"}
OUTPUT = {"role": "tool", "tool_call_id": "c1", "content": words(900)}
CALLING = ChatCompletionMessage.model_validate(
    {"role": "assistant", "content": None, "tool_calls": [CALL]}
)
BLOCKS = [
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "text", "text": "hi"},
    {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
]
REPLY = AnthropicMessage.model_validate(
    {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": BLOCKS}
    | {
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
)
RESULT = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "content": [TextBlock(type="text", text=words(900))],
}


@pytest.mark.parametrize(
    "calling", [CALLING, {"role": "assistant", "tool_calls": CALLING.tool_calls}]
)
def test_a_message_of_openai_and_its_tool_calls_are_read_as_they_are_appended(calling):
    messages = [GO, calling, OUTPUT, GO]
    done = holdfast.compress(messages, 300)
    assert (done.format, done.budget_met) == ("openai_chat", True)
    assert holdfast.validate(messages) == []
    assert holdfast.count(messages).total == done.metrics.tokens_before > 900
    assert holdfast.restore(done)[1]["tool_calls"] == [CALL]
    assert holdfast.restore(done)[2] is OUTPUT


@pytest.mark.parametrize(
    "wrap", [list, tuple, lambda messages: {"model": "claude", "messages": messages}]
)
def test_the_blocks_of_anthropic_are_read_as_they_are_appended(wrap):
    payload = wrap(
        [GO, {"role": "assistant", "content": REPLY.content}, {"role": "user", "content": [RESULT]}]
    )
    done = holdfast.compress(payload, 300)
    assert (done.format, done.budget_met) == ("anthropic", True)
    assert type(done.messages) is type(payload)
    restored = holdfast.restore(holdfast.CompressionResult.from_json(done.to_json()))
    messages = restored["messages"] if isinstance(restored, dict) else restored
    assert messages[1]["content"] == BLOCKS
    assert holdfast.validate(payload) == []
    assert holdfast.repair(payload).reason == "valid"


def test_of_a_whole_answer_of_anthropic_what_the_api_takes_back_is_kept():
    messages = [GO, REPLY, {"role": "user", "content": [RESULT]}]
    answer = {"role": "assistant", "content": BLOCKS}
    assert holdfast.compress(messages, 5_000).messages[1] == answer
    assert holdfast.restore(holdfast.compress(messages, 300))[1] == answer


SAID = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I read it.", "annotations": []}],
}
CALLED = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{}"}
ITEMS = [
    GO,
    ResponseOutputMessage.model_validate(SAID),
    ResponseFunctionToolCall.model_validate(CALLED),
    {"type": "function_call_output", "call_id": "c1", "output": words(900)},
]
TURNS = [
    {"role": "user", "parts": [{"text": "go"}]},
    {"role": "model", "parts": [{"function_call": {"name": "read", "args": {}}}]},
    {
        "role": "user",
        "parts": [{"function_response": {"name": "read", "response": {"result": ""}}}],
    },
]
CONTENTS = [Content.model_validate(turn) for turn in TURNS]
WITH_PARTS = [{"role": turn.role, "parts": turn.parts} for turn in CONTENTS]


def test_a_message_of_the_responses_api_keeps_its_id_type_and_status():
    done = holdfast.compress(ITEMS, 300)
    assert (done.format, done.budget_met) == ("openai_responses", True)
    assert holdfast.restore(done)[1:3] == [SAID, CALLED]
    assert as_sent(ITEMS)[1] == SAID


@pytest.mark.parametrize(
    ("field", "given", "sent"),
    [
        ("input", ITEMS, [ITEMS[0], SAID, CALLED, ITEMS[3]]),
        ("contents", CONTENTS, TURNS),
        ("contents", WITH_PARTS, TURNS),
    ],
)
def test_objects_are_read_in_the_body_of_every_api(field, given, sent):
    done = holdfast.compress({"model": "m", field: given}, 5_000)
    assert done.messages == {"model": "m", field: sent}
    assert holdfast.compress(given, 5_000).messages == sent


def test_outputs_give_way_in_a_list_that_holds_such_objects_and_these_stay():
    messages = [GO, CALLING, OUTPUT, {"role": "assistant", "content": "ok"}, GO, GO, GO]
    prune = Prune(protect_tokens=0, minimum_tokens=0, min_user_turns=1)
    done = holdfast.prune_old_tool_outputs(messages, prune=prune)
    assert (messages[1], messages[2] is OUTPUT, done.reclaimed > 800) == (CALLING, False, True)
    assert done.undo()[2] is OUTPUT


def test_what_has_no_such_object_is_the_very_same():
    for payload in ([GO, OUTPUT], (GO,), {"messages": [GO]}, [UserDict(GO)], "text", None, [3]):
        assert as_sent(payload) is payload


class Greeting:
    """An object that dumps itself, and is not a message of a known form."""

    def model_dump(self, *, mode, exclude_unset):
        return {"content": f"hi, as {mode}, {exclude_unset}"}


def test_an_object_that_is_no_message_is_refused_by_its_own_name():
    with pytest.raises(
        FormatError, match=r"^messages\[1\]: a Greeting is not a message; give a dictionary with"
    ):
        holdfast.compress([GO, Greeting()], 100)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            {"type": "function_call_output", "call_id": "a", "output": "x"},
            "this is an item of OpenAI's Responses API",
        ),
        (
            {"type": "human", "content": "hi"},
            "this is a message of LangChain; leave the format out, or name langchain",
        ),
        (
            {"role": "user", "parts": [{"text": "hi"}]},
            'has "parts" and no "content"; put its text into',
        ),
    ],
)
def test_messages_of_other_forms_are_called_by_their_name_and_not_counted_as_nothing(message, line):
    with pytest.raises(FormatError) as caught:
        holdfast.count([GO, message], format="openai_chat")
    assert str(caught.value).startswith("messages[1]")
    assert line in str(caught.value)


@pytest.mark.parametrize("reply", [REPLY, CALLING])
def test_a_session_keeps_such_objects_as_what_is_sent(reply):
    with holdfast.Session("t") as session:
        session.append(GO, reply)
        assert session.restore() == as_sent([GO, reply])
        session.edit(1, {"role": "assistant", "content": "never mind"})
        session.edit(1, reply)
        assert session.messages() == as_sent([GO, reply])


@pytest.mark.parametrize(
    ("said", "answer", "wire"),
    [
        (HumanMessage("Which port?"), AIMessage("8443."), "langchain"),
        (
            ModelRequest(parts=[UserPromptPart("Which port?")]),
            ModelResponse(parts=[TextPart("8443.")]),
            "pydantic_ai",
        ),
    ],
)
def test_a_session_keeps_the_messages_of_frameworks_as_their_json(said, answer, wire):
    with holdfast.Session("t", budget=1_000) as session:
        session.append(said, answer)
        messages = session.fit().messages
        assert json.loads(json.dumps(messages)) == session.restore()
    read = named(wire).read(messages).messages
    assert [each.content_text for each in read] == ["Which port?", "8443."]
    assert [each.role for each in read] == ["user", "assistant"]
