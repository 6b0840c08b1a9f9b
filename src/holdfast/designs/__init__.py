"""The two steps of tunacode, with its numbers."""

from holdfast.compressors.prune import Prune
from holdfast.compressors.summarize import Summarize
from holdfast.kernel.budget import Share


def tunacode() -> Prune:
    """Its pruning: protects 40,000 tokens, clears at least 20,000, needs two user turns."""
    return Prune(protect_tokens=40_000, minimum_tokens=20_000, min_user_turns=2)


def tunacode_history(keep_at_least: Share = 20_000) -> Summarize:
    """Its compaction: one summary that the model rewrites each time, before the newest tokens."""
    return Summarize(
        keep_at_least=keep_at_least, combine="model", opening="[Compaction summary]\n\n"
    )
