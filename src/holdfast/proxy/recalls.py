"""The recall tool of the proxy: it is added to requests, and its calls are answered here.

The client sees neither the tool nor its calls.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, cast

import msgspec

from holdfast.agent.tools import results
from holdfast.engine import RECALL_TOOL
from holdfast.formats import named
from holdfast.formats.convert import described
from holdfast.formats.payloads import Object, is_list, is_object
from holdfast.formats.wire import BlockWire, ObjectWire
from holdfast.http.fitter import Fitter, RequestRefusedError
from holdfast.http.requests import endpoint_of, plain, read_object, written
from holdfast.kernel.errors import HoldfastError
from holdfast.kernel.messages import Message, Messages, ToolCall
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Continuing, Format
from holdfast.recovery import recall_tool

_EVENT = "text/event-stream"


class Recalls:
    """Offers the tool and answers its calls, at most ``rounds`` times for one request."""

    # each is a call of the model for which the client waits, with up to 5,000 tokens more to read
    # (``recovery.MOST``)
    rounds = 5

    def __init__(self, fitter: Fitter) -> None:
        self._store = cast("str | KeyValueStore", fitter.options.get("store"))
        self._secret = fitter.options.get("secret") or ""
        self._fitter = fitter

    def offered(self, path: str, raw: bytes, encoding: str) -> bytes | None:
        """The decompressed body with the tool added; None if it cannot be offered."""
        endpoint = endpoint_of(path)
        if endpoint is None or endpoint.asks:
            return None
        try:
            body = read_object(plain(raw, encoding))
        except HoldfastError as fault:
            if self._fitter.redacts:
                raise RequestRefusedError(f"the request was not sent: {fault}") from fault
            return None
        if not _may_be_offered(named(endpoint.format), body):
            return None
        schema = recall_tool(self._store, endpoint.format).schema
        return written({**body, "tools": [*(body.get("tools") or []), schema]})

    def answered(
        self, path: str, asked: bytes, held: bytes, kind: str, thread: str
    ) -> bytes | None:
        """The request with the model's calls of the tool and their answers.

        None without calls, and for an answer that cannot be read. Other calls of the same message
        are left out: the model makes them again afterwards.
        """
        endpoint = endpoint_of(path)
        if endpoint is None or RECALL_TOOL.encode() not in held:
            return None
        form: Any = named(endpoint.format)  # an ObjectWire, as that of every endpoint
        try:
            said = _SPOKEN[endpoint.format](held, stream=kind.startswith(_EVENT))
            read: Messages = form.read(said).messages
        except Exception:  # noqa: BLE001 - whatever a provider says, the client gets it
            return None
        calls = [call for each in read for call in each.calls if call.name == RECALL_TOOL]
        if not calls:
            return None
        tool = recall_tool(self._store, endpoint.format, thread=thread, secret=self._secret)
        ids = frozenset(call.id for call in calls)
        alone = filter(None, (_alone(form, each, ids) for each in read))
        answers = results(form, calls, [tool(call.arguments) for call in calls])
        body = read_object(asked)
        return written({**body, form.field: [*form.listed(body), *alone, *answers]})


def _may_be_offered(form: Format, body: Object) -> bool:
    """Whether the tool can be offered without changing how the provider handles the request."""
    tools: object = body.get("tools") or []
    if not is_list(tools) or any(name == RECALL_TOOL for name, _, _ in described(tools)):
        return False
    if form.name == "gemini":  # it does not accept functions beside its own tools
        config: object = body.get("generationConfig")
        several = is_object(config) and config.get("candidateCount", 1) != 1
        return not several and all(any(described([tool])) for tool in tools)
    if isinstance(form, Continuing) and form.continues(body):
        return False
    return not body.get("background") and body.get("n", 1) == 1


def _alone(form: ObjectWire, message: Message, ids: frozenset[str]) -> Object | None:
    """The model's message with only these calls; None if it is another call's item."""
    said = cast("Object", message.original)
    others = {
        k
        for k, part in enumerate(message.parts)
        if isinstance(part, ToolCall) and part.id not in ids
    }
    if not others:
        return said
    if isinstance(form, BlockWire):
        kept = [block for k, block in enumerate(said[form.content]) if k not in others]
        return {**said, form.content: kept}
    if "tool_calls" in said:
        return {**said, "tool_calls": [call for call in said["tool_calls"] if call["id"] in ids]}
    return None


def _events(held: bytes) -> Iterator[Any]:
    """The data of a stream's events."""
    for line in held.splitlines():
        if line.startswith(b"data:") and (data := line[5:].strip()) not in (b"", b"[DONE]"):
            found: object = msgspec.json.decode(data)
            if is_object(found):
                yield found


def _joined(pieces: Sequence[Object], field: str) -> str:
    """The text of a field that comes in pieces."""
    return "".join(piece.get(field) or "" for piece in pieces)


def _chat_message(held: bytes, *, stream: bool) -> list[Any]:
    """The assistant's message in an answer of Chat Completions."""
    if not stream:
        return [read_object(held)["choices"][0]["message"]]
    choices = chain.from_iterable(event.get("choices") or () for event in _events(held))
    said: list[Object] = [choice.get("delta") or {} for choice in choices]
    calls = defaultdict[int, list[Object]](list)
    for part in chain.from_iterable(delta.get("tool_calls") or () for delta in said):
        calls[part.get("index", 0)].append(part)
    message: dict[str, Any] = {"role": "assistant", "content": _joined(said, "content") or None}
    if calls:
        message["tool_calls"] = [_chat_call(calls[index]) for index in sorted(calls)]
    return [message]


def _chat_call(parts: Sequence[Object]) -> Object:
    """The call of these parts, of which the first has its id."""
    called: list[Object] = [part.get("function") or {} for part in parts]
    ids = [part["id"] for part in parts if part.get("id")]
    function = {field: _joined(called, field) for field in ("name", "arguments")}
    return {"id": ids[-1], "type": "function", "function": function}


def _claude_message(held: bytes, *, stream: bool) -> list[Any]:
    """The assistant's message in an answer of Anthropic's Messages API."""
    if not stream:
        return [{"role": "assistant", "content": read_object(held)["content"]}]
    blocks = defaultdict[int, list[Object]](list)
    for event in _events(held):
        if event.get("type") in ("content_block_start", "content_block_delta"):
            blocks[event["index"]].append(event.get("content_block") or event["delta"])
    return [{"role": "assistant", "content": [_claude_block(blocks[i]) for i in sorted(blocks)]}]


def _claude_block(pieces: Sequence[Object]) -> Object:
    """The block that begins as the first piece."""
    block = dict(pieces[0])
    for field in ("text", "thinking", "signature"):
        if text := _joined(pieces, field):  # a block has only some of these
            block[field] = text
    if any("partial_json" in piece for piece in pieces):
        # without arguments, every piece is empty
        block["input"] = json.loads(_joined(pieces, "partial_json") or "{}")
    return block


def _response_items(held: bytes, *, stream: bool) -> list[Any]:
    """The items in an answer of the Responses API."""
    if not stream:
        return list(read_object(held)["output"])
    return [e["item"] for e in _events(held) if e.get("type") == "response.output_item.done"]


def _gemini_content(held: bytes, *, stream: bool) -> list[Any]:
    """The model's content in an answer of Gemini, whose streams may also be a JSON list."""
    found: Any = list(_events(held)) if stream else msgspec.json.decode(held)
    parts: list[Any] = []
    for chunk in found if is_list(found) else [found]:
        for candidate in chunk.get("candidates") or ():
            content: Any = candidate.get("content") or {}
            parts += content.get("parts") or ()
    return [{"role": "model", "parts": parts}]


_SPOKEN = {
    "openai_chat": _chat_message,
    "openai_responses": _response_items,
    "anthropic": _claude_message,
    "gemini": _gemini_content,
}
"""The function that reads the model's messages from an answer, by format.

It raises some exception for an answer without any.
"""
