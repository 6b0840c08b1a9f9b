"""The numbers of tunacode, for two strategies."""

from __future__ import annotations

from holdfast.compressors.prune import Prune
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.budget import Share


def tunacode() -> Prune:
    """Its pruning: 40,000 tokens protected, 20,000 at least, two user turns."""
    return Prune(protect_tokens=40_000, minimum_tokens=20_000, min_user_turns=2)


def tunacode_history(keep_at_least: Share = 20_000) -> Summarize:
    """Its compaction: one summary, which the model writes anew each time, and the newest tokens."""
    return Summarize(
        keep_at_least=keep_at_least, combine="model", opening="[Compaction summary]\n\n"
    )
