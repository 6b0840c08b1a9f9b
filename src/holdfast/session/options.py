"""How a session counts and compresses."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.kernel.budget import Budget, Meter
from holdfast.memory.condensing import Condenser, RuleCondenser
from holdfast.memory.tiers import TierSizes
from holdfast.metering import Counter, meter_for
from holdfast.tokens import window_of


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a session, as ``Session`` takes them."""

    budget: Budget | None = None
    model: str | None = None
    profile: str = "balanced"
    counter: Counter = None
    redact: bool | None = None
    tiers: TierSizes = field(default_factory=TierSizes)
    vectors: bool | None = None
    """Whether messages are found by what they mean too; None: where the extra ``local`` is installed."""

    condenser: Condenser = field(default_factory=RuleCondenser)
    meter: Meter = field(init=False)
    window: int | None = field(init=False)
    """The model's own, in tokens, where it is known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "meter", meter_for(self.model, self.counter))
        object.__setattr__(self, "window", window_of(self.model) if self.model else None)
