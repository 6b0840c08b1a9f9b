"""Fitting for HTTP clients: ``openai.OpenAI(http_client=holdfast.http.client(budget="32k"))``.

The clients and transports are those of httpx and httpx2, on which the packages of the vendors run.
They fit request bodies; answers and streams are not changed. If a provider refuses a request for
its length, it is made smaller and sent once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import IPv6Address
from typing import Any, Literal, Self, Unpack
from urllib.request import getproxies

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.registry import imported
from holdfast.options import Options, lists_options
from holdfast.providers.vendor import REFUSED
from holdfast.stores.protocols import ClosedAfterUse

from .fitter import Fitted, Fitter, RequestRefusedError
from .requests import HEADER, Budgets, Size, origin_of

__all__ = [
    "AsyncTransport",
    "Budgets",
    "Fitted",
    "Fitter",
    "RequestRefusedError",
    "Transport",
    "async_client",
    "client",
]

_BODY = frozenset({b"content-length", b"content-encoding", b"transfer-encoding"})

Observer = Callable[[Fitted], object]
"""Called with the result of each request."""


@dataclass
class _Fits:
    """What both transports have: the inner one, and what fits its requests."""

    inner: Any
    fitter: Fitter
    observe: Observer | None = None

    def _looks_at(self, request: Any) -> bool:
        return request.method == "POST" and self.fitter.endpoint(request.url.path) is not None

    def _flow(self, request: Any, raw: bytes) -> Generator[Any, Any]:
        """Yields the request to send and, sent a refusal of it, a smaller one or None."""
        encoding: str = request.headers.get("content-encoding", "")
        fitted = self.fitter.fit(request.url.path, raw, encoding, **origin_of(request.headers))
        refused = yield self._observed(request, fitted)
        smaller = self.fitter.fit_harder(fitted, refused.status_code, refused.text)
        yield smaller and self._observed(request, smaller)

    def _observed(self, request: Any, fitted: Fitted) -> Any:
        """The request with the fitted body, without Holdfast's headers; the same if unchanged."""
        if self.observe:
            self.observe(fitted)
        if not fitted.changed and HEADER not in request.headers:
            return request
        gone = {HEADER.encode(), *(_BODY if fitted.changed else ())}
        return type(request)(
            request.method,
            request.url,
            headers=[pair for pair in request.headers.raw if pair[0].lower() not in gone],
            content=fitted.body,
            extensions=request.extensions,
        )


class Transport(_Fits, ClosedAfterUse):
    """A transport around another one: ``httpx.Client(transport=Transport(inner, fitter))``."""

    def handle_request(self, request: Any) -> Any:
        """The provider's response to the fitted request."""
        if not self._looks_at(request):
            return self.inner.handle_request(request)
        flow = self._flow(request, request.read())
        response = self.inner.handle_request(next(flow))
        if response.status_code not in REFUSED:
            return response
        response.read()
        response.close()
        smaller = flow.send(response)
        return _replayed(response) if smaller is None else self.inner.handle_request(smaller)

    def close(self) -> None:
        """Close the inner transport."""
        self.inner.close()


class AsyncTransport(_Fits):
    """Like ``Transport``, asynchronous: requests are fitted in a thread."""

    async def handle_async_request(self, request: Any) -> Any:
        """The provider's response to the fitted request."""
        if not self._looks_at(request):
            return await self.inner.handle_async_request(request)
        flow = self._flow(request, await request.aread())
        response = await self.inner.handle_async_request(await asyncio.to_thread(next, flow))
        if response.status_code not in REFUSED:
            return response
        await response.aread()
        await response.aclose()
        smaller = await asyncio.to_thread(flow.send, response)
        if smaller is None:
            return _replayed(response)
        return await self.inner.handle_async_request(smaller)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self.inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.aclose()


def _replayed(response: Any) -> Any:
    """The response with its body already read, so that it can be read again."""
    return type(response)(
        response.status_code,
        headers=[pair for pair in response.headers.raw if pair[0].lower() not in _BODY],
        content=response.content,
        extensions=response.extensions,
    )


Library = Literal["httpx2", "httpx"]


@lists_options
def client(
    budget: Size = None,
    *,
    budgets: Mapping[str, Size] | None = None,
    library: Library | None = None,
    observe: Observer | None = None,
    **options: Unpack[Options],
) -> Any:
    """Return a client for ``openai.OpenAI(http_client=...)`` and similar, which fits its requests.

    ``budget``: tokens (``32_000`` or ``"32k"``), a share of the model's window (``"80%"``), a
    Budget, or None for the whole window of a known model. ``budgets`` are budgets by model name,
    where ``*`` matches any text. ``library`` is the one that the vendor's package uses, by default
    httpx2 if it is installed. ``observe`` is called with the ``Fitted`` of each request. The
    options are those of ``compress``.

    If fitting fails, the request is sent unchanged, with a warning in the log ``holdfast``; with
    ``redact``, RequestRefusedError is raised. Raises ConfigError for wrong arguments, and
    MissingExtraError if neither library is installed.
    """
    return _client(Transport, library, Fitter(Budgets(budget, budgets or {}), options), observe)


@lists_options
def async_client(
    budget: Size = None,
    *,
    budgets: Mapping[str, Size] | None = None,
    library: Library | None = None,
    observe: Observer | None = None,
    **options: Unpack[Options],
) -> Any:
    """Like ``client``, for ``openai.AsyncOpenAI(http_client=...)`` and similar."""
    return _client(
        AsyncTransport, library, Fitter(Budgets(budget, budgets or {}), options), observe
    )


def _client(
    around: type[_Fits], library: Library | None, fitter: Fitter, observe: Observer | None
) -> Any:
    """A client with such transports; both libraries have the same names."""
    used = library or next((name for name in ("httpx2", "httpx") if find_spec(name)), None)
    if used is None:
        raise MissingExtraError("a client of httpx", "openai")
    kind = "Async" if around is AsyncTransport else ""
    inner = imported(f"{used}:{kind}HTTPTransport")
    return imported(f"{used}:{kind}Client")(
        transport=around(inner(), fitter, observe),
        mounts=_mounts(lambda proxy: around(inner(proxy=proxy), fitter, observe)),
        follow_redirects=True,
    )


def _mounts(through: Callable[[str], Any]) -> dict[str, Any]:
    """The proxies of the environment, which httpx ignores if it is given a transport."""
    proxies = getproxies()
    found: dict[str, Any] = {
        f"{scheme}://": through(url if "://" in url else f"http://{url}")
        for scheme, url in proxies.items()
        if scheme in ("http", "https", "all")
    }
    if found:
        for host in proxies.get("no", "").split(","):
            name = host.strip().lstrip(".")
            if name == "*":
                return {}
            if name.count(":") > 1:  # of IPv6; a network's address is no pattern of httpx
                with suppress(ValueError):
                    found[f"all://[{IPv6Address(name.strip('[]'))}]"] = None
            elif name:
                found |= {f"all://{name}": None, f"all://*.{name}": None}
    return found
