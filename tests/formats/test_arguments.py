"""The arguments of calls, as clients write them."""

import pytest

from holdfast.formats import named

FORMS = {
    "anthropic": lambda given: {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": given}],
    },
    "converse": lambda given: {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": given}}],
    },
    "gemini": lambda given: {
        "role": "model",
        "parts": [{"functionCall": {"name": "ls", "args": given}}],
    },
    "pydantic_ai": lambda given: {
        "kind": "response",
        "parts": [
            {"part_kind": "tool-call", "tool_call_id": "c1", "tool_name": "ls", "args": given}
        ],
    },
    "openai_chat": lambda given: {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": given}}
        ],
    },
    "openai_responses": lambda given: {
        "type": "function_call",
        "call_id": "c1",
        "name": "ls",
        "arguments": given,
    },
}


def read(form, message):
    return named(form).read([message]).messages[0].calls[0].arguments


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"a": 1}, '{"a":1}'),
        (None, "{}"),
        ([], "{}"),
        ("", "{}"),
        (5, "5"),
        (True, "true"),
        ([1], "[1]"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_whatever_is_given_is_counted(form, given, told):
    assert read(form, FORMS[form](given)) == told
