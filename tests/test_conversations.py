"""A conversation object goes in and comes out, at every door, with its id and what the caller
keeps with it.
"""

import asyncio

import pytest

import holdfast
from holdfast.result import Conversation
from tests.formats.rules.messages import user
from tests.talks import chat, system

TALK = [system("Be careful."), *chat(10, 30)]
THREAD = Conversation("t-1", TALK, {"tenant": 7})
OPTIONS = {"strategy": "trim", "counter": "words"}

DOORS = {
    "compress": lambda talk: holdfast.compress(talk, 200, **OPTIONS),
    "acompress": lambda talk: asyncio.run(holdfast.acompress(talk, 200, **OPTIONS)),
    "compressor": lambda talk: holdfast.ContextCompressor(**OPTIONS).compress_with_metrics(
        talk, 200
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_the_messages_are_those_of_a_plain_list_and_the_rest_comes_back(door):
    result = DOORS[door](THREAD)
    assert result.messages == Conversation("t-1", DOORS[door](TALK).messages, {"tenant": 7})
    assert len(result.messages.messages) < len(TALK)


def test_the_two_method_form_gives_a_conversation_for_a_conversation():
    assert isinstance(holdfast.ContextCompressor(**OPTIONS).compress(THREAD, 200), Conversation)


def test_one_that_fits_keeps_its_very_messages():
    result = holdfast.compress(THREAD, 100_000)
    assert all(a is b for a, b in zip(result.messages.messages, TALK, strict=True))


def test_it_is_restored_and_survives_json():
    result = DOORS["compress"](THREAD)
    again = holdfast.CompressionResult.from_json(result.to_json())
    assert again == result
    assert holdfast.restore(result) == holdfast.restore(again) == THREAD


def test_a_request_body_may_stand_in_one():
    body = {"model": "gpt-4o", "messages": TALK}
    result = holdfast.compress(Conversation("t-1", body), 200, **OPTIONS)
    assert result.messages.messages["model"] == "gpt-4o"
    assert holdfast.restore(result) == Conversation("t-1", body)


def test_it_is_counted_and_reported_like_its_messages():
    assert holdfast.count(THREAD) == holdfast.count(TALK)
    assert holdfast.report(DOORS["compress"](THREAD)) == holdfast.report(DOORS["compress"](TALK))


def test_compressing_it_again_changes_nothing():
    once = DOORS["compress"](THREAD).messages
    assert DOORS["compress"](once).messages == once


def test_what_cannot_be_read_is_told_for_a_conversation_too():
    with pytest.raises(holdfast.InputError):
        holdfast.compress(Conversation("t", [user("a"), 7]), 200)
