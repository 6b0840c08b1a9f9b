"""Bodies of requests for the proxy."""

from __future__ import annotations

import json
from typing import Any


def talk(rounds: int, characters: int, name: str = "") -> list[dict[str, Any]]:
    """A conversation of tool calls whose outputs have so many characters each."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": f"Find out what is wrong with the workers {name}"},
    ]
    for n in range(rounds):
        function = {"name": "read_log", "arguments": json.dumps({"n": n})}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        lines = (
            f"2026-03-01 10:{n % 60:02}:{i % 60:02} INFO {name} worker {i} took "
            f"{(i * 37 + n * 101) % 911} ms\n"
            for i in range(characters // 55)
        )
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": "".join(lines)})
    return messages


def body(messages: list[dict[str, Any]], **more: Any) -> bytes:
    """As it is sent."""
    return json.dumps({"model": "gpt-4o", "messages": messages, **more}).encode()
