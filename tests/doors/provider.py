"""A provider on loopback: Chat Completions, Messages, Responses and Gemini, as JSON and as streams.

It calls the first tool it is offered for so many rounds (counted here: what is fitted holds fewer
results), then answers. What it was sent is on record.
"""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import zstandard


@dataclass(frozen=True)
class Seen:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any

    @property
    def wire(self) -> str:
        path = self.path.partition("?")[0]
        ends = {
            "/chat/completions": "openai_chat",
            "/messages": "anthropic",
            "/responses": "openai_responses",
        }
        found = next((wire for end, wire in ends.items() if path.endswith(end)), "")
        return found or ("gemini" if "enerateContent" in path else "")


@dataclass
class Provider:
    """``tool`` gives the arguments of the call in a round; ``longest`` is in bytes of a body."""

    rounds: int = 0
    tool: str = ""
    arguments: Callable[[int], dict[str, Any]] = lambda n: {}
    longest: int = 0
    busy: int = 0
    """How many requests are refused with 429 first."""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Calls to be made, whatever the rounds say."""
    turn: Callable[[int, dict[str, Any]], tuple[str, dict[str, Any]] | None] | None = None
    """Decides about every turn by its number and the request, in the place of all this."""
    seen: list[Seen] = field(default_factory=list)
    made: int = 0
    answer: str = "fine"

    def __enter__(self) -> Self:
        provider = self

        class Handler(_Handler):
            told = provider

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def asked(self) -> list[Seen]:
        """What held a conversation."""
        return [each for each in self.seen if each.wire and each.method == "POST"]

    def decide(self, body: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """The next call, or None: an answer."""
        offered = _tools(body)
        if not offered:
            return None
        if self.calls:
            return self.calls.pop(0)
        if self.turn:
            self.made += 1
            return self.turn(self.made, body)
        if self.made >= self.rounds:
            return None
        name, schema = next((each for each in offered if each[0] == self.tool), offered[0])
        self.made += 1
        return name, self.arguments(self.made) or _made_up(schema)


def _tools(body: dict[str, Any]) -> list[tuple[str, Any]]:
    found = []
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:
            found += [
                (each["name"], each.get("parameters")) for each in tool["functionDeclarations"]
            ]
        elif "function" in tool:
            found.append((tool["function"]["name"], tool["function"].get("parameters")))
        elif tool.get("name"):
            found.append((tool["name"], tool.get("input_schema") or tool.get("parameters")))
    return found


def _made_up(schema: Any) -> dict[str, Any]:
    properties = (schema or {}).get("properties", {})
    values = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return {
        name: values.get(str(properties[name].get("type")), "x")
        for name in (schema or {}).get("required", properties)
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    told: Provider

    def log_message(self, *words: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.told.seen.append(Seen(self.command, self.path, dict(self.headers), b"", None))
        models = [{"id": "gpt-4o", "object": "model", "type": "model", "display_name": "m"}]
        self._json(200, {"object": "list", "data": models, "models": [], "has_more": False})

    def do_POST(self) -> None:
        raw = self._read()
        text = _plain(raw, self.headers.get("content-encoding", ""))
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        seen = Seen("POST", self.path, {k.lower(): v for k, v in self.headers.items()}, raw, body)
        self.told.seen.append(seen)
        if self.told.busy:
            self.told.busy -= 1
            refusal = {"error": {"type": "rate_limit_error", "message": "slow down"}}
            self._json(429, refusal, {"retry-after-ms": "5"})
        elif not isinstance(body, dict):
            self._json(400, {"error": {"message": "no JSON", "type": "invalid_request_error"}})
        elif self.told.longest and len(text) > self.told.longest:
            self._json(400, _too_long(seen.wire, len(text), self.told.longest))
        elif "count" in self.path.lower():
            self._json(200, {"input_tokens": 7, "totalTokens": 7})
        else:
            self._answered(seen, body)

    def _answered(self, seen: Seen, body: dict[str, Any]) -> None:
        answer = _ANSWERS.get(seen.wire)
        if answer is None:
            self._json(200, {"ok": True})
            return
        whole, events = answer(body, self.told.decide(body), len(self.told.seen), self.told.answer)
        if not (body.get("stream") or "streamGenerate" in self.path):
            self._json(200, whole)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            line = data if isinstance(data, str) else json.dumps(data)
            chunk = f"{head}data: {line}\n\n".encode()
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _read(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("x-request-id", "req_1")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _plain(raw: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(raw)
    if encoding == "deflate":
        return zlib.decompress(raw)
    if encoding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    return raw


def _too_long(wire: str, size: int, longest: int) -> dict[str, Any]:
    if wire == "anthropic":
        message = f"prompt is too long: {size // 4} tokens > {longest // 4} maximum"
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    if wire == "gemini":
        message = (
            f"The input token count ({size // 4}) exceeds the maximum number of tokens "
            f"allowed ({longest // 4})."
        )
        return {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}}
    message = (
        f"This model's maximum context length is {longest // 4} tokens. However, your messages "
        f"resulted in {size // 4} tokens."
    )
    code = "context_length_exceeded"
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


Call = tuple[str, dict[str, Any]] | None
Answer = tuple[dict[str, Any], list[tuple[str, Any]]]


def _chat(body: dict[str, Any], call: Call, n: int, text: str) -> Answer:
    base = {"id": f"chatcmpl-{n}", "created": 1, "model": body.get("model", "m")}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        called = {"id": f"call_{n}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [called]}
        deltas = [{"role": "assistant", "tool_calls": [{"index": 0, **called}]}]
    else:
        message = {"role": "assistant", "content": text}
        deltas = [{"role": "assistant", "content": ""}, *({"content": one} for one in text)]
    ends = "tool_calls" if call else "stop"
    choice = {"index": 0, "message": message, "finish_reason": ends}
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunk = {**base, "object": "chat.completion.chunk"}
    parts = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    parts.append({"index": 0, "delta": {}, "finish_reason": ends})
    events = [("", {**chunk, "choices": [part]}) for part in parts]
    return whole, [*events, ("", {**chunk, "choices": [], "usage": usage}), ("", "[DONE]")]


def _messages(body: dict[str, Any], call: Call, n: int, text: str) -> Answer:
    usage = {"input_tokens": 10, "output_tokens": 5}
    block: dict[str, Any] = {"type": "text", "text": text}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{n:04}", "name": call[0], "input": call[1]}
    ends = "tool_use" if call else "end_turn"
    whole = {
        "id": f"msg_{n}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [block],
        "stop_reason": ends,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**block, "input": {}} if call else {**block, "text": ""}
    if call:
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(call[1])}]
    else:
        deltas = [{"type": "text_delta", "text": one} for one in text]
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": ends}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return whole, [(each["type"], each) for each in told]


def _responses(body: dict[str, Any], call: Call, n: int, text: str) -> Answer:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    item: dict[str, Any]
    if call:
        item = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": call[0]}
        item |= {"arguments": json.dumps(call[1]), "status": "completed"}
    else:
        said = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed"}
        item["content"] = [said]
    whole = {
        "id": f"resp_{n}",
        "object": "response",
        "created_at": 1,
        "model": body.get("model"),
        "status": "completed",
        "output": [item],
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    started = {**item, "status": "in_progress", **({"arguments": ""} if call else {"content": []})}
    at = {"item_id": item["id"], "output_index": 0}
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": started},
    ]
    if call:
        arguments = item["arguments"]
        done = {"name": call[0], "arguments": arguments}
        told += [
            {"type": "response.function_call_arguments.delta", **at, "delta": arguments},
            {"type": "response.function_call_arguments.done", **at, **done},
        ]
    else:
        part = {"type": "output_text", "text": "", "annotations": []}
        at["content_index"] = 0
        told += [
            {"type": "response.content_part.added", **at, "part": part},
            {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []},
            {"type": "response.output_text.done", **at, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **at, "part": {**part, "text": text}},
        ]
    told += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(e["type"], {**e, "sequence_number": i}) for i, e in enumerate(told)]


def _gemini(body: dict[str, Any], call: Call, n: int, text: str) -> Answer:
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": text}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "responseId": f"r{n}"}
    return whole, [("", whole)]


_ANSWERS: dict[str, Callable[[dict[str, Any], Call, int, str], Answer]] = {
    "openai_chat": _chat,
    "anthropic": _messages,
    "openai_responses": _responses,
    "gemini": _gemini,
}
