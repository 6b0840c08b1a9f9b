"""The model, the embedder, the cache and the limits of one compression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.kernel.compressor import Configured
from holdfast.kernel.ports import Count, Embedder, Model
from holdfast.kernel.typed import Positive
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
    from .cache import CompressionCache


@dataclass(frozen=True)
class CallLimits(Configured):
    """Limits of the calls of one compression; all times in seconds."""

    timeout: float = 60.0
    """For one request, in seconds."""

    retries: int = 2
    """How many times a request is sent again if the vendor is busy, unreachable or silent."""

    backoff: float = 0.5
    """The longest wait before the first retry, in seconds; it doubles with each retry. The wait
    itself is random.
    """

    patience: float = 20.0
    """The longest wait in seconds that a vendor may ask for; if it asks for more, the call
    fails.
    """

    total: float = 180.0
    """For all requests of one conversation, retries and waits included, in seconds."""

    concurrency: Positive = 8
    """The number of requests at the same time."""

    max_cost: float | None = None
    """US dollars for all requests of one conversation. A request that may exceed it, or whose price
    is not known, is not sent.
    """


_USUAL = CallLimits()


@dataclass
class Lineup:
    """The model and embedder of a compression, with their cache and limits.

    ``count`` counts the tokens of a text if the vendor does not report them.
    """

    count: Count
    model: Model | None = None
    embedder: Embedder | None = None
    cache: CompressionCache | None = None
    limits: CallLimits = _USUAL
    writer: str = ""
    """The name of the model, empty if there is none."""
    writer_window: int = 0
    """The model's window in tokens: its own, or that known for its name, or 0."""

    @classmethod
    def of(
        cls,
        count: Count,
        llm: ModelSpec | None,
        embedder: EmbedderSpec | None = None,
        *,
        cache: CompressionCache | None = None,
        limits: CallLimits | None = None,
        opens: bool = True,
    ) -> Lineup:
        """Check the options and return the line-up; ``opens`` imports the vendors' packages."""
        if embedder is not None:
            check_embedder(embedder)
        if llm is not None:
            check_model(llm)
        model = open_model(llm) if llm is not None and opens else None
        chosen = open_embedder(embedder) if embedder is not None and opens else None
        writer = name_of(model) if model else ""
        own = getattr(model, "window", 0)
        window = own if isinstance(own, int) and own > 0 else window_of(writer) or 0
        return cls(count, model, chosen, cache, limits or _USUAL, writer, window)

    def embeds(self) -> Embedder:
        """The caller's embedder, or the best one that needs no network, loaded on first use."""
        return default_embedder() if self.embedder is None else self.embedder
