"""A proxy for any client, which fits what agents send to their providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from holdfast.http.requests import Budgets, Vendor
from holdfast.kernel.errors import ConfigError
from holdfast.options import Options

UPSTREAMS: Mapping[Vendor, str] = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Settings:
    """The address of the proxy, its providers, and how it fits requests.

    ``most_bytes``: larger bodies are refused. ``connections``: requests at the same time; others
    are told to try again. ``recall``: whether the model is offered the tool that returns originals.
    ``token`` is required for the proxy's own pages if it listens beyond loopback. ``grace``:
    seconds for open requests when the proxy stops.
    """

    host: str = "127.0.0.1"
    port: int = 8400
    upstreams: Mapping[Vendor, str] = field(default_factory=lambda: dict(UPSTREAMS))
    budgets: Budgets = field(default_factory=Budgets)
    options: Options = field(default_factory=Options)
    recall: bool = False
    token: str = ""
    most_bytes: int = 64_000_000
    connections: int = 1_000
    grace: int = 10

    def proxies(self) -> dict[Vendor, str | None]:
        """The proxy of the environment for each provider."""
        known = getproxies()
        found: dict[Vendor, str | None] = {}
        for vendor, url in self.upstreams.items():
            parts = urlsplit(url)
            proxy = known.get(parts.scheme) or known.get("all")
            if proxy and "://" not in proxy:
                proxy = f"http://{proxy}"
            found[vendor] = None if proxy_bypass(str(parts.hostname)) else proxy
        return found

    def __post_init__(self) -> None:
        for url in self.upstreams.values():
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ConfigError(
                    f"{url!r:.60} is not an address",
                    place="upstream",
                    advice="give one such as https://api.openai.com or openai=URL",
                )
        if self.host not in LOOPBACK and not self.token:
            raise ConfigError(
                f"{self.host} can be reached by others",
                place="token",
                advice="give a token for the proxy's pages, or listen on 127.0.0.1",
            )
        if self.recall and not self.options.get("store"):
            raise ConfigError(
                "recall needs a place for originals",
                place="store",
                advice="name one, as sqlite:///originals.db",
            )
        for name in ("most_bytes", "connections", "grace"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{getattr(self, name)} is too little", place=name)
