"""How a session counts, compresses, condenses and asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast import options as compression
from holdfast.calls.lineup import CallLimits, Lineup
from holdfast.engine import chosen
from holdfast.kernel.budget import Budget, Meter
from holdfast.kernel.errors import ConfigError
from holdfast.memory.by_model import ModelCondenser
from holdfast.memory.condensing import AskingCondenser, Condenser
from holdfast.memory.tiers import TierSizes
from holdfast.meter import Counter, meter_for
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.tokens import window_of

from . import arguments
from .condensing import TurnCondenser

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a session, as ``Session`` takes them. Raises ConfigError for what is none."""

    budget: Budget | None = None
    model: str | None = None
    profile: str = "balanced"
    counter: Counter = None
    redact: bool | None = None
    tiers: TierSizes = field(default_factory=TierSizes)
    vectors: bool | None = None
    """Whether messages are found by what they mean too; None: where the extra ``local`` is installed."""

    condenser: Condenser = field(default_factory=TurnCondenser)
    llm: ModelSpec | None = None
    embedder: EmbedderSpec | None = None
    cache: CompressionCache | None = None
    limits: CallLimits | None = None
    background: bool = False
    meter: Meter = field(init=False)
    window: int | None = field(init=False)
    """The model's own, in tokens, where it is known."""

    lineup: Lineup = field(init=False)
    """Who is asked for the forms of segments, and for what they mean."""

    redacts: bool = field(init=False)
    """Whether secrets are masked before a model sees them, as the profile or the caller says."""

    def __post_init__(self) -> None:
        self._check()
        asked = compression.Options(
            model=self.model, profile=self.profile, redact=self.redact, cache=self.cache, limits=self.limits
        )
        compression.check(asked)
        meter = meter_for(self.model, self.counter)
        lineup = Lineup.of(meter.text, self.llm, self.embedder, cache=self.cache, limits=self.limits, opens=True)
        window = window_of(self.model) if self.model else None
        if self.budget is not None:
            self.budget.tokens(window)  # one that says nothing is refused here, not at the first fit
        object.__setattr__(self, "meter", meter)
        object.__setattr__(self, "window", window)
        object.__setattr__(self, "lineup", lineup)
        object.__setattr__(self, "redacts", chosen(asked).redact)

    @property
    def asking(self) -> AskingCondenser | None:
        """The condenser whose forms are asked for; None where there is no model."""
        if self.llm is None:
            return None
        return self.condenser if isinstance(self.condenser, AskingCondenser) else ModelCondenser(self.condenser)

    def _check(self) -> None:
        arguments.an(TierSizes, "tiers", self.tiers, "give holdfast.memory.tiers.TierSizes(hot=..., ...)")
        arguments.one_of("vectors", self.vectors, (True, False, None))
        arguments.one_of("background", self.background, (True, False))
        advice = "give an object with condense(text, level, count)"
        arguments.able("condense", "condenser", self.condenser, advice)
        if self.llm is None and isinstance(self.condenser, AskingCondenser):
            raise ConfigError("it asks a model, and there is none", place="condenser", advice="give llm=")
