"""What calls of models and embedders took: requests, tokens, time and price."""

from dataclasses import asdict, dataclass, field
from typing import Literal

from holdfast.kernel.typed import attributes


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model or an embedder, with its retries.

    ``items`` is the number of prompts or texts, ``cached`` how many of them the cache answered.
    ``counted`` is true if the vendor did not report tokens and they were counted here. ``cost`` is
    in US dollars, or None if the price is not known. ``fault`` is the error of a call that failed.
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
    provider: str = ""
    """Who answers, as ``gen_ai.provider.name`` of OpenTelemetry's conventions names it."""


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """The size, capacity, hits and misses of one cache."""

    size: int
    capacity: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """The figures of both caches."""

    embeddings: CacheFigures
    summaries: CacheFigures


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """All calls of models and embedders during a compression, and the caches after it.

    ``cache`` is None if no cache was given.
    """

    calls: tuple[ModelCall, ...] = ()
    cache: CacheStatistics | None = None

    @property
    def requests(self) -> int:
        """The number of requests, retries included."""
        return sum(call.attempts for call in self.calls)

    @property
    def failures(self) -> int:
        """The number of calls that failed in the end."""
        return sum(bool(call.fault) for call in self.calls)

    @property
    def cached(self) -> int:
        """The number of prompts and texts that the cache answered."""
        return sum(call.cached for call in self.calls)

    @property
    def input_tokens(self) -> int:
        """Tokens sent."""
        return sum(call.input_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """Tokens received."""
        return sum(call.output_tokens for call in self.calls)

    @property
    def seconds(self) -> float:
        """The sum of the seconds of all calls; calls at the same time each count in full."""
        return sum(call.seconds for call in self.calls)

    @property
    def cost(self) -> float | None:
        """US dollars, or None if the price of any call is not known."""
        costs = [call.cost for call in self.calls]
        return None if None in costs else sum(filter(None, costs))

    def to_dict(self) -> dict[str, object]:
        """All figures as JSON has them."""
        return {
            "calls": [asdict(call) for call in self.calls],
            "cache": None if self.cache is None else asdict(self.cache),
            "cost": None,
            **self.totals(),
        }

    def totals(self) -> dict[str, float]:
        """The sums over all calls, without a cost that is not known."""
        found = attributes(self, "requests failures cached input_tokens output_tokens seconds cost")
        return {name: value for name, value in found.items() if value is not None}


NO_CALLS = ModelUsage()


@dataclass(slots=True)
class CallRecords:
    """The calls of one compression so far, and the time by which calls must end."""

    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    until: float | None = None
    """A time of ``time.monotonic``, set when the first call begins."""
    pledged: float = 0.0
    """The highest cost of the calls under way, in US dollars."""

    @property
    def spent(self) -> float:
        """The cost so far, with that of calls under way, in US dollars."""
        return self.pledged + sum(call.cost or 0.0 for call in self.calls)
