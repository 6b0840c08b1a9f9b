"""The model's messages, put together from the pieces of a stream."""

import gzip
import json
from typing import Any

import pytest

from holdfast.http import Budgets
from holdfast.http.fitter import Fitter
from holdfast.proxy.recalls import Recalls, _chat_message, _claude_message
from tests.doors import talks
from tests.doors.provider import Provider
from tests.doors.proxies import post, proxy


def stream(*events):
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def chat(*deltas):
    return stream(*({"choices": [{"delta": delta}]} for delta in deltas))


def test_a_message_of_chat_takes_its_own_fields_alone():
    held = chat({"content": "a"}, {"content": "b", "name": "x", "text": "y"})
    assert _chat_message(held, stream=True) == [{"role": "assistant", "content": "ab"}]


def test_calls_of_chat_come_in_pieces():
    first = {"index": 0, "id": "c1", "function": {"name": "ls", "arguments": '{"a'}}
    then = {"index": 0, "function": {"arguments": '": 1}'}}
    [message] = _chat_message(chat({"tool_calls": [first]}, {"tool_calls": [then]}), stream=True)
    function = {"name": "ls", "arguments": '{"a": 1}'}
    assert message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


@pytest.mark.parametrize("begun", ["", {}])
@pytest.mark.parametrize(
    ("pieces", "told"), [(["", ""], {}), (["", '{"a"', ": 1}"], {"a": 1})], ids=["empty", "some"]
)
def test_the_input_of_a_call_is_an_object(begun, pieces, told):
    block = {"type": "tool_use", "id": "c1", "name": "ls", "input": begun}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    held = stream(
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
    )
    [message] = _claude_message(held, stream=True)
    assert message["content"] == [{**block, "input": told}]


def test_text_and_thinking_come_in_pieces():
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    pieces = [
        (0, {"type": "thinking_delta", "thinking": "so"}),
        (0, {"type": "signature_delta", "signature": "S"}),
        (1, {"type": "text_delta", "text": "b"}),
        (1, {"type": "text_delta", "text": "c"}),
    ]
    held = stream(
        {"type": "content_block_start", "index": 0, "content_block": thinking},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "text", "text": "a"},
        },
        *({"type": "content_block_delta", "index": i, "delta": delta} for i, delta in pieces),
    )
    assert _claude_message(held, stream=True)[0]["content"] == [
        {"type": "thinking", "thinking": "so", "signature": "S"},
        {"type": "text", "text": "abc"},
    ]


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("/v1/chat/completions", b"upstream: no recall"),
        ("/v1/chat/completions", b'{"choices": [{"message": {"content": "As I recall, 4."}}]}'),
        ("/v1/chat/completions", b'{"choices": "recall"}'),
        ("/v1/chat/completions", b"data: recall\n\n"),
        ("/v1/messages", b'{"content": [{"type": "tool_use", "name": "recall"}]}'),
        ("/v1/messages", b'{"content": [null, "recall"]}'),
        ("/v1/responses", b'{"output": 5, "note": "recall"}'),
        ("/v1beta/models/gemini-2.5-pro:generateContent", b'{"candidates": ["recall"]}'),
    ],
)
def test_an_answer_that_cannot_be_read_has_no_calls_for_us(path, held):
    recalls = Recalls(Fitter(Budgets(600), {"store": "memory://unread"}))
    kind = "text/event-stream" if held.startswith(b"data:") else "application/json"
    assert recalls.answered(path, b"{}", held, kind, "t") is None


def test_after_the_last_recall_too_the_body_is_what_its_headers_say(tmp_path):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    raw = gzip.compress(json.dumps({"model": "gpt-4o", "messages": talks.chat(1)}).encode())
    calls: list[Any] = [("recall", {"key": "0"})] * Recalls.rounds
    with (
        Provider(calls=calls) as provider,
        proxy(provider.url, options=options, recall=True) as address,
    ):
        path = "/v1/chat/completions"
        assert post(address + path, raw, **{"content-encoding": "gzip"}).status_code == 200
    assert len(provider.asked) == Recalls.rounds + 1
    assert not [each for each in provider.asked if "content-encoding" in each.headers]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_a_model_that_does_not_stop_to_recall_is_asked_without_the_tool(path, streamed, tmp_path):
    options = {"store": f"sqlite:///{tmp_path}/originals.db"}
    asked = [{"role": "user", "content": "What is due?"}]
    field = "input" if path.endswith("responses") else "messages"
    body = {"model": "gpt-4o", "max_tokens": 99, field: asked, "stream": streamed}
    calls: list[Any] = [("recall", {"key": "0"})] * 99
    with (
        Provider(calls=calls) as provider,
        proxy(provider.url, options=options, recall=True) as address,
    ):
        reply = post(address + path, body)
    assert (reply.status_code, "recall" in reply.text) == (200, False)
    assert len(provider.asked) == Recalls.rounds + 2
    assert provider.asked[-1].body == body
