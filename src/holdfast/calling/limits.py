"""How far calls of models and embedders may go."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from holdfast.kernel.errors import ConfigError


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of the calls of one compression; all times in seconds."""

    timeout: float = 60.0
    """For one request."""

    retries: int = 2
    """How often a request is sent again after a busy, broken or silent line."""

    backoff: float = 0.5
    """The longest wait before the first retry; it doubles with each, and what is waited is drawn at random."""

    patience: float = 20.0
    """The longest wait that a vendor may ask for; where it asks for more, the call fails at once."""

    total: float = 180.0
    """For all requests of one conversation together, retries and waits included."""

    concurrency: int = 8
    """How many requests may be under way at the same time."""

    def __post_init__(self) -> None:
        for name in ("timeout", "backoff", "patience", "total"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ConfigError(f"{value!r} is not a number of seconds", place=f"CallLimits.{name}")
        for name, least in (("retries", 0), ("concurrency", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ConfigError(f"{value!r} is not a number of at least {least}", place=f"CallLimits.{name}")
