"""The proxy's own paths: its page, figures, health check, and shortening for gateways."""

import asyncio
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from prometheus_client import generate_latest

from holdfast.api import compress
from holdfast.formats.payloads import is_list, model_of
from holdfast.http.fitter import Fitter
from holdfast.http.requests import origin_of, plain, read_object, thread_of, written
from holdfast.kernel.errors import ConfigError, HoldfastError, NotFoundError
from holdfast.kernel.typed import attributes
from holdfast.options import Options
from holdfast.proxy import LOOPBACK, Settings
from holdfast.recovery import recall
from holdfast.reports import report
from holdfast.reports.pages import asset
from holdfast.result import CompressionMetrics

from .asgi import Connection
from .figures import Figures

_PAGE = "/holdfast"
_COMPRESS = "/v1/compress"
_RETRIEVE = "/v1/retrieve"
_TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_HTML = b"text/html; charset=utf-8"
_GUARDED = (
    (b"content-security-policy", b"default-src 'self' 'unsafe-inline'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_COOKIE = "holdfast_token="


@dataclass(frozen=True)
class Pages:
    """Answers requests to the proxy's own paths."""

    settings: Settings
    fitter: Fitter
    figures: Figures

    def has(self, path: str) -> bool:
        """Whether the path is one of the proxy's own."""
        folders = ("/healthz", "/metrics", _COMPRESS)
        return path in folders or f"{path}/".startswith((f"{_PAGE}/", f"{_RETRIEVE}/"))

    async def serve(self, client: Connection) -> None:
        """Answer a request to one of them."""
        path = client.path
        if path == "/healthz":
            await client.answer(200, b"ok\n", b"text/plain")
        elif not self._open(client):
            line = b"holdfast: this needs the proxy's token, as ?token=... or in a header; see "
            await client.answer(403, line + b"--token\n", b"text/plain")
        elif path == _COMPRESS:
            await self._called(client, self._shortened)
        elif path.startswith(_RETRIEVE):
            await self._called(client, self._original)
        elif path == "/metrics":
            await client.answer(200, generate_latest(self.figures.registry), _TEXT)
        elif path == f"{_PAGE}/events":
            await self._events(client)
        elif path.startswith(f"{_PAGE}/requests/"):
            await self._report(client)
        elif path in (_PAGE, f"{_PAGE}/"):
            await self._page(client)
        else:
            await client.answer(404, b"holdfast: there is no such page\n", b"text/plain")

    def _open(self, client: Connection) -> bool:
        """Whether the client may ask: with the token or, if there is none, from this machine.

        The header Host is checked too, so that no other site can send requests through a local
        browser.
        """
        token, headers = self.settings.token, client.headers
        if not token:
            host = headers.get("host", "").lower()
            return (host.rpartition(":")[0] or host).strip("[]") in LOOPBACK
        query = parse_qs(client.scope["query_string"].decode("latin-1"))
        cookies = (each.strip() for each in headers.get("cookie", "").split(";"))
        given = [
            *query.get("token", ()),
            headers.get("authorization", "").removeprefix("Bearer "),
            *(each.removeprefix(_COOKIE) for each in cookies if each.startswith(_COOKIE)),
        ]
        return any(hmac.compare_digest(each.encode(), token.encode()) for each in given)

    async def _page(self, client: Connection) -> None:
        more = list(_GUARDED)
        if self.settings.token and client.scope["query_string"]:
            cookie = f"{_COOKIE}{self.settings.token}; HttpOnly; SameSite=Strict; Path=/"
            more.append((b"set-cookie", cookie.encode()))
        await client.answer(200, asset("proxy", "page.html").encode(), _HTML, more)

    async def _events(self, client: Connection) -> None:
        """Send the figures whenever they change, until the reader disconnects."""
        await client.begin(200, [(b"content-type", b"text/event-stream"), *_GUARDED])
        gone = asyncio.ensure_future(client.left())
        last = b""
        try:
            while not gone.done():
                told = written(self.figures.for_page())
                chunk = b"data: " + told + b"\n\n" if told != last else b": \n\n"
                last = told
                await client.write(chunk, more=True)
                await asyncio.wait({gone}, timeout=1)
        finally:
            gone.cancel()

    async def _report(self, client: Connection) -> None:
        """Send the page of one result."""
        number = client.path.rpartition("/")[2]
        result = dict(self.figures.reports).get(int(number)) if number.isdecimal() else None
        if result is None:
            line = b"holdfast: what was done to this request is not remembered any more\n"
            await client.answer(404, line, b"text/plain")
            return
        page = await asyncio.to_thread(report, result, "html")
        await client.answer(200, page.encode("utf-8", "replace"), _HTML, _GUARDED[1:])

    async def _called(
        self, client: Connection, work: Callable[[Connection, bytes], dict[str, Any]]
    ) -> None:
        """Send as JSON what the work makes of the request's body, or why it cannot."""
        most = self.settings.most_bytes
        raw = await client.body(most)
        if raw is None:
            await client.refuse(413, f"the body is longer than {most:,} bytes")
            return
        try:
            status, told = 200, await asyncio.to_thread(work, client, raw)
        except HoldfastError as fault:
            status = 404 if isinstance(fault, NotFoundError) else 400
            told = {"error": {"message": f"holdfast: {fault}"}}
        await client.answer(status, written(told))

    def _shortened(self, client: Connection, raw: bytes) -> dict[str, Any]:
        """The messages with shortened outputs, in the form that gateways use."""
        body = read_object(plain(raw, client.headers.get("content-encoding", "")))
        messages: object = body.get("messages")
        if not is_list(messages):
            raise ConfigError("there are none", place="messages", advice="give a list")
        model = model_of(body)
        budget = self.fitter.budgets.of(model or "", body)
        metrics = CompressionMetrics(0, 0, 0, 0)
        if budget is not None and messages:
            options: Options = {
                **self.fitter.options,
                "strategy": ["shrink"],
                "model": model,
                "thread": _thread(client),
            }
            options.pop("profile", None)
            result = compress(list(messages), budget, **options)
            messages, metrics = result.messages, result.metrics
        return {
            "messages": messages,
            **attributes(metrics, "tokens_before tokens_after compression_ratio"),
            "ccr_hashes": [],
        }

    def _original(self, client: Connection, raw: bytes) -> dict[str, Any]:
        """The original that a shortened text names, by the key in the path or the body."""
        key = client.path.removeprefix(_RETRIEVE).strip("/")
        key = key or str(read_object(raw or b"{}").get("hash") or "")
        store = self.fitter.options.get("store")
        if store is None:
            raise NotFoundError(key, where="a proxy without a store")
        secret = self.fitter.options.get("secret") or ""
        text = recall(key, store=store, thread=_thread(client), secret=secret)
        return {"hash": key, "original_content": text}


def _thread(client: Connection) -> str:
    """The conversation that the caller names, or one for all unnamed requests."""
    origin = origin_of(client.headers)
    return thread_of(origin["owner"], origin["thread"])
