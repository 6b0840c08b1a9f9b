"""What the vendors' own types say of a message: each kind of refusal, and nothing about what is
taken.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

import holdfast.formats
from holdfast.result import restore
from holdfast.validity import repair, validate

from .messages import assistant, calling, result, text, thought, tool, use, user

IMAGE = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
CACHED = {"cache_control": {"type": "ephemeral"}}
ASK = user("a")


def call(call_id="a", **changed):
    function = {"name": "read", "arguments": "{}"} | changed.pop("function", {})
    return {"id": call_id, "type": "function", "function": function} | changed


def exchange(*calls):
    return [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": list(calls)},
        *(tool(c["id"]) for c in calls),
    ]


UNTYPED = {key: value for key, value in call().items() if key != "type"}
NO_ARGUMENTS = {"id": "a", "type": "function", "function": {"name": "read"}}
MANY = [call(f"c{i}") for i in range(129)]

OPENAI = {
    "an image in a result": ([*exchange(call())[:2], {**tool("a"), "content": [IMAGE]}], False),
    "an image of the system": ([{"role": "system", "content": [IMAGE]}, ASK], False),
    "an image of the assistant": ([ASK, assistant(IMAGE)], False),
    "more than 128 calls": (exchange(*MANY), False),
    "a function with a space": (exchange(call(function={"name": "read file"})), False),
    "a function of 65 characters": (exchange(call(function={"name": "x" * 65})), False),
    "a speaker with a space": ([{**ASK, "name": "Alice B"}], False),
    "a speaker of 65 characters": ([{**ASK, "name": "x" * 65}], False),
    "an id of 41 characters": (exchange(call("x" * 41)), True),
    "a call without type": (exchange(UNTYPED), True),
    "a call without arguments": (exchange(NO_ARGUMENTS), True),
    "a call whose type is null": (exchange({**call(), "type": None}), True),
    "a call whose arguments are null": (exchange(call(function={"arguments": None})), True),
    "a function whose name is null": (exchange(call(function={"name": None})), False),
    "a text that is null": ([user({"type": "text", "text": None})], False),
    "arguments that are an object": (exchange(call(function={"arguments": {"path": "x"}})), True),
    "an empty list of parts": ([user()], True),
    "a part without type": ([user({"text": "b"})], True),
    "a part of the Responses API": ([user({"type": "input_text", "text": "b"})], True),
    "a field that does not exist": ([{**ASK, "metadata": {"id": 1}}], True),
    "a field of a part that does not exist": ([user({**text("b"), "lang": "en"})], True),
}
ANTHROPIC = {
    "an image of the assistant": ([ASK, assistant(PICTURE)], False),
    "thinking of the user": ([user(thought(), "b")], True),
    "a call of the user": ([user(use("a"))], False),
    "a call of the vendor's tools by the user": ([user(SEARCH)], False),
    "a result of the assistant": ([ASK, assistant(use("a")), assistant(result("a"), "b")], True),
    "an input that is a list": (
        [ASK, assistant({**use("a"), "input": [1]}), user(result("a"))],
        True,
    ),
    "an input that is text": (
        [ASK, assistant({**use("a"), "input": "x"}), user(result("a"))],
        True,
    ),
    "a fifth mark for the cache": ([user(*({**text(c), **CACHED} for c in "abcde"))], True),
    "a mark on thinking": ([ASK, assistant({**thought(), **CACHED}, "b")], True),
    "an image beside an error": (
        [ASK, assistant(use("a")), user({**result("a", [PICTURE]), "is_error": True})],
        False,
    ),
    "a call of the vendor's tools without a result": (
        [ASK, assistant("b", SEARCH), user("c")],
        True,
    ),
    "an empty text in a result": (
        [ASK, assistant(use("a")), user(result("a", [text(""), text("b")]))],
        True,
    ),
    "a field that does not exist": ([{**ASK, "metadata": {"id": 1}}], True),
    "a field of a block that does not exist": ([user({**text("b"), "lang": "en"})], True),
    "an answer that is null at the end": ([ASK, {"role": "assistant", "content": None}], True),
    "an answer without content at the end": ([ASK, {"role": "assistant"}], True),
    "a signature that is null": (
        [ASK, assistant({**thought(), "signature": None}, "b")],
        True,
    ),
    "a text without type": ([user({"text": "b"})], True),
    "a block without type or anything": ([ASK, assistant({}), user("c")], True),
    "a block that does not exist": ([user({"type": "hologram", "depth": 1})], True),
    "no text in the system prompt": ({"system": [text("")], "messages": [ASK]}, False),
}

GEMINI = {
    "a part with nothing in it": (
        [{"role": "user", "parts": [{"text": "a"}, {}]}],
        True,
    ),
}
SCREEN = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}
CONVERSE = {
    "an image of the assistant": (
        [user({"text": "a"}), assistant({"text": "b"}, SCREEN), user({"text": "c"})],
        True,
    ),
    "a document named after its file": (
        [user({"text": "a"}, {"document": {"name": "a_b.pdf", "source": {"text": "c"}}})],
        False,
    ),
    "a document with two spaces in its name": (
        [user({"text": "a"}, {"document": {"name": "a  b", "source": {"text": "c"}}})],
        False,
    ),
}


def cases(provider, table):
    return [pytest.param(provider, *case, id=f"{provider}: {name}") for name, case in table.items()]


@pytest.mark.parametrize(
    ("provider", "talk", "mends"),
    cases("openai", OPENAI)
    + cases("anthropic", ANTHROPIC)
    + cases("gemini", GEMINI)
    + cases("converse", CONVERSE),
)
def test_what_a_vendor_refuses_is_named_and_mended_where_only_one_thing_can_be_meant(
    provider, talk, mends
):
    assert validate(talk, provider)
    mended = repair(talk, provider)
    left = validate(mended.messages, provider)
    assert (left == []) is mends
    assert mended.reason == ("repaired" if mends else "cannot_be_mended")
    assert all(violation.problem in mended.detail for violation in left)
    assert restore(mended) == talk


SIGNED = {"google": {"thought_signature": "c2ln"}}
TAKEN = {
    "openai": [
        {"role": "system", "content": "Be brief."},
        {**ASK, "name": "Zoë"},
        {"role": "developer", "content": [text("b")]},
        user(
            text("b"), IMAGE, {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}
        ),
        {"role": "assistant", "content": "c", "refusal": None, "annotations": [], "audio": None},
        {**calling("a"), "function_call": None, "reasoning_content": "Look first."},
        {**tool("a"), "name": "read"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{**call("b"), "type": "function", "extra_content": SIGNED}],
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln"}],
        },
        {**tool("b"), "content": [text("two lines")]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ],
    "anthropic": [
        user(
            {**text("a"), **CACHED},
            PICTURE,
            {"type": "document", "title": "t", "source": {"type": "url", "url": "u"}},
        ),
        assistant(thought(), {**text("b"), "citations": None}, use("a")),
        user({**result("a", [text("c"), PICTURE]), "is_error": False}, "d"),
        assistant(
            SEARCH, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, text("e")
        ),
        user("f"),
    ],
    "converse": [
        user({"text": "a"}, SCREEN, {"document": {"name": "a (1) [b-c]", "source": {"text": "d"}}}),
    ],
}


@pytest.mark.parametrize("provider", TAKEN)
def test_nothing_is_said_of_what_the_vendor_takes(provider):
    assert validate(TAKEN[provider], provider) == []


def test_the_place_is_named_in_the_words_of_the_request():
    (violation,) = validate(
        [ASK, {**assistant("b"), "tool_calls": MANY[:1]}, {**tool("c0"), "when": "now"}]
    )
    assert (violation.index, violation.problem) == (2, "when: there is no such field")
    talk = [user({"type": "input_text", "text": "b"})]
    (violation,) = validate(talk, "openai")
    assert (
        violation.problem
        == "content[0]: 'input_text' is none of the types file, image_url, input_audio, text"
    )


def function(name: str) -> dict:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            {"tools": [function("read"), function("read file")]},
            "tools[1].function.name: 'read file' is not of the form ^[a-zA-Z0-9_-]{1,64}$",
        ),
        (
            {"tools": [function(f"read_{n}") for n in range(129)]},
            "tools: 129 of them, and 128 are the most",
        ),
        (
            {"max_tokens": 9, "tools": [{"name": "read file", "input_schema": {"type": "object"}}]},
            "tools[0].name: 'read file' is not of the form ^[a-zA-Z0-9_-]{1,128}$",
        ),
    ],
)
def test_tools_that_the_vendor_refuses_are_named_beside_the_messages(body, problem):
    (violation,) = validate({**body, "messages": [user("hello")]})
    assert (violation.index, violation.problem) == (-1, problem)


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [function(f"read_{n}") for n in range(128)]},
        {"tools": [{"type": "custom", "custom": {"name": "run"}}]},
        {"max_tokens": 9, "tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        {"tools": None},
    ],
)
def test_tools_that_the_vendor_takes_break_no_rule(body):
    assert validate({**body, "messages": [user("hello")]}) == []


def test_marks_beside_the_messages_count_and_the_newest_stay():
    tools = [{"name": "read", "input_schema": {"type": "object"}, **CACHED}]
    body = {
        "system": [{**text("s"), **CACHED}],
        "tools": tools,
        "messages": [user({**text(c), **CACHED}) for c in "abc"],
    }
    mended = repair(body).messages
    assert [
        CACHED["cache_control"] in [block.get("cache_control") for block in message["content"]]
        for message in mended["messages"]
    ] == [False, True, True]
    assert validate(mended) == []


@pytest.mark.parametrize("name", ["openai_chat", "anthropic"])
def test_the_data_say_when_and_of_what_they_were_made(name):
    file = Path(holdfast.formats.__file__).with_name(f"published_{name}.json")
    data = json.loads(file.read_text("utf-8"))
    assert dt.date.fromisoformat(data["written"]) >= dt.date(2026, 11, 22)
    assert "by tools/wire_schemas.py" in data["from"]
