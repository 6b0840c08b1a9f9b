"""The tool by which a model gets originals back: offered in its requests, and answered here.

The client sees neither the tool nor its calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from holdfast.agent.tools import results
from holdfast.engine import RECALL_TOOL
from holdfast.formats import named
from holdfast.formats.values import is_list, is_object
from holdfast.http.bodies import plain, read_object, written
from holdfast.http.endpoints import endpoint_of
from holdfast.http.fitter import Fitter, RequestRefusedError
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.messages import ToolCall
from holdfast.kernel.ports import KeyValueStore
from holdfast.names import ToolProvider
from holdfast.options import Options
from holdfast.recovery import recall_tool

_ROUNDS = 5
_WIRES = ("openai_chat", "anthropic")
_EVENT = "text/event-stream"


class Recalls:
    """Offers and answers the tool; ``rounds`` times at most for one request."""

    rounds = _ROUNDS

    def __init__(self, options: Options, fitter: Fitter) -> None:
        self._store = cast("str | KeyValueStore", options.get("store"))
        self._secret = options.get("secret") or ""
        self._fitter = fitter

    def offered(self, path: str, raw: bytes, encoding: str) -> bytes | None:
        """The body, plain, with the tool among its tools; None where it cannot be offered."""
        endpoint = endpoint_of(path)
        if endpoint is None or endpoint.format not in _WIRES:
            return None
        try:
            body = read_object(plain(raw, encoding))
        except HoldfastError as fault:
            if self._fitter.redacts:
                raise RequestRefusedError(f"the request was not sent: {fault}") from fault
            return None
        tools: object = body.get("tools") or []
        known = is_list(tools) and any(_name(tool) == RECALL_TOOL for tool in tools)
        if known or not is_list(tools) or body.get("n", 1) != 1:
            return None
        schema = recall_tool(self._store, cast("ToolProvider", endpoint.format)).schema
        return written({**body, "tools": [*tools, schema]})

    def answered(
        self, path: str, asked: bytes, held: bytes, kind: str, thread: str
    ) -> bytes | None:
        """The request with the model's calls of the tool and their answers; None where it has none.

        Other calls beside them are left out: the model makes them again when it has what it asked
        for.
        """
        endpoint = endpoint_of(path)
        if endpoint is None or RECALL_TOOL.encode() not in held:
            return None
        form = endpoint.format
        message = _SPOKEN[form](held, stream=kind.startswith(_EVENT))
        if message is None:
            return None
        body = read_object(asked)
        calls = [c for c in named(form).read([message]).messages[0].calls if c.name == RECALL_TOOL]
        if not calls:
            return None
        tool = recall_tool(
            self._store, cast("ToolProvider", form), thread=thread, secret=self._secret
        )
        outputs = [tool(call.arguments) for call in calls]
        exchange = [_alone(message, calls), *results(form, calls, outputs)]
        return written({**body, "messages": [*body["messages"], *exchange]})


def _name(tool: object) -> str:
    inner: object = tool.get("function", tool) if is_object(tool) else None
    return str(inner.get("name")) if is_object(inner) else ""


def _alone(message: Mapping[str, Any], calls: list[ToolCall]) -> dict[str, Any]:
    """The model's message with none but these calls."""
    ids = {call.id for call in calls}
    if "tool_calls" in message:
        kept = [call for call in message["tool_calls"] if call.get("id") in ids]
        return {**message, "tool_calls": kept}
    blocks = [b for b in message["content"] if b.get("type") != "tool_use" or b.get("id") in ids]
    return {**message, "content": blocks}


def _events(held: bytes) -> Iterator[Any]:
    """The data of a stream's events."""
    for line in held.splitlines():
        if line.startswith(b"data:") and (data := line[5:].strip()) not in (b"", b"[DONE]"):
            found: object = msgspec.json.decode(data)
            if is_object(found):
                yield found


def _chat_message(held: bytes, *, stream: bool) -> dict[str, Any] | None:
    """The assistant's message in an answer of Chat Completions."""
    if not stream:
        choices: Any = read_object(held).get("choices") or [{}]
        return cast("dict[str, Any] | None", choices[0].get("message"))
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for event in _events(held):
        for choice in event.get("choices") or ():
            delta: Any = choice.get("delta") or {}
            text.append(delta.get("content") or "")
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(
                    part.get("index", 0),
                    {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
                )
                call["id"] = part.get("id") or call["id"]
                function: Any = part.get("function") or {}
                for field in ("name", "arguments"):
                    call["function"][field] += function.get(field) or ""
    message = {"role": "assistant", "content": "".join(text) or None}
    return {**message, "tool_calls": [calls[i] for i in sorted(calls)]} if calls else message


def _claude_message(held: bytes, *, stream: bool) -> dict[str, Any] | None:
    """The assistant's message in an answer of Anthropic's Messages."""
    if not stream:
        return {"role": "assistant", "content": read_object(held).get("content") or []}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for event in _events(held):
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            if delta["type"] == "input_json_delta":
                inputs[event["index"]] = inputs.get(event["index"], "") + delta["partial_json"]
            else:
                for field in ("text", "thinking", "signature"):
                    if field in delta:
                        block[field] = block.get(field, "") + delta[field]
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return {"role": "assistant", "content": [blocks[i] for i in sorted(blocks)]}


_SPOKEN = {"openai_chat": _chat_message, "anthropic": _claude_message}
