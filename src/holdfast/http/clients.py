"""Clients of httpx and httpx2 that fit their requests, for vendors' packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Literal, Unpack
from urllib.request import getproxies

from holdfast.http.budgets import Budgets, Size
from holdfast.http.fitter import Fitter
from holdfast.http.transport import AsyncTransport, Observer, Transport
from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.registry import imported
from holdfast.options import Options, lists_options

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
    fitter = Fitter(Budgets(budget, budgets or {}), options)
    return _client(library, "", lambda inner: Transport(inner, fitter, observe))


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
    fitter = Fitter(Budgets(budget, budgets or {}), options)
    return _client(library, "Async", lambda inner: AsyncTransport(inner, fitter, observe))


def _client(library: Library | None, kind: str, around: Callable[[Any], object]) -> Any:
    """A client whose transports ``around`` wraps; both libraries have the same names."""
    used = library or _installed()
    inner = imported(f"{used}:{kind}HTTPTransport")
    return imported(f"{used}:{kind}Client")(
        transport=around(inner()),
        mounts=_mounts(lambda proxy: around(inner(proxy=proxy))),
        follow_redirects=True,
    )


def _installed() -> Library:
    known: tuple[Library, ...] = ("httpx2", "httpx")
    for library in known:
        if find_spec(library):
            return library
    raise MissingExtraError("a client of httpx", "openai")


def _mounts(through: Callable[[str], Any]) -> dict[str, Any]:
    """The proxies of the environment, which httpx ignores if it is given a transport."""
    proxies = getproxies()
    found: dict[str, Any] = {
        "all://" if scheme == "all" else f"{scheme}://": through(
            url if "://" in url else f"http://{url}"
        )
        for scheme, url in proxies.items()
        if scheme in ("http", "https", "all")
    }
    if found:
        for host in proxies.get("no", "").split(","):
            name = host.strip().lstrip(".")
            if name == "*":
                return {}
            if name:
                found |= {f"all://{name}": None, f"all://*.{name}": None}
    return found
