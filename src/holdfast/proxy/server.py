"""The proxy: an ASGI application, which uvicorn runs.

It fits a request, forwards it, and passes the answer back.

Headers are forwarded, except hop-by-hop ones. Answers are passed on as bytes, at the client's pace.
If the client disconnects, the request to the provider is cancelled.
"""

import asyncio
import gc
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from threading import Thread
from time import perf_counter, sleep
from typing import Any, cast

from holdfast.api import sample
from holdfast.formats.convert import convert
from holdfast.http.fitter import Fitted, Fitter, Given, RequestRefusedError
from holdfast.http.requests import (
    OWN,
    Budgets,
    Vendor,
    origin_of,
    plain,
    readable_of,
    vendor_of,
    written,
)
from holdfast.kernel.errors import ConfigError, HoldfastError
from holdfast.kernel.registry import needed_by
from holdfast.providers.vendor import REFUSED
from holdfast.proxy import LOOPBACK, Settings
from holdfast.text.visible import fault_line
from holdfast.text.words import READ

from .asgi import Connection, Gone, Receive, Scope, Send
from .recalls import Recalls

with needed_by("the proxy", "proxy"):
    import aiohttp
    import uvicorn
    from yarl import URL

    from .figures import Figures, Row, Usage
    from .pages import Pages

_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade host content-length expect".split()
)
"""Hop-by-hop headers, which apply to one connection."""

_OWN = OWN.encode()
_AUTOMATIC = ("user-agent", "accept", "accept-encoding", "content-type")
_FIELD = 65_536  # bytes of a header of an answer, as Python's own client takes them
_CONNECT = 5.0  # seconds to connect to a provider, as long as the packages of OpenAI and Anthropic


class Proxy:
    """The application; all requests share its connections to providers.

    ``ready`` is called when the caches are filled.
    """

    def __init__(self, settings: Settings, ready: Callable[[], object] | None = None) -> None:
        self.settings, self._ready = settings, ready
        self.fitter = Fitter(settings.budgets, settings.options, reads=settings.recall)
        self.figures = Figures()
        self.pages = Pages(settings, self.fitter, self.figures)
        self.recalls = Recalls(self.fitter) if settings.recall else None
        # read once: aiohttp would read the environment in threads
        self.proxies = settings.proxies()
        self.session: aiohttp.ClientSession
        """The connections to the providers, while the server runs."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        client = Connection(scope, receive, send)
        if client.headers.get("upgrade", "").lower() == "websocket":
            # refused, so that the client uses HTTP, as Codex then does
            await client.begin(426, [(b"content-length", b"0"), (b"connection", b"close")])
            await client.write(b"")
        elif self.pages.has(client.path):
            await self.pages.serve(client)
        else:
            await self._request(client)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Prepare before the first request, and clean up after the last one."""
        await receive()  # startup
        await asyncio.to_thread(warm)
        self.session = aiohttp.ClientSession(
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT),
            connector=aiohttp.TCPConnector(limit=0),
            skip_auto_headers=_AUTOMATIC,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_field_size=_FIELD,
        )
        async with self.session:
            await send({"type": "lifespan.startup.complete"})
            if self._ready:
                self._ready()
            await receive()  # shutdown
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, client: Connection) -> None:
        row = self.figures.begin(client.path)
        exchange = _Exchange(self, client, row)
        self.figures.live.inc()
        status = 500
        try:
            status = await exchange.run()
        except Gone:
            status = 499  # as nginx logs a client that disconnected
        except (aiohttp.ClientError, TimeoutError, OSError) as fault:
            self.figures.fault("upstream")
            # the error without the address, which may hold a key
            bare = fault.message if isinstance(fault, aiohttp.ClientResponseError) else fault
            line = fault_line(f"{type(fault).__name__}: {bare}")
            row.note = f"upstream: {line}"
            status = 502
            if not exchange.begun:  # else the client's connection has ended with the provider's
                line = f"the provider could not be reached ({line})"
                await client.refuse(status, line, exchange.vendor)
        finally:
            self.figures.live.dec()
            self.figures.end(row, status, exchange.usage)


def _text(value: bytes) -> str:
    """The value of a header, which is sent as UTF-8 again; what is none is read as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


@dataclass
class _Exchange:
    """One request and its answer."""

    proxy: Proxy
    client: Connection
    row: Row
    begun: bool = False

    def __post_init__(self) -> None:
        self.path, self.headers = self.client.path, self.client.headers
        self.endpoint = self.proxy.fitter.endpoint(self.path)
        self.vendor: Vendor = vendor_of(self.path, self.headers)
        self.encoding = self.headers.get("content-encoding", "")
        address = self.client.scope.get("client") or ("",)
        self.origin = origin_of(self.headers, address[0])
        self.usage = Usage()

    async def run(self) -> int:
        """Serve the request and return the status that the client got."""
        if self.client.scope["method"] != "POST" or self.endpoint is None:
            # it is not fitted, and passed on as it arrives
            length = self.headers.get("content-length", "0")
            if length in ("", "0") and not self.headers.get("transfer-encoding"):
                await self.client.body(0)
                return await self._watched(self._sent(None))
            return await self._watched(self._sent(self.client.parts()))
        most = self.proxy.settings.most_bytes
        raw = await self.client.body(most)
        if raw is None:
            line = f"the body is longer than {most:,} bytes"
            return await self.client.refuse(413, line, self.vendor)
        return await self._watched(self._conversation(raw))

    async def _sent(self, body: AsyncIterator[bytes] | None) -> int:
        """Send the body as it is, pass the answer on, and return its status."""
        async with self._asked(body, changed=False) as response:
            return await self._answered(response)

    async def _conversation(self, raw: bytes) -> int:
        recalls = self.proxy.recalls
        try:
            if recalls is not None:
                offered = await asyncio.to_thread(recalls.offered, self.path, raw, self.encoding)
                if offered is not None:
                    return await self._recalling(recalls, offered, raw)
            fitted = await self.fitted(raw, self.encoding)
        except RequestRefusedError as refused:
            self.proxy.figures.fault("fit")
            self.row.note = str(refused)[:300]
            return await self.client.refuse(422, str(refused), self.vendor)
        return await self._sent_fitted(fitted)

    async def _sent_fitted(self, fitted: Fitted) -> int:
        async with self._accepted(fitted) as (response, sent, read):
            return await self._answered(response, sent, read)

    @asynccontextmanager
    async def _accepted(
        self, fitted: Fitted, *, readable: bool = False
    ) -> AsyncGenerator[tuple[aiohttp.ClientResponse, Fitted, bytes]]:
        """The answer, what was sent for it, and the bytes of the answer that were read already.

        What is refused for its length is fitted harder and sent once more.
        """
        changed = fitted.changed or readable
        async with self._asked(fitted.body, changed=changed, readable=readable) as response:
            refusal = b""  # as many of its bytes as are inspected
            smaller = None
            if response.status in REFUSED:
                async for chunk in response.content.iter_any():
                    refusal += chunk
                    if len(refusal) > READ:
                        break
                smaller = await self._harder(fitted, response, refusal)
            if smaller is None:
                yield response, fitted, refusal
                return
        async with self._asked(smaller.body, changed=True, readable=readable) as response:
            yield response, smaller, b""

    async def fitted(self, raw: bytes, encoding: str, *, aside: bool = False) -> Fitted:
        """The body to send."""
        started = perf_counter()
        fitter = self.proxy.fitter
        fitted = self.endpoint and fitter.at_once(
            Given(self.endpoint, raw, encoding, **self.origin)
        )
        if fitted is None:
            fitted = await asyncio.to_thread(
                fitter.fit, self.path, raw, encoding, **self.origin, aside=aside
            )
        if not aside:
            self.proxy.figures.fitted(self.row, fitted, perf_counter() - started)
        return fitted

    async def _harder(
        self, fitted: Fitted, response: aiohttp.ClientResponse, refusal: bytes
    ) -> Fitted | None:
        with suppress(HoldfastError):
            text = plain(refusal, response.headers.get("content-encoding", ""))
            told = text.decode("utf-8", "replace")
            started = perf_counter()
            smaller = await asyncio.to_thread(
                self.proxy.fitter.fit_harder, fitted, response.status, told
            )
            if smaller is not None:
                self.proxy.figures.fitted(self.row, smaller, perf_counter() - started)
            return smaller
        return None

    async def _recalling(self, recalls: Recalls, offered: bytes, raw: bytes) -> int:
        """Serve a conversation in which calls of the recall tool are answered here.

        The answer is held back until it is known whether it has such a call. A model that does not
        stop to call it gets the request as the client sent it.
        """
        for said in range(recalls.rounds + 1):
            fitted = await self.fitted(offered, "", aside=said > 0)
            async with self._accepted(fitted, readable=True) as (response, sent, read):
                if response.status != 200:
                    return await self._answered(response, sent, read)
                held = await response.content.read()
                kind = response.headers.get("content-type", "")
                more = await asyncio.to_thread(
                    recalls.answered, self.path, offered, held, kind, sent.thread
                )
                if more is None:
                    return await self._answered(response, sent, held)
            offered = more
        return await self._sent_fitted(await self.fitted(raw, self.encoding, aside=True))

    def _asked(
        self, body: bytes | AsyncIterator[bytes] | None, *, changed: bool, readable: bool = False
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """The request upstream; ``readable``: its answer must have no content coding."""
        named = self.headers.get("connection", "").lower().encode("latin-1")  # as hop-by-hop too
        left = {*_HOP, *map(bytes.strip, named.split(b","))}
        if changed:
            left.add(b"content-encoding")
        accepted = self.headers.get("accept-encoding")
        if readable or (self.endpoint and accepted):
            left.add(b"accept-encoding")
        if not isinstance(body, bytes | None):
            left.remove(b"content-length")
        headers = [
            (name.decode("latin-1"), _text(value))
            for name, value in self.client.scope["headers"]
            if name not in left and not name.startswith(_OWN)
        ]
        if b"accept-encoding" in left:  # what refuses a length must be read
            coding = "identity" if readable else readable_of(accepted or "")
            headers.append(("accept-encoding", coding))
        scope, proxy = self.client.scope, self.proxy
        target: bytes = scope.get("raw_path") or self.path.encode()
        if scope["query_string"]:
            target += b"?" + scope["query_string"]
        return proxy.session.request(
            scope["method"],
            URL(proxy.settings.upstreams[self.vendor] + target.decode("latin-1"), encoded=True),
            data=body,
            headers=headers,
            allow_redirects=False,
            proxy=proxy.proxies[self.vendor],
        )

    async def _answered(
        self, response: aiohttp.ClientResponse, fitted: Fitted | None = None, read: bytes = b""
    ) -> int:
        """Pass the answer on, beginning with the bytes that were read already."""
        if not 200 <= response.status < 600:
            raise aiohttp.ClientPayloadError(f"its status is {response.status}")
        headers = [
            (low, value)
            for name, value in response.raw_headers
            if (low := name.lower()) not in _HOP or low == b"content-length"
        ]
        if fitted is not None and fitted.fault:
            line = fitted.note.encode("ascii", "replace")[:300]
            headers.append((_OWN + b"note", b"sent as it was: " + line))
        self.begun = True
        await self.client.begin(response.status, headers)
        looks = fitted is not None and "content-encoding" not in response.headers
        if read:
            self.usage.see(read)
            await self.client.write(read, more=True)
        more = True
        while more:
            chunk = await response.content.readany()
            more = not response.content.at_eof()
            if looks:
                self.usage.see(chunk)
            await self.client.write(chunk, more=more)
        return response.status

    async def _watched(self, work: Coroutine[Any, Any, int]) -> int:
        """Do the work until it is done, or the client has disconnected."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())

        async def left() -> None:
            await self.client.arrived.wait()  # the body is read elsewhere
            await self.client.left()
            task.cancel()

        watch = asyncio.ensure_future(left())
        try:
            return await work
        except asyncio.CancelledError:
            if not watch.done():
                raise
            task.uncancel()
            raise Gone from None
        finally:
            watch.cancel()


def warm() -> None:
    """Fit a small conversation in each format, with the vocabularies of the common models."""
    fitter = Fitter(Budgets(600), {})  # so few tokens that the conversation must be fitted
    talk = sample()[:24]
    chat, claude = convert(talk, "openai_chat"), convert(talk, "anthropic")
    for model in ("gpt-4o", "gpt-4"):
        fitter.fit("/v1/chat/completions", written({**chat, "model": model}))
    fitter.fit("/v1/messages", written({**claude, "model": "claude-opus-4-8"}))


def _listening(settings: Settings) -> socket.socket:
    """The socket. Raises ConfigError if the address cannot be bound."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((settings.host, settings.port))
        found.listen(1_024)  # clients that connect while the caches are filled wait
    except OSError as fault:
        found.close()
        raise ConfigError(
            f"it cannot be listened on ({fault.strerror})",
            place=f"{settings.host}:{settings.port}",
            advice="give another --port, or stop the program that listens there",
        ) from fault
    return found


def _server(settings: Settings, ready: Callable[[], object] | None = None) -> uvicorn.Server:
    config = uvicorn.Config(
        Proxy(settings, ready),
        ws="none",  # so that a request for a WebSocket comes as one of HTTP
        access_log=False,
        log_level="critical",
        limit_concurrency=settings.connections + 1,  # uvicorn refuses the last of them
        timeout_graceful_shutdown=settings.grace,
        server_header=False,
        date_header=False,
    )
    return uvicorn.Server(config)


def _address(settings: Settings, listening: socket.socket) -> str:
    """The address for clients."""
    host = settings.host if settings.host in LOOPBACK else "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def serve(settings: Settings, told: Callable[[str], object]) -> None:
    """Run until a signal ends it; ``told`` is called with the address when the caches are filled.

    Raises ConfigError if the address cannot be bound.
    """
    listening = _listening(settings)

    def ready() -> None:
        gc.collect()
        gc.freeze()  # vocabularies stay: walking them would hold requests back for some 90 ms
        told(_address(settings, listening))

    with suppress(KeyboardInterrupt):
        _server(settings, ready).run(sockets=[listening])


@contextmanager
def serving(settings: Settings) -> Generator[str]:
    """Run in the background during the block; yields the address when it answers.

    Raises ConfigError if the address cannot be bound.
    """
    listening = _listening(settings)
    server = _server(settings)
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            sleep(0.01)
        yield _address(settings, listening)
    finally:
        server.should_exit = True
        thread.join(settings.grace + 1)
        listening.close()
