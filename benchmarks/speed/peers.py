"""The peers, each through its own package; one that is not installed is named and not measured."""

import json
from collections.abc import Callable
from typing import Any

from benchmarks.speed.conversation import Messages

Fit = Callable[[int], object]
Prepare = Callable[[Messages, int, Callable[[str], int]], Fit]


def langchain(found: Messages, budget: int, count: Callable[[str], int]) -> Fit:
    """LangChain's ``trim_messages`` with our tariff; its objects are made beforehand."""
    from langchain_core.messages import convert_to_messages, trim_messages

    converted: list[Any] = convert_to_messages(found)

    def tokens(messages: list[Any]) -> int:
        return sum(4 + count(str(m.content)) + sum(map(call_tokens, _calls(m))) for m in messages)

    def call_tokens(call: dict[str, Any]) -> int:
        return 10 + count(call["name"]) + count(json.dumps(call["args"]))

    return lambda stop: trim_messages(
        converted[:stop],
        max_tokens=budget,
        token_counter=tokens,
        strategy="last",
        include_system=True,
    )


def _calls(message: Any) -> list[dict[str, Any]]:
    return getattr(message, "tool_calls", None) or []


def headroom(found: Messages, budget: int, _count: Callable[[str], int]) -> Fit:
    """Headroom's ``compress`` with the budget as its model's window."""
    from headroom import compress

    return lambda stop: compress(found[:stop], model="gpt-4o", model_limit=budget)


PEERS: dict[str, Prepare] = {"LangChain trim_messages": langchain, "headroom compress": headroom}
