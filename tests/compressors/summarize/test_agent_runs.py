"""Runs of an agent, in the forms of two vendors, compressed after every exchange."""

import json
import re
from collections import Counter

import pytest

import holdfast
from holdfast.compressors.summarize import Summarize
from holdfast.providers.scripted import Scripted
from holdfast.stores.in_process import InProcessStore

BUDGET = 2_000


def openai(n):
    called = {"name": "read", "arguments": json.dumps({"path": f"src/part_{n}.py"})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{n}", "type": "function", "function": called}],
        },
        {
            "role": "tool",
            "tool_call_id": f"c{n}",
            "content": f"result R{n:04d}: " + f"line {n} is fine " * 20,
        },
    ]


def anthropic(n):
    output = openai(n)[1]
    use = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"src/part_{n}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": output["content"]}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("feeds_back", [False, True], ids=["handed over whole", "fed back"])
@pytest.mark.parametrize(("exchange", "provider"), [(openai, "openai"), (anthropic, "anthropic")])
def test_a_run_stays_valid_and_each_exchange_is_sent_once(exchange, provider, feeds_back):
    model = Scripted(
        lambda prompt: "## Done\n- Read " + ", ".join(re.findall(r"src/part_\d+\.py", prompt)[-3:])
    )
    store = InProcessStore()
    given = [{"role": "user", "content": "Fix the bug. You must not touch setup.py."}]
    for n in range(80):
        given += exchange(n)
        if n == 40:
            given += [
                {"role": "assistant", "content": "Half done."},
                {"role": "user", "content": "Go on."},
            ]
        result = holdfast.compress(
            given,
            BUDGET,
            strategy=Summarize(),
            llm=model,
            store=store,
            thread="t",
            counter="chars4_plus1",
        )
        assert result.budget_met
        assert holdfast.validate(result.messages, provider=provider) == []
        assert holdfast.restore(result) == given
        given = list(result.messages) if feeds_back else given
    times = Counter(found for call in model.calls for found in re.findall(r"R\d{4}", call.prompt))
    assert len(times) > 40
    assert set(times.values()) == {1}
    assert "You must not touch setup.py." in json.dumps(result.messages)
