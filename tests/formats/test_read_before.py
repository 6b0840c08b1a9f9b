"""Of a conversation that comes again, only what is new or has changed is read."""

from __future__ import annotations

from copy import deepcopy

import pytest

import holdfast
from holdfast.formats import named, read
from holdfast.formats.wire import ObjectWire

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}


def talk(length: int = 200) -> list[dict[str, object]]:
    """Messages of a user and an assistant, one of whom makes a call."""
    said = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(length)
    ]
    said[1] = {"role": "assistant", "content": None, "tool_calls": [deepcopy(CALL)]}
    said[2] = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    return said


def shared(first: list[dict[str, object]], second: list[dict[str, object]]) -> int:
    """How many messages of the second were not read again."""
    before, after = (read(each, "openai")[2].messages for each in (first, second))
    return sum(old is new for old, new in zip(before, after, strict=False))


def test_only_the_new_messages_of_a_conversation_that_grows_are_read():
    messages = talk()
    assert shared(messages[:150], messages) == 150
    assert shared(messages, messages[:150]) == 150


@pytest.mark.parametrize("place", [0, 1, 199])
def test_a_message_that_was_changed_in_place_is_read_again(place):
    messages = talk()
    before = holdfast.count(messages, format="openai").total
    if place == 1:
        messages[1]["tool_calls"][0]["function"]["arguments"] = '{"n": "much longer than it was"}'
    else:
        messages[place]["content"] = "much longer than it was before"
    assert holdfast.count(messages, format="openai").total > before
    assert holdfast.count(messages, format="openai") == holdfast.count(
        deepcopy(messages), format="openai"
    )


def test_equal_messages_of_another_caller_are_that_callers_own():
    messages = talk()
    read(messages, "openai")
    others = deepcopy(messages)
    result = holdfast.compress(others, 100_000, format="openai").messages
    assert all(mine is theirs for mine, theirs in zip(result, others, strict=True))


def test_a_conversation_is_read_as_the_format_that_is_asked_for():
    messages = [message for message in talk() if message["role"] != "tool"]
    del messages[1]
    read(messages, "openai")
    assert {message.wire for message in read(messages, "plain")[2].messages} == {named("plain")}


def test_what_is_not_json_is_read_each_time():
    messages = [*talk(), {"role": "user", "content": "hi", "made": object()}]
    assert shared(messages, messages) == 0


def test_few_conversations_are_kept_and_no_large_one():
    for _ in range(20):
        read(talk(), "openai")
    assert len(ObjectWire._recent) == 4
    large = [*talk(), {"role": "user", "content": "x" * 2_000_000}]
    assert shared(large, large) == 0
