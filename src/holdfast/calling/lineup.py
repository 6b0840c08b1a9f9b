"""Who is called for one compression, and how far: settled before a strategy asks, opened when it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

from .limits import CallLimits

if TYPE_CHECKING:
    from holdfast.cache import CompressionCache


_USUAL = CallLimits()


@dataclass(slots=True)
class Lineup:
    """The model and the embedder, the cache that is asked before them, and the limits of their calls.

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
        """What the model takes, in tokens: as it says itself, or as is known of its name; 0 if neither is."""
        own = getattr(self.model, "window", 0)
        return own if isinstance(own, int) and own > 0 else window_of(self.writer) or 0

    def embeds(self) -> Embedder:
        """The caller's embedder, or the best one that needs no network, which is loaded when it is asked."""
        return default_embedder() if self.embedder is None else self.embedder
