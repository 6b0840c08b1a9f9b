"""LangChain's agents and messages, as they are, with a model that is scripted."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.messages import trim_messages as langchains
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool

import holdfast
from holdfast.integrations.langchain import HoldfastMiddleware, trim_messages
from tests.doors import talks

ROUNDS = 60
LIMIT = 16_000


class Scripted(BaseChatModel):
    """Calls the tool for so many rounds, then answers; keeps what it was sent."""

    model_name: str = "gpt-4o"
    seen: list[Any] = []  # noqa: RUF012 - a field of pydantic
    made: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        self.seen.append(messages)
        self.made += 1
        if self.made > ROUNDS:
            said = AIMessage("done")
        else:
            call = {"id": f"call_{self.made}", "name": "read_log", "args": {"shard": self.made}}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def read_log(shard: int) -> str:
    """Read the log of a shard."""
    return talks.output(shard, 30)


def agent(**more):
    model = Scripted(seen=[])
    made = create_agent(
        model,
        [read_log],
        system_prompt="Be terse.",
        middleware=[HoldfastMiddleware("16k", **more)],
    )
    return model, made


ASKED = {"messages": [HumanMessage("Which token has the lease of shard-07?")]}
STEPS = {"recursion_limit": 4 * ROUNDS}


@pytest.mark.parametrize("awaited", [False, True])
def test_an_agent_of_sixty_calls_stays_within_its_budget_and_its_state_is_whole(awaited):
    model, made = agent()
    done = asyncio.run(made.ainvoke(ASKED, STEPS)) if awaited else made.invoke(ASKED, STEPS)
    assert len(done["messages"]) == 2 * ROUNDS + 2
    assert [m.content for m in done["messages"] if isinstance(m, ToolMessage)] == [
        talks.output(n, 30) for n in range(1, ROUNDS + 1)
    ]
    for sent in model.seen:
        wire = convert_to_openai_messages(sent)
        assert holdfast.count(wire, model="gpt-4o").total <= LIMIT
        assert holdfast.validate(wire, provider="openai") == []
    assert len(model.seen[-1]) < len(done["messages"])
    assert f"token-{7 * 7919}" in str(model.seen[-1])


def test_untouched_messages_are_the_very_same_objects():
    model, made = agent()
    done = made.invoke(ASKED, STEPS)
    kept = {id(message) for message in done["messages"]}
    same = [message for message in model.seen[-1] if id(message) in kept]
    assert isinstance(model.seen[-1][0], SystemMessage)
    assert len(same) > 4


def test_what_fits_reaches_the_model_as_it_is():
    model, made = agent()
    model.made = ROUNDS
    done = made.invoke(ASKED)
    assert model.seen[0][1] is done["messages"][0]


def test_tools_of_a_vendor_are_counted_and_sent_as_they_are():
    model = Scripted(seen=[])
    tools = [read_log, {"google_search": {}}]
    made = create_agent(model, tools, middleware=[HoldfastMiddleware("16k")])
    made.invoke(ASKED, STEPS)
    assert holdfast.count(convert_to_openai_messages(model.seen[-1]), model="gpt-4o").total <= LIMIT


@pytest.mark.parametrize("stated", ["model", "call"])
def test_the_window_has_room_for_the_answer(stated):
    class Limited(Scripted):
        max_tokens: int | None = None

    limits = {"max_tokens": 4_000}
    model = Limited(model_name="gpt-4", **(limits if stated == "model" else {}))
    settings = limits if stated == "call" else {}
    request = ModelRequest(model=model, messages=conversation(), model_settings=settings)
    sent = HoldfastMiddleware().wrap_model_call(request, lambda fitted: fitted.messages)
    wire = convert_to_openai_messages(sent)
    assert holdfast.count(wire, model="gpt-4").total <= 8_192 - 4_000


def test_what_has_no_form_on_the_wire_is_sent_as_it_was(caplog):
    model, made = agent()
    model.made = ROUNDS
    strange = HumanMessage([{"type": "hologram", "data": "x"}])
    made.invoke({"messages": [strange]})
    assert model.seen[0][1].content == strange.content


def conversation():
    messages = [SystemMessage("Be terse."), HumanMessage("Which token has the lease of shard-03?")]
    for n in range(20):
        call = {"id": f"c{n}", "name": "read_log", "args": {"shard": n}}
        messages.append(AIMessage("", tool_calls=[call], id=f"ai-{n}"))
        messages.append(
            ToolMessage(talks.output(n), tool_call_id=f"c{n}", name="read_log", id=f"t-{n}")
        )
    return messages


def test_trim_messages_tells_in_short_what_langchains_cuts_off():
    given = {"max_tokens": 4_000, "strategy": "last", "include_system": True}
    messages = conversation()
    found = trim_messages(messages, **given, token_counter="gpt-4o")
    wire = convert_to_openai_messages(found)
    assert holdfast.count(wire, model="gpt-4o").total <= 4_000
    assert holdfast.validate(wire, provider="openai") == []
    assert f"token-{3 * 7919}" in str(found)
    cut = langchains(messages, **given, token_counter="approximate", start_on="human")
    assert f"token-{3 * 7919}" not in str(cut)


@pytest.mark.parametrize(
    "counter",
    [
        None,
        "approximate",
        "gpt-4o",
        Scripted(),
        lambda messages: sum(len(m.content) // 3 for m in messages),
    ],
)
def test_trim_messages_counts_as_langchains_is_told_to(counter):
    assert len(trim_messages(conversation(), max_tokens=3_000, token_counter=counter)) < 42
    assert (
        trim_messages(conversation()[:2], max_tokens=3_000, token_counter=counter)
        == conversation()[:2]
    )


def test_without_messages_trim_messages_is_a_step_of_a_chain():
    step = trim_messages(max_tokens=3_000, token_counter="gpt-4o")
    whole = trim_messages(conversation(), max_tokens=3_000, token_counter="gpt-4o")
    asked = ChatPromptTemplate([("placeholder", "{said}")])
    for found in (step.invoke(conversation()), (asked | step).invoke({"said": conversation()})):
        assert convert_to_openai_messages(found) == convert_to_openai_messages(whole)


def test_a_result_that_is_shortened_keeps_its_name_and_its_id():
    messages = conversation()[:3]
    messages.append(ToolMessage(talks.output(0, 900), tool_call_id="c0", name="read_log", id="t-0"))
    found = trim_messages(messages, max_tokens=2_000)
    (result,) = [message for message in found if isinstance(message, ToolMessage)]
    assert (result.id, result.name, result.tool_call_id) == ("t-0", "read_log", "c0")
    assert len(result.content) < len(messages[-1].content)
