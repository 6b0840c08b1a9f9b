"""How important something is: a weighted sum of what is known of it, from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from .words import words

MARKERS = frozenset("important critical crucial key essential remember note significant vital".split())
"""Words by which a text says itself that it is important; those of the SelectiveCompression design."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each factor, itself from 0 to 1, adds to the importance; one of which nothing is known adds nothing.

    ``marker`` multiplies the importance of what says itself that it is important.
    """

    recency: float = 0.0
    role: float = 0.0
    density: float = 0.0
    access: float = 0.0
    semantic: float = 0.0
    entity: float = 0.0
    uniqueness: float = 0.0
    query: float = 0.0
    marker: float = 1.0

    def importance(self, factors: Mapping[str, float], *, marked: bool = False) -> float:
        """The sum over the factors by name, brought into 0 to 1."""
        total: float = sum(getattr(self, name) * value for name, value in factors.items())
        return max(0.0, min(1.0, total * self.marker if marked else total))

    def describe(self) -> Mapping[str, object]:
        """The weights that count."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}


MOFA = Weights(recency=0.4, role=0.3, density=0.3)
"""The preset of the MoFA design, for messages."""

SELECTIVE = Weights(recency=0.2, access=0.15, semantic=0.3, entity=0.25, query=0.1, marker=1.5)
"""The preset of the SelectiveCompression design, for memories."""

PRESETS: Mapping[str, Weights] = {"mofa": MOFA, "selective": SELECTIVE}


def is_marked(text: str) -> bool:
    """Whether the text says, in a word of its own, that it is important: ``key``, but not ``monkey``."""
    return not MARKERS.isdisjoint(words(text))
