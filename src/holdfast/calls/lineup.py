"""Who is called for one compression, and how far.

Settled before a strategy asks, opened when it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, cast

from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import Embedder, Model
from holdfast.providers import (
    EmbedderSpec,
    ModelSpec,
    check_embedder,
    check_model,
    default_embedder,
    name_of,
    open_embedder,
    open_model,
)
from holdfast.tokens import window_of

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of the calls of one compression; all times in seconds."""

    timeout: float = 60.0
    """For one request."""

    retries: int = 2
    """How often a request is sent again after a busy, broken or silent line."""

    backoff: float = 0.5
    """The longest wait before the first retry; it doubles with each, and what is waited is drawn at
    random."""

    patience: float = 20.0
    """The longest wait that a vendor may ask for; where it asks for more, the call fails at
    once."""

    total: float = 180.0
    """For all requests of one conversation together, retries and waits included."""

    concurrency: int = 8
    """How many requests may be under way at the same time."""

    max_cost: float | None = None
    """US dollars for all requests of one conversation together, by the prices that are known; a
    request that might go beyond, or whose price nobody knows, is not sent."""

    def __post_init__(self) -> None:
        for name in ("timeout", "backoff", "patience", "total"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ConfigError(
                    f"{value!r} is not a number of seconds", place=f"CallLimits.{name}"
                )
        cost = cast("object", self.max_cost)
        is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
        if cost is not None and not (is_number and 0 <= cast("float", cost) < inf):
            raise ConfigError(
                f"{cost!r} is not a number of US dollars", place="CallLimits.max_cost"
            )
        for name, least in (("retries", 0), ("concurrency", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ConfigError(
                    f"{value!r} is not a number of at least {least}", place=f"CallLimits.{name}"
                )


_USUAL = CallLimits()


@dataclass(slots=True)
class Lineup:
    """The model, the embedder, the cache asked before them, and the limits of their calls.

    ``count`` counts the tokens of a text where a vendor does not tell them.
    """

    count: Callable[[str], int]
    model: Model | None = None
    embedder: Embedder | None = None
    cache: CompressionCache | None = None
    limits: CallLimits = _USUAL

    @classmethod
    def of(
        cls,
        count: Callable[[str], int],
        llm: ModelSpec | None,
        embedder: EmbedderSpec | None,
        *,
        cache: CompressionCache | None,
        limits: CallLimits | None,
        opens: bool,
    ) -> Lineup:
        """What a caller names, checked; only with ``opens`` is a vendor's package loaded."""
        if embedder is not None:
            check_embedder(embedder)
        if llm is not None:
            check_model(llm)
        model = open_model(llm) if llm is not None and opens else None
        chosen = open_embedder(embedder) if embedder is not None and opens else None
        return cls(count, model, chosen, cache, limits or _USUAL)

    @property
    def writer(self) -> str:
        """The name of the model, empty where there is none."""
        return name_of(self.model) if self.model else ""

    @property
    def writer_window(self) -> int:
        """What the model takes, in tokens: as it says itself, or as is known of its name.

        0 if neither is.
        """
        own = getattr(self.model, "window", 0)
        return own if isinstance(own, int) and own > 0 else window_of(self.writer) or 0

    def embeds(self) -> Embedder:
        """The caller's embedder, or the best one without a network, loaded when it is asked."""
        return default_embedder() if self.embedder is None else self.embedder
