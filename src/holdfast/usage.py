"""What the calls of models and embedders took: one record a call, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model or an embedder, its retries included.

    ``items`` are the prompts or texts that it was for, ``cached`` those that needed no call. ``counted``: the
    vendor did not tell the tokens, so they were counted here. ``cost`` is in US dollars, None where the price is
    not known. ``fault`` says why there was no answer.
    """

    kind: Literal["complete", "embed"]
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False
    items: int = 1
    cached: int = 0
    attempts: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """One of the two caches: what it holds and may hold, and how often it was asked and knew."""

    size: int
    capacity: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Both caches at one moment."""

    embeddings: CacheFigures
    summaries: CacheFigures


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Every call of a compression, and the caches after it; ``cache`` is None where none was given."""

    calls: tuple[ModelCall, ...] = ()
    cache: CacheStatistics | None = None

    @property
    def requests(self) -> int:
        """How many requests went out, retries included."""
        return sum(call.attempts for call in self.calls)

    @property
    def failures(self) -> int:
        """How many calls had no answer in the end."""
        return sum(bool(call.fault) for call in self.calls)

    @property
    def cached(self) -> int:
        """How many prompts and texts needed no call."""
        return sum(call.cached for call in self.calls)

    @property
    def input_tokens(self) -> int:
        """Tokens that were sent."""
        return sum(call.input_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """Tokens that came back."""
        return sum(call.output_tokens for call in self.calls)

    @property
    def seconds(self) -> float:
        """The time of all calls, one after another; calls at the same time take less on the clock."""
        return sum(call.seconds for call in self.calls)

    @property
    def cost(self) -> float | None:
        """US dollars, or None if the price of any call is not known."""
        costs = [call.cost for call in self.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def to_dict(self) -> dict[str, object]:
        """Every figure, for JSON."""
        return {
            "calls": [asdict(call) for call in self.calls],
            "cache": None if self.cache is None else asdict(self.cache),
            **{name: getattr(self, name) for name in _TOTALS},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelUsage:
        """What ``to_dict`` described."""
        calls = tuple(ModelCall(**{f.name: call[f.name] for f in fields(ModelCall)}) for call in data["calls"])
        if data["cache"] is None:
            return cls(calls)
        return cls(calls, CacheStatistics(**{kind: CacheFigures(**told) for kind, told in data["cache"].items()}))


_TOTALS = ("requests", "failures", "cached", "input_tokens", "output_tokens", "seconds", "cost")
NO_CALLS = ModelUsage()


@dataclass(slots=True)
class Ledger:
    """The records of one compression as they come, and the moment by which its calls must end."""

    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    until: float | None = None
    """On the clock of ``time.monotonic``; set when the first call begins."""
