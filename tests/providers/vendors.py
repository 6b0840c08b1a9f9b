"""A small server on 127.0.0.1 that speaks the wire formats of three vendors, and fails on
demand.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

WIRES = ("openai", "anthropic", "gemini")


class Vendors:
    """``faults`` are for the next requests, in order; ``judge`` says of the text of a request
    which fault it meets.

    A fault is ``busy`` (429), ``broken`` (500), ``hang``, ``cut`` (the line breaks in the body),
    ``malformed`` (a body that is no JSON), ``strange`` (JSON of another form), ``long`` (the
    context is too long), ``refused`` (401); None is none.
    """

    def __init__(self) -> None:
        self.faults: deque[str | None] = deque()
        self.judge: Callable[[str], str | None] = lambda text: None
        self.reply: Callable[[str], str] = lambda text: "the reply"
        self.headers: dict[str, str] = {}
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.over = Event()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def base(self, wire: str) -> str:
        """The base URL as the vendor's own package wants it."""
        return f"{self.url}/v1" if wire == "openai" else self.url

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def met(self, path: str, body: dict[str, Any]) -> str | None:
        """Put the request on record; the fault that it meets."""
        with self._lock:
            self.requests.append(body)
            self.paths.append(path)
            planned = self.faults.popleft() if self.faults else None
        return planned or self.judge(text_of(body))


def text_of(body: dict[str, Any]) -> str:
    """The prompt of a request, whatever its wire."""
    if "contents" in body:
        return body["contents"][-1]["parts"][0]["text"]
    if "messages" in body:
        return body["messages"][-1]["content"]
    return json.dumps(body)


def _handler(vendors: Vendors) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = vendors.met(self.path, body)
            if fault == "hang":
                vendors.over.wait()
                self.close_connection = True
            elif fault in {"busy", "broken", "long", "refused"}:
                self.send(*refusal_of(wire_of(self.path), fault))
            else:
                self.send(200, answer_of(self.path, body, vendors.reply), fault)

        def send(self, status: int, answer: Any, fault: str | None = None) -> None:
            data = json.dumps({"odd": []} if fault == "strange" else answer).encode()
            data = b"{]" if fault == "malformed" else data
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in vendors.headers.items() if status != 200 else ():
                self.send_header(name, value)
            self.send_header(
                "Connection", "close"
            )  # what a client kept open would be lost in some later test
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    return Handler


def wire_of(path: str) -> str:
    return (
        "gemini" if "/models/" in path else "anthropic" if path.endswith("/messages") else "openai"
    )


def answer_of(path: str, body: dict[str, Any], reply: Callable[[str], str]) -> Any:
    if path.endswith("/embeddings"):
        rows = [
            {"object": "embedding", "index": i, "embedding": vector(text)}
            for i, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        return {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}
    if path.endswith(":batchEmbedContents"):
        texts = [request["content"]["parts"][0]["text"] for request in body["requests"]]
        return {"embeddings": [{"values": vector(text)} for text in texts]}
    said = reply(text_of(body))
    if wire_of(path) == "gemini":
        parts = [{"text": "thinking aloud", "thought": True}, {"text": said}]
        usage = {
            "promptTokenCount": 11,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 16,
        }
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}}],
            "usageMetadata": usage,
        }
    if wire_of(path) == "anthropic":
        content = [{"type": "text", "text": said}]
        usage = {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 5}
        facts = {"id": "m", "type": "message", "role": "assistant", "model": body["model"]}
        return {
            **facts,
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": said},
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    facts = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**facts, "choices": [choice], "usage": usage}


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.5]


_TOO_LONG = {
    "openai": "This model's maximum context length is 8192 tokens. However, your messages "
    "resulted in 9000 tokens.",
    "anthropic": "prompt is too long: 9000 tokens > 8192 maximum",
    "gemini": "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
}


def refusal_of(wire: str, fault: str) -> tuple[int, Any]:
    status, text = {
        "busy": (429, "slow down"),
        "broken": (500, "something broke"),
        "long": (400, _TOO_LONG[wire]),
        "refused": (401, "this key is not known"),
    }[fault]
    if wire == "gemini":
        return status, {"error": {"code": status, "message": text, "status": "INVALID_ARGUMENT"}}
    if wire == "anthropic":
        return status, {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": text},
        }
    return status, {
        "error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}
    }
