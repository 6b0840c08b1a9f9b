"""What a proxy is told when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from holdfast.http.budgets import Budgets
from holdfast.http.endpoints import Vendor
from holdfast.kernel.errors import ConfigError
from holdfast.options import Options

UPSTREAMS: Mapping[Vendor, str] = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the proxy listens, whom it asks, and how it fits.

    ``most_bytes`` of a body are read to be fitted; a larger one is refused. ``connections`` at most
    are served at once, the others are told to come again. ``recall``: the tool that gives originals
    back is offered to the model and answered here. ``token`` opens the proxy's own pages; where it
    listens beyond loopback there has to be one. ``grace`` is how many seconds requests under way
    are given when it stops.
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
        """Through which proxy of the environment each is asked."""
        known = getproxies()
        found: dict[Vendor, str | None] = {}
        for vendor, url in self.upstreams.items():
            parts = urlsplit(url)
            direct = proxy_bypass(str(parts.hostname))
            found[vendor] = None if direct else known.get(parts.scheme) or known.get("all")
        return found

    def __post_init__(self) -> None:
        for url in self.upstreams.values():
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                advice = "give one such as https://api.openai.com"
                raise ConfigError(f"{url!r:.60} is no address", place="upstream", advice=advice)
        if self.host not in LOOPBACK and not self.token:
            problem = f"{self.host} can be reached by others"
            advice = "give a token for the proxy's pages, or listen on 127.0.0.1"
            raise ConfigError(problem, place="token", advice=advice)
        if self.recall and not self.options.get("store"):
            advice = "name one, as sqlite:///originals.db"
            raise ConfigError("recall needs a place for originals", place="store", advice=advice)
        for name in ("most_bytes", "connections", "grace"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{getattr(self, name)} is too little", place=name)
