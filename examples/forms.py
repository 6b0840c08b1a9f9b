"""A recorded conversation as OpenAI chat, as Anthropic messages, and as roles and texts."""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TOOLS = ("run", "read_file", "list_directory", "search", "edit_file", "write_file")
JSON_TYPES = {"str": "string", "int": "integer"}


@dataclass(frozen=True)
class Call:
    """One use of a tool, with what it answered."""

    tool: str
    arguments: dict[str, str | int]
    output: str
    failed: bool


@dataclass(frozen=True)
class Turn:
    """What the user says, or one step of the assistant with the calls that it makes at once."""

    role: str
    text: str
    thinking: str = ""
    calls: tuple[Call, ...] = ()


def plain(system: str, turns: Sequence[Turn]) -> object:
    """Write role and text, nothing else."""
    opening = {"role": "system", "content": system}
    return [opening, *({"role": turn.role, "content": turn.text} for turn in turns)]


def openai(system: str, turns: Sequence[Turn]) -> object:
    """Write chat messages: arguments as a JSON string, each result as its own message."""
    messages: list[object] = [{"role": "system", "content": system}]
    for turn, ids in _with_ids(turns, "call_"):
        message: dict[str, object] = {"role": turn.role, "content": turn.text or None}
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": id_,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
                }
                for id_, call in zip(ids, turn.calls, strict=True)
            ]
        messages.append(message)
        messages += [
            {"role": "tool", "tool_call_id": id_, "content": call.output}
            for id_, call in zip(ids, turn.calls, strict=True)
        ]
    return messages


def anthropic(system: str, turns: Sequence[Turn]) -> object:
    """Write a request body: signed thinking, results first in the next user message."""
    messages: list[dict[str, object]] = []
    results: list[object] = []
    for turn, ids in _with_ids(turns, "toolu_"):
        text: list[object] = [{"type": "text", "text": turn.text}] if turn.text else []
        if turn.role == "user":
            messages.append({"role": "user", "content": [*results, *text]})
            results = []
            continue
        if results:
            messages.append({"role": "user", "content": results})
        uses = [
            {"type": "tool_use", "id": id_, "name": call.tool, "input": call.arguments}
            for id_, call in zip(ids, turn.calls, strict=True)
        ]
        messages.append({"role": "assistant", "content": [*_thinking(turn), *text, *uses]})
        results = [_result(id_, call) for id_, call in zip(ids, turn.calls, strict=True)]
    if results:
        messages.append({"role": "user", "content": results})
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 16_000,
        "thinking": {"type": "enabled", "budget_tokens": 8_000},
        "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        "tools": [_schema(name) for name in TOOLS],
        "messages": messages,
    }


FORMS = {"plain": plain, "openai": openai, "anthropic": anthropic}


def _with_ids(turns: Iterable[Turn], prefix: str) -> Iterable[tuple[Turn, list[str]]]:
    """Give each call an id made from its place, so that it is always the same."""
    for place, turn in enumerate(turns):
        yield (
            turn,
            [f"{prefix}{_token(f'{place}.{number}')[:24]}" for number in range(len(turn.calls))],
        )


def _thinking(turn: Turn) -> list[object]:
    """Sign the reasoning with a stand-in: a true signature only the vendor can make."""
    if not turn.thinking:
        return []
    signature = f"placeholder-not-a-real-signature-{_token(turn.thinking)}"
    return [{"type": "thinking", "thinking": turn.thinking, "signature": signature}]


def _result(id_: str, call: Call) -> dict[str, object]:
    result: dict[str, object] = {"type": "tool_result", "tool_use_id": id_, "content": call.output}
    return {**result, "is_error": True} if call.failed else result


def _schema(name: str) -> dict[str, object]:
    """Describe the tool as the model is told of it: its docstring and its typed parameters."""
    tool = getattr(Workbench, name)
    parameters = [
        item for item in inspect.signature(tool).parameters.values() if item.name != "self"
    ]
    return {
        "name": name,
        "description": inspect.getdoc(tool),
        "input_schema": {
            "type": "object",
            "properties": {item.name: {"type": JSON_TYPES[item.annotation]} for item in parameters},
            "required": [
                item.name for item in parameters if item.default is inspect.Parameter.empty
            ],
        },
    }


def _token(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()[:40]
