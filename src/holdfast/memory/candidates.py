"""Which segments of the warm and the cold tier are brought back for a question (V.18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .tiers import Tier


@dataclass(frozen=True, slots=True)
class Candidate:
    """A segment that may be brought back, by its id, and how much it matters to the question."""

    id: str
    tier: Tier
    score: float
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """Whom to bring back; the defaults are those of SelectiveCompression."""

    thresholds: Mapping[Tier, float] = field(default_factory=lambda: {"warm": 0.6, "cold": 0.7})
    """Scores strictly above that of their tier count."""

    max_segments: int = 10
    max_tokens: int | None = None
    """What the chosen ones may take together."""

    def of(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The chosen ones, the highest score first; of equals the first."""
        above = [each for each in candidates if each.score > self.thresholds.get(each.tier, 1.0)]
        chosen: list[Candidate] = []
        left = self.max_tokens
        for each in sorted(above, key=lambda each: -each.score):
            if len(chosen) == self.max_segments:
                break
            if left is None or each.tokens <= left:
                chosen.append(each)
                left = None if left is None else left - each.tokens
        return chosen
