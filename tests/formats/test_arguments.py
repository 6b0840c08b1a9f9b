"""The arguments of calls, as clients write them."""

import pytest

from holdfast.formats import named
from holdfast.kernel.errors import FormatError

OBJECTS = {
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
}
TEXTS = {
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


@pytest.mark.parametrize("form", OBJECTS)
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
def test_where_the_api_takes_an_object_any_value_is_counted(form, given, told):
    assert read(form, OBJECTS[form](given)) == told


@pytest.mark.parametrize("form", TEXTS)
def test_where_the_api_takes_text_an_object_is_taken_too(form):
    assert read(form, TEXTS[form]('{"a": 1}')) == '{"a": 1}'
    assert read(form, TEXTS[form]({"a": 1})) == '{"a":1}'


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("given", [[1], [], 5, True])
def test_where_the_api_takes_text_other_values_are_refused_with_their_place(form, given):
    with pytest.raises(FormatError, match=r"\.arguments: .* does not belong here; give text"):
        read(form, TEXTS[form](given))
