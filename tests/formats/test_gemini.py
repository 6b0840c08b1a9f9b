from __future__ import annotations

import pytest
from google.genai.types import Blob, Content, FunctionCall, FunctionResponse, Part

import holdfast
from holdfast.formats import detect, named
from holdfast.kernel.errors import FormatError
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.contracts.format_contract import FormatContract


def user(text: str) -> dict:
    return {"role": "user", "parts": [{"text": text}]}


def calling(*names: str) -> dict:
    return {"role": "model", "parts": [{"functionCall": {"name": n, "args": {}}} for n in names]}


def answering(*names: str) -> dict:
    response = {"result": "two lines"}
    parts = [{"functionResponse": {"name": n, "response": response}} for n in names]
    return {"role": "user", "parts": parts}


class TestGemini(FormatContract):
    @pytest.fixture
    def form(self):
        return named("google")

    @pytest.fixture
    def messages(self):
        return [
            {
                "role": "user",
                "parts": [
                    {"text": "What is this?"},
                    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                    {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://x/y.pdf"}},
                    {"hologram": {"depth": 12345678901234567890}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "Look first.", "thought": True, "thoughtSignature": "c2ln"},
                    {"text": "I look."},
                    {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}},
                    {"function_call": {"name": "grep", "args": {"q": "y"}}},
                    {"functionCall": {"name": "grep", "args": {"q": "z"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "a", "name": "read", "response": {"output": "x"}}},
                    {"function_response": {"name": "grep", "response": {"hits": 3, "ms": 4}}},
                    {"functionResponse": {"name": "grep", "response": {"error": "no such"}}},
                ],
            },
            {"role": "model", "parts": [{"text": "A cat."}]},
        ]

    @pytest.fixture
    def body(self, messages):
        return {"contents": messages, "generationConfig": {"temperature": 0}}

    def test_each_part_is_what_it_says(self, form, messages):
        parts = [message.parts for message in form.read(messages).messages]
        assert parts[0] == (
            Text("What is this?"),
            Media("image", "image/png", "AAAA"),
            Media("document", "application/pdf", "gs://x/y.pdf"),
            Opaque('{"hologram":{"depth":12345678901234567890}}'),
        )
        assert parts[1] == (
            Reasoning("Look first.", signed=True),
            Text("I look."),
            ToolCall("a", "read", '{"path":"x"}'),
            ToolCall("function:grep", "grep", '{"q":"y"}'),
            ToolCall("function:grep#2", "grep", '{"q":"z"}'),
        )
        assert parts[2] == (
            ToolResult("a", "x"),
            ToolResult("function:grep", '{"hits":3,"ms":4}'),
            ToolResult("function:grep#2", "no such", is_error=True),
        )

    def test_a_message_that_is_one_text_is_known_without_reading_its_parts(self, form):
        (message,) = form.read([user("hello")]).messages
        assert message.plain == "hello"
        assert "parts" not in vars(message)
        assert [part.text for part in message.parts] == ["hello"]

    def test_calls_and_their_responses_are_one_unit(self, form, messages):
        assert range(1, 3) in form.read(messages).units


def test_the_system_instruction_and_the_tools_of_a_body_are_counted_beside_the_contents():
    declared = {"name": "read", "parameters_json_schema": {"type": "object"}}
    tools = [{"function_declarations": [declared]}]
    for system in ("Be brief.", {"parts": [{"text": "Be brief."}]}):
        for field in ("systemInstruction", "system_instruction"):
            body = {"contents": [user("hi")], field: system, "tools": tools}
            assert [part.text for part in named("gemini").read(body).envelope] == [
                "Be brief.",
                '{"function_declarations":[{"name":"read","parameters_json_schema":{"type'
                '":"object"}}]}',
            ]


def test_a_response_of_one_text_stays_in_its_field_and_any_other_becomes_an_object():
    kept, whole = (
        named("gemini")
        .read(
            [answering("f"), {"parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}]
        )
        .messages
    )
    assert kept.saying({0: "less"}).original["parts"][0]["functionResponse"]["response"] == {
        "result": "less"
    }
    changed = whole.saying({0: "less"})
    assert changed.original["parts"][0]["functionResponse"]["response"] == {"text": "less"}
    assert changed.parts == (ToolResult("function:f", "less"),)


def test_a_run_of_calls_is_fitted_and_comes_back():
    contents = [user("Fix it.")]
    for n in range(30):
        output = "\n".join(f"{line}: step {n} has value {line * 7919 + n}" for line in range(40))
        answer = {"functionResponse": {"name": "sh", "response": {"output": output}}}
        contents += [calling("sh"), {"role": "user", "parts": [answer]}]
    body = {"contents": [*contents, user("What was the value?")]}
    result = holdfast.compress(body, 4_000)
    assert result.budget_met
    assert holdfast.validate(result.messages) == []
    assert holdfast.restore(result) == body


@pytest.mark.parametrize("form", [{"type": "text", "text": "hi"}])
def test_parts_of_other_wires_do_not_tell_this_one(form):
    assert detect([{"role": "user", "content": "", "parts": [form]}]).name != "gemini"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"role": "user", "parts": 5}, r"contents\[0\]\.parts: an int does not belong here"),
        ({"role": "user", "parts": [{"text": 5}]}, r"contents\[0\]\.parts\[0\]\.text: an int"),
        (
            {"role": "model", "parts": [{"functionCall": "x"}]},
            r"contents\[0\]\.parts\[0\]\.functionCall: a str does not belong here; give an object",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(content, error):
    with pytest.raises(FormatError, match=error):
        named("gemini").read([content])


def test_parts_that_are_a_text_are_read_as_one_text():
    told = {"role": "user", "parts": "The order waits. " * 200}
    whole = holdfast.count([told], format="gemini").total
    assert whole == holdfast.count([user(told["parts"])], format="gemini").total
    done = holdfast.compress([told], 100, format="gemini")
    assert done.budget_met
    assert done.restore() == [told]
    session = holdfast.Session("t", budget=100, format="gemini")
    session.append(told)
    assert session.fit().budget_met
    assert session.restore() == [told]


def test_a_stream_may_end_with_a_part_that_has_a_signature_and_no_text():
    signed = {"text": "", "thoughtSignature": "c2lnbmVk"}
    contents = [
        {"role": "user", "parts": [{"text": "Which port?"}]},
        {"role": "model", "parts": [{"text": "8443."}, signed]},
        {"role": "user", "parts": [{"text": "And the host?"}]},
    ]
    assert holdfast.validate(contents, provider="gemini") == []
    session = holdfast.Session("t", format="gemini", budget=1_000)
    session.append(*contents)
    assert session.fit().messages == contents
    contents[1]["parts"] = [{"text": "8443."}, {"text": ""}]
    assert [each.rule for each in holdfast.validate(contents)] == ["message_not_empty"]


def test_what_googles_package_dumps_is_read_although_unset_fields_are_null_and_data_is_bytes():
    image = Part(inline_data=Blob(mime_type="image/png", data=b"\0\0\0"))
    call, response = FunctionCall(name="f", args={}), FunctionResponse(name="f", response={})
    messages = [
        Content(role="user", parts=[Part(text="go"), image]).model_dump(),
        Content(role="model", parts=[Part(function_call=call)]).model_dump(),
        Content(role="user", parts=[Part(function_response=response)]).model_dump(),
    ]
    assert [part for m in messages for part in named("gemini").parts(m)] == [
        Text("go"),
        Media("image", "image/png", "AAAA"),
        ToolCall("function:f", "f", "{}"),
        ToolResult("function:f", "{}"),
    ]
    assert holdfast.validate(messages) == []
    assert holdfast.validate(messages[:2])[0].rule == "tool_exchange_whole"
