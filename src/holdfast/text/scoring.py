"""How important something is: a weighted sum of what is known of it, from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

_MARKERS = frozenset("important critical crucial key essential remember note significant vital".split())
"""Words by which a text says of something that it matters; those of the SelectiveCompression design."""

_DENIED = re.compile(
    r"(?:\b(?:not|no|never|less|hardly)|n['’]t)(?: (?:so|very|that|really|the|a|an|all that))?\s*$"
)
_BEFORE = 24  # characters before a marker that can deny it


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


def has_importance_marker(text: str) -> bool:
    """Whether the text says of something that it matters: by a whole word that is not denied."""
    low = text.lower()
    return any(_marks(low, at, at + len(word)) for word in _MARKERS for at in _places(low, word))


def _places(low: str, word: str) -> Iterator[int]:
    at = low.find(word)
    while at >= 0:
        yield at
        at = low.find(word, at + len(word))


def _marks(low: str, start: int, end: int) -> bool:
    """Whether the marker is a word of its own there and is not denied."""
    if low[start - 1 : start].isalnum() or low[end : end + 1].isalnum():
        return False
    return not _DENIED.search(low[max(0, start - _BEFORE) : start])
