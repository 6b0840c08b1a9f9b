"""LangChain's agent with OpenAI's model, as they are installed, against the tests' own provider."""

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import holdfast
from holdfast.integrations.langchain import HoldfastMiddleware
from tests.doors import talks
from tests.doors.provider import Provider

ROUNDS = 60


@tool
def read_log(shard: int) -> str:
    """Read the log of a shard."""
    return talks.output(shard, 30)


def test_an_agent_of_sixty_calls_stays_within_its_budget():
    with Provider(rounds=ROUNDS) as provider:
        provider.arguments = lambda n: {"shard": n}
        model = ChatOpenAI(model="gpt-4o", base_url=f"{provider.url}/v1", api_key="k")
        agent = create_agent(model, [read_log], middleware=[HoldfastMiddleware("16k")])
        asked = {"messages": [HumanMessage("Which token has the lease of shard-07?")]}
        done = agent.invoke(asked, {"recursion_limit": 4 * ROUNDS})
    assert done["messages"][-1].content == "fine"
    assert len(done["messages"]) == 2 * ROUNDS + 2
    assert len(provider.asked) == ROUNDS + 1
    for each in provider.asked:
        assert holdfast.count(each.body, model="gpt-4o").total <= 16_000
        assert holdfast.validate(each.body, provider="openai") == []
    assert f"token-{7 * 7919}".encode() in provider.asked[-1].raw
