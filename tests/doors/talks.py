"""Conversations of many tool calls, on each wire, with a fact in every output."""

from __future__ import annotations

from typing import Any

from holdfast.formats.convert import convert


def output(n: int, lines: int = 60) -> str:
    """What a tool gave in round ``n``: a log, and a line that is told nowhere else."""
    log = [
        f"2026-03-01 10:{n:02}:{i % 60:02} INFO worker {i} took {i * 37 % 911} ms"
        for i in range(lines)
    ]
    log.insert(
        lines // 2, f"2026-03-01 10:{n:02}:31 ERROR the lease of shard-{n:02} is token-{n * 7919}"
    )
    return "\n".join(log)


def chat(rounds: int, lines: int = 60) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": "Find out what is wrong with the shards."},
    ]
    for n in range(rounds):
        function = {"name": "read_log", "arguments": f'{{"shard": {n}}}'}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": output(n, lines)})
    return messages


def claude(rounds: int, lines: int = 60) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Find out what is wrong with the shards."}
    ]
    for n in range(rounds):
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "read_log", "input": {"shard": n}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": output(n, lines)}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return messages


PARAMETERS = {"type": "object", "properties": {"shard": {"type": "integer"}}, "required": ["shard"]}
CHAT_TOOL = {"type": "function", "function": {"name": "read_log", "parameters": PARAMETERS}}
CLAUDE_TOOL = {"name": "read_log", "description": "Read a log.", "input_schema": PARAMETERS}


PATHS = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-pro:generateContent",
}
MODELS = {"anthropic": "claude-opus-4-8", "gemini": "gemini-2.5-pro"}


def request(wire: str, messages: list[dict[str, Any]], *, stream: bool = False) -> tuple[str, Any]:
    """The path and the body of a request on this wire, of messages of Chat Completions."""
    body = convert({"messages": messages, "tools": [CHAT_TOOL]}, wire)
    if wire == "gemini":
        return PATHS[wire].replace(":g", ":streamG") + "?alt=sse" if stream else PATHS[wire], body
    beside = {"max_tokens": 99} if wire == "anthropic" else {}
    return PATHS[wire], {**body, **beside, "model": MODELS.get(wire, "gpt-4o"), "stream": stream}
