"""Agent runs with outputs of real kinds, and what became of them."""

from __future__ import annotations

import json
from typing import Any

import holdfast
from holdfast.compressors.shrink import Shrink
from tests.formats.rules.messages import calling, tool, user
from tests.talks import system


def log(lines: int = 120, name: str = "worker") -> str:
    """A log with a failure in the middle."""
    said = [
        f"2026-11-20 10:{i // 60:02}:{i % 60:02} INFO {name} {i} finished in {i * 7 % 91} ms"
        for i in range(lines)
    ]
    said[lines // 2] = f"2026-11-20 10:00:30 ERROR {name} 30 lost its connection to db-7"
    return "\n".join(said)


def records(count: int = 40, name: str = "order") -> str:
    """Records as JSON, indented."""
    return json.dumps(
        [{"id": i, "name": f"{name} {i}", "open": i % 3 == 0} for i in range(count)], indent=2
    )


def run(
    *exchanges: tuple[str, Any, str], question: str = "Why did it fail?"
) -> list[dict[str, Any]]:
    """A task, then a call and its result for each (tool, arguments, output)."""
    messages = [system("Be careful."), user(question)]
    for number, (name, arguments, output) in enumerate(exchanges):
        call = calling(f"call_{number}")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call["tool_calls"][0]["function"] = {"name": name, "arguments": written}
        messages += [call, tool(f"call_{number}", output)]
    return messages


def shrunk(
    messages: list[dict[str, Any]], budget: int, shrink: Shrink | None = None, **options: Any
) -> holdfast.CompressionResult:
    """What Shrink alone makes of them."""
    return holdfast.compress(messages, budget, strategy=shrink or Shrink(), **options)


def outputs(result: holdfast.CompressionResult) -> list[str]:
    """What the tools say now."""
    return [message["content"] for message in result.messages if message["role"] == "tool"]


def arguments(result: holdfast.CompressionResult, number: int) -> str:
    """The arguments of a call as they are now."""
    return result.messages[2 + 2 * number]["tool_calls"][0]["function"]["arguments"]


def changed(result: holdfast.CompressionResult) -> set[int]:
    """Positions of messages that say something else."""
    return {edit.index for edit in result.edits}


def tokens(messages: list[dict[str, Any]]) -> int:
    """Of the whole."""
    return holdfast.count(messages).total
