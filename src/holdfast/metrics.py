"""How large a conversation was and is, and how much of its budget it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class CompressionMetrics:
    """Sizes before and after, by one counter; what is derived from them follows MoFA's definitions."""

    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int

    @property
    def compression_ratio(self) -> float:
        """After divided by before; 1.0 where there was nothing."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0

    @property
    def compression_factor(self) -> float:
        """Before divided by after, as in "3 to 1"; infinite where nothing is left."""
        ratio = self.compression_ratio
        return 1 / ratio if ratio else float("inf")

    @property
    def token_reduction_percent(self) -> float:
        """100 (1 - ratio); negative where the result is larger."""
        return 100.0 * (1 - self.compression_ratio)

    @property
    def reduction_percent(self) -> float:
        """The shorter name of ``token_reduction_percent``."""
        return self.token_reduction_percent

    @property
    def message_reduction_percent(self) -> float:
        """Share of messages that are gone, in percent; 0.0 where there was none."""
        if not self.messages_before:
            return 0.0
        return 100.0 * (1 - self.messages_after / self.messages_before)

    @property
    def was_compressed(self) -> bool:
        """Whether it is smaller than before."""
        return self.tokens_after < self.tokens_before

    @property
    def tokens_saved(self) -> int:
        """Never negative."""
        return max(0, self.tokens_before - self.tokens_after)

    def to_dict(self) -> dict[str, float | bool]:
        """Every figure, derived ones included; an infinite factor is left out, for JSON has none."""
        derived = (
            "compression_ratio",
            "token_reduction_percent",
            "reduction_percent",
            "message_reduction_percent",
            "was_compressed",
            "tokens_saved",
        )
        factor = {"compression_factor": self.compression_factor} if self.tokens_after else {}
        return asdict(self) | {name: getattr(self, name) for name in derived} | factor

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompressionMetrics:
        """The metrics that ``to_dict`` described."""
        return cls(**{f.name: data[f.name] for f in fields(cls)})


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """How much of the budget the result takes."""

    tokens: int
    limit: int

    @property
    def within(self) -> bool:
        """Whether it fits."""
        return self.tokens <= self.limit

    @property
    def utilization(self) -> int:
        """Share of the budget in percent, rounded; 0 for a budget of 0."""
        return round(100 * self.tokens / self.limit) if self.limit else 0
