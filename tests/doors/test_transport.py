"""The packages of OpenAI, Anthropic and Google through the transport and the proxy."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai

import holdfast
import holdfast.http
from tests.doors import talks
from tests.doors.provider import Provider
from tests.doors.proxies import proxy


@pytest.fixture
def provider():
    with Provider() as found:
        yield found


@pytest.fixture
def seen():
    """What each request was found to be."""
    return []


@pytest.fixture
def http(seen):
    """Makes clients, and closes them."""
    with contextlib.ExitStack() as made:
        yield lambda budget="8k", **options: made.enter_context(
            holdfast.http.client(budget, observe=seen.append, **options)
        )


@dataclass
class Door:
    """What the clients of vendors are given: an address and, for the transport, HTTP clients."""

    url: str
    client: Callable[[], Any]
    async_client: Callable[[], Any]
    observed: bool
    """Whether ``seen`` is told of each request."""

    def openai(self):
        return openai.OpenAI(api_key="k", base_url=f"{self.url}/v1", http_client=self.client())

    def anthropic(self):
        return anthropic.Anthropic(api_key="k", base_url=self.url, http_client=self.client())


@pytest.fixture
def transport(provider, http, seen):
    awaited = partial(holdfast.http.async_client, "8k", observe=seen.append)
    return Door(provider.url, http, awaited, observed=True)


@pytest.fixture(params=["transport", "proxy"])
def door(request, provider):
    """Each of the two doors before the provider."""
    if request.param == "transport":
        yield request.getfixturevalue("transport")
        return
    with proxy(provider.url) as address:
        yield Door(address, lambda: None, httpx2.AsyncClient, observed=False)


def check(provider, limit=8_000):
    """What the provider saw last is valid and within the budget."""
    sent = provider.asked[-1]
    model = sent.body.get("model", talks.MODELS.get(sent.wire))
    options = {"model": model, "format": sent.wire}
    assert holdfast.validate(sent.body, provider=sent.wire) == []
    assert holdfast.count(sent.body, **options).total <= limit
    assert int(sent.headers["content-length"]) == len(sent.raw)
    assert not [name for name in sent.headers if "holdfast" in name]


def test_chat_completions_in_all_modes(provider, door, seen):
    client = door.openai()
    asked = {"model": "gpt-4o", "messages": talks.chat(30), "tools": [talks.CHAT_TOOL]}
    assert client.chat.completions.create(**asked).choices[0].message.content == "fine"
    check(provider)
    stream = client.chat.completions.create(**asked, stream=True)
    assert "".join(c.choices[0].delta.content or "" for c in stream if c.choices) == "fine"
    check(provider)
    with client.chat.completions.stream(**asked) as helper:
        assert helper.get_final_completion().choices[0].message.content == "fine"
    check(provider)
    raw = client.chat.completions.with_raw_response.create(**asked)
    assert raw.parse().choices[0].message.content == "fine"
    assert raw.headers["x-request-id"] == "req_1"
    check(provider)
    assert all(each.changed for each in seen)


def test_messages_in_all_modes(provider, door, seen):
    client = door.anthropic()
    asked = {"model": "claude-opus-4-8", "max_tokens": 99, "messages": talks.claude(30)}
    assert client.messages.create(**asked).content[0].text == "fine"
    check(provider)
    with client.messages.stream(**asked) as stream:
        assert stream.get_final_text() == "fine"
    check(provider)
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    flags = ["context-management-2025-06-27"]
    client.beta.messages.create(**asked, betas=flags, context_management=edits)
    sent = provider.asked[-1]
    assert sent.body["context_management"] == edits
    assert sent.headers["anthropic-beta"] == flags[0]
    check(provider)


def test_awaited_and_streamed_awaited(provider, door, seen):
    async def said():
        http = door.async_client()
        client = openai.AsyncOpenAI(api_key="k", base_url=f"{door.url}/v1", http_client=http)
        asked = {"model": "gpt-4o", "messages": talks.chat(30)}
        whole = await client.chat.completions.create(**asked)
        stream = await client.chat.completions.create(**asked, stream=True)
        parts = [c.choices[0].delta.content or "" async for c in stream if c.choices]
        _, body = talks.request("openai_responses", talks.chat(30))
        asked = {name: body[name] for name in ("model", "instructions", "input", "tools")}
        response = await client.responses.create(**asked)
        async with client.responses.stream(**asked) as helper:
            streamed = await helper.get_final_response()
        await client.close()
        http = door.async_client()
        other = anthropic.AsyncAnthropic(api_key="k", base_url=door.url, http_client=http)
        asked = {"model": "claude-opus-4-8", "max_tokens": 99, "messages": talks.claude(30)}
        async with other.messages.stream(**asked) as held:
            text = await held.get_final_text()
        await other.close()
        said = whole.choices[0].message.content, "".join(parts), text
        return *said, response.output_text, streamed.output_text

    assert asyncio.run(said()) == ("fine",) * 5
    assert len(provider.asked) == 5
    assert [each.changed for each in seen] == [True] * 5 * door.observed
    check(provider)


def test_count_endpoints_and_lists_of_models_are_left_alone(provider, door, seen):
    client = door.anthropic()
    messages = talks.claude(30)
    counted = client.messages.count_tokens(model="claude-opus-4-8", messages=messages)
    assert counted.input_tokens == 7
    assert provider.seen[-1].body["messages"] == messages
    assert door.openai().models.list().data[0].id == "gpt-4o"
    assert seen == []


def test_a_retry_sends_the_same_bytes(provider, door):
    provider.busy = 1
    door.openai().chat.completions.create(model="gpt-4o", messages=talks.chat(30))
    first, second = provider.asked
    assert first.raw == second.raw


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_for_length_is_answered_once_by_fitting_harder(provider, door, stream):
    provider.longest = 12_000
    client = door.openai()
    got = client.chat.completions.create(model="gpt-4o", messages=talks.chat(30), stream=stream)
    if stream:
        assert "".join(c.choices[0].delta.content or "" for c in got if c.choices) == "fine"
    assert [len(each.raw) > 12_000 for each in provider.asked] == [True, False]
    check(provider)


def test_a_refusal_that_fitting_does_not_cure_arrives_as_it_is(provider, door):
    provider.longest = 200
    with pytest.raises(openai.BadRequestError, match="maximum context length is 50 tokens"):
        door.openai().chat.completions.create(model="gpt-4o", messages=talks.chat(30))
    assert len(provider.asked) == 2


def test_a_refusal_of_another_kind_arrives_as_it_is(provider, door):
    client = door.anthropic()
    with pytest.raises(anthropic.BadRequestError, match="no JSON"):
        client.post("/v1/messages", body=["none"], cast_to=object)
    assert len(provider.seen) == 1


def test_responses_in_all_modes(provider, door, seen):
    client = door.openai()
    _, body = talks.request("openai_responses", talks.chat(30))
    asked = {name: body[name] for name in ("model", "instructions", "input", "tools")}
    assert client.responses.create(**asked).output_text == "fine"
    check(provider)
    done = [
        e for e in client.responses.create(**asked, stream=True) if e.type.endswith("completed")
    ]
    assert done[0].response.output_text == "fine"
    check(provider)
    with client.responses.stream(**asked) as helper:
        assert helper.get_final_response().output_text == "fine"
    check(provider)
    raw = client.responses.with_raw_response.create(**asked)
    assert raw.parse().output_text == "fine"
    check(provider)
    assert all(each.changed for each in seen)


def test_what_the_provider_keeps_itself_is_left_alone(provider, door, seen):
    client = door.openai()
    _, body = talks.request("openai_responses", talks.chat(30))
    client.responses.create(model="gpt-4o", input=body["input"], previous_response_id="resp_1")
    assert provider.asked[-1].body["input"] == body["input"]
    assert [each.changed for each in seen] == [False] * door.observed


def test_googles_package_in_all_modes(provider, door, seen):
    async def awaited(asked):
        made = door.async_client()
        options = {"base_url": door.url, "httpx_async_client": made}
        client = genai.Client(api_key="k", http_options=options).aio
        whole = await client.models.generate_content(**asked)
        stream = await client.models.generate_content_stream(**asked)
        told = whole.text, "".join([chunk.text async for chunk in stream])
        await made.aclose()
        return told

    options = {"base_url": door.url, "httpx_client": door.client()}
    client = genai.Client(api_key="k", http_options=options)
    _, body = talks.request("gemini", talks.chat(30))
    config = {"system_instruction": "Be terse.", "tools": body["tools"]}
    asked = {"model": "gemini-2.5-pro", "contents": body["contents"], "config": config}
    assert client.models.generate_content(**asked).text == "fine"
    check(provider)
    assert "".join(c.text for c in client.models.generate_content_stream(**asked)) == "fine"
    check(provider)
    assert asyncio.run(awaited(asked)) == ("fine", "fine")
    check(provider)
    assert len(provider.asked) == 4
    assert [each.changed for each in seen] == [True] * 4 * door.observed


def test_the_proxies_of_the_environment_hold(provider, http, seen, monkeypatch):
    for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", provider.url)
    client = http()
    body = {"model": "gpt-4o", "messages": talks.chat(30)}
    client.post("http://nowhere.invalid/v1/chat/completions", json=body)
    assert seen[0].changed
    assert provider.seen[-1].path == "http://nowhere.invalid/v1/chat/completions"
    monkeypatch.setenv("no_proxy", "localhost,::1,fd00::/8,127.0.0.1")
    direct = http()
    direct.post(f"{provider.url}/v1/chat/completions", json=body)
    assert provider.seen[-1].path == "/v1/chat/completions"


def test_uploads_are_not_read(provider, http, seen):
    def parts():
        yield b"x" * 10

    client = http()
    assert client.post(f"{provider.url}/v1/files", content=parts()).status_code == 400
    assert provider.seen[-1].raw == b"x" * 10
    assert seen == []


def test_a_transport_of_the_users_own_is_wrapped(provider, http, seen):
    fitter = holdfast.http.Fitter(holdfast.http.Budgets("8k"), {})
    own = holdfast.http.Transport(httpx2.HTTPTransport(), fitter, seen.append)
    with httpx2.Client(transport=own) as client:
        body = {"model": "gpt-4o", "messages": talks.chat(30)}
        client.post(f"{provider.url}/v1/chat/completions", json=body)
    assert seen[0].changed


def test_where_secrets_cannot_be_masked_nothing_is_sent(provider, http):
    client = http("8k", redact=True)
    with pytest.raises(holdfast.HoldfastError, match="the request was not sent"):
        client.post(f"{provider.url}/v1/chat/completions", content=b"{{")
    assert provider.seen == []


def test_what_was_sent_before_stands_first_so_that_prompt_caches_hold(provider, door):
    client = door.openai()
    for rounds in (60, 61, 62):
        client.chat.completions.create(model="gpt-4o", messages=talks.chat(rounds, 8))
    one, two, three = (each.body["messages"] for each in provider.asked)
    assert two[: len(one)] == one
    assert three[: len(two)] == two
    assert len(one) < len(talks.chat(60, 8))


def test_the_door_needs_no_import_of_its_own():
    code = "import holdfast; holdfast.http.client('32k').close()"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
