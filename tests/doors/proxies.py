"""A proxy of the tests, in a process of its own or in this one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from holdfast.http import Budgets
from holdfast.http.requests import Vendor
from holdfast.proxy import Settings
from holdfast.proxy.server import serving

VENDORS: tuple[Vendor, ...] = ("openai", "anthropic", "google")


@contextmanager
def proxy(url: str, budget: Any = "8k", **more: Any) -> Iterator[str]:
    """The address of a proxy before this provider."""
    options = more.pop("options", {})
    upstreams = dict.fromkeys(VENDORS, url)
    settings = Settings(
        port=0, upstreams=upstreams, budgets=Budgets(budget), options=options, grace=2, **more
    )
    with serving(settings) as address:
        yield address


def post(url: str, body: Any, **headers: str) -> httpx2.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-type": "application/json", "authorization": "Bearer k", **headers}
    return httpx2.post(url, content=raw, headers=given, timeout=60)


@contextmanager
def raw_server(answer: Any) -> Iterator[str]:
    """A server that does with each connection whatever ``answer`` does with its socket."""
    import socket

    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=served, args=(connection,), daemon=True).start()

    def served(connection: socket.socket) -> None:
        with connection:
            answer(connection)

    threading.Thread(target=run, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
