"""LiteLLM, as it is, against the tests' own provider."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network when it is loaded

import litellm
import pytest
from litellm.proxy.guardrails.guardrail_hooks.headroom.headroom import HeadroomGuardrail

import holdfast
import holdfast.http
from holdfast.integrations.litellm import HoldfastCallback, HoldfastGuardrail
from tests.doors import talks
from tests.doors.provider import Provider
from tests.doors.proxies import proxy

litellm.suppress_debug_info = True


@pytest.fixture
def provider():
    with Provider() as found:
        yield found
    litellm.callbacks = []
    litellm.client_session = None


def check(provider, limit=8_000):
    sent = provider.asked[-1]
    wrong = holdfast.validate(sent.body, provider=sent.wire)
    assert wrong == []
    assert holdfast.count(sent.body, model="gpt-4o", format=sent.wire).total <= limit
    assert len(sent.raw) < 60_000


def named(provider, model="openai/gpt-4o"):
    end = "" if model.startswith("anthropic") else "/v1"
    return {"model": model, "api_base": f"{provider.url}{end}", "api_key": "k"}


def test_awaited_calls_of_every_kind_are_fitted(provider):
    litellm.callbacks = [HoldfastCallback("8k")]

    async def calls():
        chat = {"messages": talks.chat(30), "tools": [talks.CHAT_TOOL]}
        answer = await litellm.acompletion(**named(provider), **chat)
        assert answer.choices[0].message.content == "fine"
        check(provider)
        stream = await litellm.acompletion(**named(provider), **chat, stream=True)
        parts = [part.choices[0].delta.content or "" async for part in stream]
        assert "".join(parts) == "fine"
        check(provider)
        claude = named(provider, "anthropic/claude-opus-4-8")
        await litellm.anthropic.messages.acreate(**claude, max_tokens=9, messages=talks.claude(30))
        check(provider)
        await litellm.acompletion(**claude, messages=talks.chat(30), tools=[talks.CHAT_TOOL])
        check(provider)
        items = [{"role": "user", "content": "Which?"}]
        for n in range(30):
            call = {
                "type": "function_call",
                "call_id": f"c{n}",
                "name": "read_log",
                "arguments": "{}",
            }
            items += [
                call,
                {"type": "function_call_output", "call_id": f"c{n}", "output": talks.output(n)},
            ]
        await litellm.aresponses(**named(provider), input=items)
        check(provider)
        router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": named(provider)}])
        await router.acompletion(model="m", **chat)
        check(provider)

    asyncio.run(calls())
    assert len(provider.asked) == 6


def test_synchronous_calls_are_fitted_by_the_client(provider):
    litellm.client_session = holdfast.http.client("8k", library="httpx")
    answer = litellm.completion(**named(provider), messages=talks.chat(30))
    assert answer.choices[0].message.content == "fine"
    check(provider)


def test_the_guardrail_of_a_gateway_fits_its_requests(provider):
    guard = HoldfastGuardrail(guardrail_name="holdfast", budget="8k", default_on=True)
    data = {"model": "gpt-4o", "messages": talks.chat(30), "metadata": {"a": 1}}
    found = asyncio.run(guard.async_pre_call_hook(None, None, dict(data), "acompletion"))
    assert holdfast.count(found["messages"], model="gpt-4o").total <= 8_000
    assert found["metadata"] == {"a": 1}
    small = {"model": "gpt-4o", "messages": talks.chat(1)}
    same = asyncio.run(guard.async_pre_call_hook(None, None, small, "acompletion"))
    assert same["messages"] is small["messages"]
    other = {"input": "x"}
    assert asyncio.run(guard.async_pre_call_hook(None, None, other, "embedding")) is other


def test_all_that_a_call_sends_is_counted_and_secrets_are_masked_in_what_goes_on_elsewhere():
    guard = HoldfastGuardrail(guardrail_name="holdfast", redact=True)

    def sent(kind, **call):
        return asyncio.run(guard.async_pre_call_hook(None, None, call, kind))

    chat = {"model": "gpt-4", "messages": talks.chat(30)}
    schema = {"type": "object", "description": talks.output(1, 30)}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    for more in ({"max_completion_tokens": 4_000}, {"max_tokens": 99, "response_format": form}):
        found = sent("acompletion", **chat, **more)
        answer = more.get("max_completion_tokens", 99)
        assert holdfast.count(found, model="gpt-4", format="openai").total <= 8_192 - answer
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    item = {"type": "function_call_output", "call_id": "c", "output": f"GITHUB_TOKEN={secret}"}
    call = {"model": "gpt-4o", "input": [item]}
    for more in ({"previous_response_id": "resp_1"}, {"conversation": "conv_1"}):
        found = sent("aresponses", **call, **more)
        assert len(found["input"]) == 1
        assert secret not in str(found)


def test_litellms_own_guardrail_is_served_by_the_proxy(provider):
    messages = [*talks.chat(30), {"role": "user", "content": "Which token has shard-03?"}]
    data = {"model": "gpt-4o", "messages": messages}
    with proxy(provider.url) as address:
        guard = HeadroomGuardrail(api_base=address, guardrail_name="holdfast")
        asked = guard.apply_guardrail({"structured_messages": messages}, data, "request")
        found = asyncio.run(asked)["structured_messages"]
    assert [each["role"] for each in found] == [each["role"] for each in messages]
    assert holdfast.validate(found, provider="openai") == []
    before, after = (holdfast.count(each, model="gpt-4o").total for each in (messages, found))
    assert after < before / 3
    assert all(f"token-{n * 7919}" in str(found[3 + 2 * n]) for n in range(30))


def test_an_agent_of_sixty_calls_stays_within_its_budget(provider):
    litellm.callbacks = [HoldfastCallback("16k")]
    provider.rounds = 60
    provider.arguments = lambda n: {"shard": n}

    async def run():
        messages = talks.chat(0)
        while True:
            answer = await litellm.acompletion(
                **named(provider), messages=messages, tools=[talks.CHAT_TOOL]
            )
            said = answer.choices[0].message
            told = said.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})
            messages.append(told)
            if not said.tool_calls:
                return messages
            for call in said.tool_calls:
                shard = len(messages) // 2
                messages.append(
                    {"role": "tool", "tool_call_id": call.id, "content": talks.output(shard, 30)}
                )

    messages = asyncio.run(run())
    assert len(messages) == 2 * 60 + 3
    for each in provider.asked:
        assert holdfast.count(each.body, model="gpt-4o").total <= 16_000
        assert holdfast.validate(each.body, provider="openai") == []
