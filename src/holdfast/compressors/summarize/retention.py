"""The retention boundary: the smallest recent history that is large enough, cut where it is safe (tunacode)."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.kernel.messages import Message


def retention_boundary(messages: Sequence[Message], sizes: Sequence[int], keep_recent: int) -> int:
    """How many of the first messages may be summarized so that ``keep_recent`` tokens or more stay behind them.

    The cut moves back to where it parts no call from its result; 0 where nothing can go.
    """
    cut, kept = len(messages), 0
    while cut > 0 and kept < keep_recent:
        cut -= 1
        kept += sizes[cut]
    while cut > 0 and not _is_safe(messages, cut):
        cut -= 1
    return cut if kept >= keep_recent else 0


def _is_safe(messages: Sequence[Message], cut: int) -> bool:
    """Whether a finished message stands before the cut, and no result behind it."""
    before = messages[cut - 1]
    if before.role == "tool" or before.calls or (before.results and before.role != "user"):
        return False
    return cut == len(messages) or not messages[cut].results
