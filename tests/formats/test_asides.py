"""Whatever text a request carries is counted: a count fails upwards."""

from __future__ import annotations

import copy

import pytest

import holdfast
from holdfast import Budget, compress, count
from holdfast.formats import named
from holdfast.formats.rules.published import published
from holdfast.kernel.errors import FormatError
from holdfast.kernel.transcript import Publishing

WORDS = "one two three four " * 250
FREE = {"url", "image_url", "data", "file_data", "signature", "cited_text"}
"""What ``formats.wire`` names with its reasons; of citations nothing counts."""

EXAMPLE = [
    ("system", "",
     "You are a helpful, pattern-following assistant that translates corporate jargon "
        "into plain English."),
    ("system", "example_user", "New synergies will help drive top-line growth."),
    ("system", "example_assistant", "Things working well together will increase revenue."),
    ("system", "example_user",
     "Let's circle back when we have more bandwidth to touch base on opportunities for "
        "increased leverage."),
    ("system", "example_assistant",
     "Let's talk later when we're less busy about how to do better."),
    ("user", "", "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable."),
]  # fmt: skip
"""OpenAI's cookbook, How to count tokens with tiktoken: gpt-4o counts 124."""


def test_names_count_as_in_the_vendors_own_example():
    talk = [{"role": r, "content": c} | ({"name": n} if n else {}) for r, n, c in EXAMPLE]
    assert (
        124 <= count(talk, model="gpt-4o").total <= 124 + 7 + 6
    )  # ours are 10 a conversation for 3, 4 for 3


@pytest.mark.parametrize("form", ["openai_chat", "plain", "anthropic"])
def test_a_name_is_counted_on_every_wire(form):
    bare = [{"role": "user", "content": "hello"}] * 400
    named_ = [{**message, "name": f"{WORDS[:90]}{i}"} for i, message in enumerate(bare)]
    assert count(named_, format=form).total > count(bare, format=form).total + 400 * 18
    result = compress(named_, 3_000, format=form)
    assert result.budget_met
    assert count(result.messages, format=form).total <= 3_000


def values(schema, definitions, field=""):
    """Every way to fill the schema with the least, each with the paths of its strings."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"]]
    for each in schema.get("anyOf", ()):
        yield from values(each, definitions, field)
    if "const" in schema or "enum" in schema:
        yield schema.get("const") or schema["enum"][0], []
    elif schema.get("type") == "string":
        yield "word", [()]
    elif schema.get("type") == "array":
        for value, paths in values(schema["items"], definitions, field):
            yield [value], [(0, *path) for path in paths]
    elif "properties" in schema:
        fields = schema["properties"]
        least = {
            name: next(values(fields[name], definitions, name), ({}, []))[0]
            for name in schema.get("required", ())
        }
        for name, inner in fields.items():
            for value, paths in values(inner, definitions, name):
                yield {**least, name: value}, [(name, *path) for path in paths]


def filled():
    for wire in ("openai_chat", "anthropic"):
        schema = published(wire)
        for role, message in schema.roles.items():
            for value, paths in values(message, schema.definitions):
                for path in paths:
                    yield pytest.param(
                        wire, {**value, "role": role}, path, id=f"{wire} {role} {path}"
                    )


def put(value, path, text):
    if not path:
        return text
    return (
        {**value, path[0]: put(value[path[0]], path[1:], text)}
        if isinstance(value, dict)
        else [put(value[0], path[1:], text)]
    )


CASES = list(filled())


def test_the_published_types_have_many_places_for_text():
    assert len(CASES) > 90


@pytest.mark.parametrize(("wire", "message", "path"), CASES)
def test_a_thousand_words_in_any_field_of_the_vendors_types_raise_the_count(wire, message, path):
    asked = {"role": "user", "content": "hello"}
    try:
        after = count([asked, put(message, path, WORDS)], format=wire).total
    except FormatError:
        return  # refused, and not counted as nothing
    free = path[-1] in FREE or "citations" in path
    assert free or after > 900


def test_the_text_of_a_document_beside_its_source_is_counted():
    source = {"type": "url", "url": "https://x/y.pdf"}
    bare = [{"role": "user", "content": [{"type": "document", "source": source}]}]
    told = copy.deepcopy(bare)
    told[0]["content"][0] |= {"title": WORDS, "context": WORDS}
    assert count(told).total > count(bare).total + 1_900
    within = [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": told[0]["content"]}],
        }
    ]
    assert count(within).total > 1_900


@pytest.mark.parametrize(
    "field",
    ["response_format", "output_config", "output_format", "tools", "instructions", "system"],
)
@pytest.mark.parametrize("form", ["openai_chat", "anthropic", "plain"])
def test_what_a_body_says_beside_its_messages_is_counted(form, field):
    body = {
        "messages": [{"role": "user", "content": "hello"}],
        "model": "m",
        "temperature": 1,
        "metadata": {"a": "b"},
    }
    bare = count(body["messages"], format=form).total
    assert count(body, format=form).total == bare
    said = {"schema": {"description": WORDS}}
    given = {"tools": [said], "system": WORDS}
    assert count({**body, field: given.get(field, said)}, format=form).total > bare + 900


@pytest.mark.parametrize("form", ["openai_chat", "anthropic", "plain"])
def test_the_name_of_a_field_that_nobody_knows_is_counted(form):
    for asked in (
        {"role": "user", "content": "x", WORDS: "y"},
        {"role": "user", "content": "x", "extra": {WORDS: 1}},
    ):
        assert count([asked], format=form).total > 900


@pytest.mark.parametrize("field", ["text", "message", "parts", "output"])
@pytest.mark.parametrize("form", ["openai_chat", "anthropic", "bedrock"])
def test_a_message_that_says_something_in_place_of_its_content_is_refused(form, field):
    with pytest.raises(
        FormatError, match=rf'messages\[1\]: the message has "{field}" and no "content"; put its'
    ):
        count([{"role": "user", "content": "a"}, {"role": "user", field: ["hello"]}], format=form)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "text", "text": "hello"}, "exact"),
        ({"type": "image_url", "image_url": {"url": "https://x/y.png"}}, "approximate"),
        ({"type": "file", "file": {"file_id": "f"}}, "approximate"),
    ],
)
def test_exact_is_said_of_texts_alone(part, kind):
    talk = [{"role": "user", "content": [part]}]
    assert count(talk, model="gpt-4o", format="openai").accuracy.kind == kind
    assert (
        compress(talk, Budget(limit=10**6), model="gpt-4o", format="openai").accuracy.kind == kind
    )
    schemas = [{"type": "function", "function": {"name": "read"}}]
    assert (
        count(talk, model="gpt-4o", format="openai", tools=schemas).accuracy.kind == "approximate"
    )


@pytest.mark.parametrize(
    "call",
    [
        {"id": "a", "type": "function", "function": {"name": "read", "args": WORDS}},
        {
            "id": "a",
            "type": "function",
            "function": {"name": "read", "arguments": "{}", "note": WORDS},
        },
        {"id": "a", "note": WORDS, "function": {"name": "read", "arguments": "{}"}},
        {"id": WORDS, "type": "function", "function": {"name": "read", "arguments": "{}"}},
        {"id": "a", "type": "custom", "custom": {"name": "read", "input": "x", "note": WORDS}},
    ],
)
def test_whatever_a_call_says_is_counted(call):
    talk = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    assert count(talk).total > 900


def test_the_role_of_geminis_model_is_the_assistants():
    talk = [{"role": "user", "content": "a"}, {"role": "model", "content": "b"}]
    assert [row.role for row in holdfast.count(talk).messages] == ["user", "assistant"]


def test_what_is_nested_too_deeply_beside_the_content_is_refused():
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(FormatError, match="nested too deeply"):
        count([{"role": "user", "content": "a", "more": deep}], format="openai")
    while isinstance(deep, list):
        deep = deep.pop()


def test_formats_of_vendors_publish_the_fields_of_a_message_and_plain_only_the_roles():
    assert isinstance(named("openai"), Publishing)
    assert [rule.name for rule in named("plain").published([])] == ["roles_known"]


def test_what_stands_beside_a_result_where_calls_would_stand_is_counted_and_not_read():
    plain = {"role": "tool", "tool_call_id": "a", "content": "x"}
    for field in ("tool_calls", "function_call", "refusal", "reasoning"):
        for value in ("word " * 100, ["word " * 100], {"a": "word " * 100}):
            told = holdfast.count([{**plain, field: value}], format="openai").total
            assert told > holdfast.count([plain], format="openai").total + 90
