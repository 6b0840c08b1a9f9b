"""Properties over conversations that nobody would write."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.formats import detect, named
from holdfast.formats.openai_chat import OpenAIChat
from holdfast.formats.payloads import Node
from holdfast.kernel.messages import Media, Opaque, Reasoning, ToolCall
from tests.formats.conversations import anthropic_conversations, openai_conversations

CONVERSATIONS = st.one_of(
    st.tuples(st.just("openai_chat"), openai_conversations),
    st.tuples(st.just("anthropic"), anthropic_conversations),
)
slow = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=200)


@slow
@given(CONVERSATIONS)
def test_reading_changes_nothing_and_writing_gives_the_same_objects_back(case):
    name, messages = case
    before = copy.deepcopy(messages)
    transcript = named(name).read(messages)
    assert all(a.original is b for a, b in zip(transcript.messages, messages, strict=True))
    assert [message.parts for message in transcript.messages] == [
        named(name).parts(m) for m in messages
    ]
    assert messages == before


@slow
@given(openai_conversations)
def test_what_is_read_at_a_glance_reads_as_it_does_with_care(messages):
    form = OpenAIChat()
    for message in messages:
        seen = form.glance(message)
        if seen is not None:
            parts, aside = seen
            assert parts == tuple(part for part, _ in form.locate(Node(message, "message")))
            assert aside == form.aside(message)


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "done"}
WORDS = "words that the model reads and that are counted as text, whatever the field is called"


def calling(*calls, **fields):
    return {"role": "assistant", "content": None, "tool_calls": [*calls], **fields}


@pytest.mark.parametrize("form", ["openai_chat", "langchain"])
@pytest.mark.parametrize(
    "message",
    [
        calling(CALL),
        calling(CALL, {**CALL, "id": WORDS}),
        calling({**CALL, "type": WORDS}),
        calling({**CALL, WORDS: "x"}),
        calling({**CALL, "index": WORDS}),
        calling({"id": "c1", "function": CALL["function"], "note": WORDS}),
        calling({**CALL, "function": {**CALL["function"], "note": WORDS}}),
        calling(CALL, note=WORDS),
        calling(CALL, name=WORDS),
        RESULT,
        {**RESULT, "name": WORDS},
        {**RESULT, "name": ""},
        {**RESULT, "name": None},
        {**RESULT, "note": WORDS},
        {**RESULT, "name": "look", "note": WORDS},
        {**RESULT, "tool_call_id": WORDS},
    ],
)
def test_a_glance_sees_the_text_beside_the_parts_or_knows_that_it_did_not(form, message):
    wire = named(form)
    [read] = wire.read([message]).messages
    assert read.aside == wire.aside(message)


def read_anew(message):
    wire = message.wire
    return wire.parts(message.original), wire.aside(message.original)


@pytest.mark.parametrize("message", [RESULT, {**RESULT, "name": "look", "note": WORDS}])
def test_a_result_that_says_something_else_is_read_as_it_is_written(message):
    [read] = named("openai").read([message]).messages
    changed = read.saying({0: "less"})
    assert changed.parts[0].text == "less"
    assert (changed.parts, changed.aside) == read_anew(changed)


@slow
@given(CONVERSATIONS, st.text(min_size=1, max_size=20), st.data())
def test_one_part_that_says_something_else_changes_only_itself(case, said, data):
    name, messages = case
    before = copy.deepcopy(messages)
    places = [
        (message, k)
        for message in named(name).read(messages).messages
        for k, part in enumerate(message.parts)
        if not isinstance(part, Media | Opaque | Reasoning | ToolCall)
    ]
    if not places:
        return
    message, k = data.draw(st.sampled_from(places))
    changed = message.saying({k: said})
    assert changed.parts[k].text == said
    assert len(changed.parts) == len(message.parts)
    assert [p for j, p in enumerate(changed.parts) if j != k] == [
        p for j, p in enumerate(message.parts) if j != k
    ]
    assert list(changed.original) == list(message.original)
    assert (changed.parts, changed.aside) == read_anew(changed)
    assert messages == before


@slow
@given(CONVERSATIONS)
def test_whatever_is_found_can_be_read(case):
    _, messages = case
    assert len(detect(messages).read(messages)) == len(messages)


@pytest.mark.parametrize("name", ["openai_chat", "anthropic"])
def test_a_message_is_plain_where_it_is_one_text_and_carries_nothing_else(name):
    messages = [
        {"role": "assistant", "content": "x", "id": 7},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
    ]
    assert [message.plain for message in named(name).read(messages).messages] == ["x", None]


def test_fields_that_carry_nothing_do_not_make_a_message_less_plain():
    dumped = {
        "role": "assistant",
        "content": "x",
        "tool_calls": None,
        "refusal": None,
        "function_call": None,
        "audio": None,
    }
    (message,) = named("openai_chat").read([dumped]).messages
    assert message.plain == "x"
    assert message.parts == named("openai_chat").parts({"role": "assistant", "content": "x"})
