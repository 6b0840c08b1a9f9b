"""Keep what is newest, exactly as much as was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.compressors.cuts import kept_whole, legal, oldest_first, preferred
from holdfast.compressors.knobs import Configured, check_knobs
from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Plan
from holdfast.kernel.edits import Drop
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import Transcript


@dataclass(frozen=True, slots=True)
class SlidingWindow(Configured):
    """System messages and the newest of the others, in order, where they stand.

    With none of the three knobs the window is what fits the target, and the task, the newest user
    message and a summary of what has left stay while they fit. A window that is given is exact: it
    may leave the result over the budget, and a tool exchange that it would cut through goes whole.
    """

    window_size: int | None = None
    """Messages that stay, system messages not counted."""

    keep_turns: int | None = None
    """Turns that stay, each from a user's message to the next."""

    keep_tokens: Share | None = None
    """Tokens of messages that stay, or a share of the budget; system messages not counted."""

    name = "sliding_window"

    def __post_init__(self) -> None:
        check_knobs(self)
        given = [
            value
            for value in (self.window_size, self.keep_turns, self.keep_tokens)
            if value is not None
        ]
        if len(given) > 1:
            advice = "give one of window_size, keep_turns and keep_tokens"
            raise ConfigError("a window has one measure", place="sliding_window", advice=advice)

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """One Drop of everything that is older than the window."""
        sizes = allowance.meter.sizes(transcript)
        if self.window_size is self.keep_turns is self.keep_tokens is None:
            going = self._over_target(transcript, sizes, allowance)
        else:
            start = self._start(transcript, sizes, allowance)
            going = {
                i
                for unit in transcript.units
                if unit.start < start and _may_go(unit, transcript)
                for i in unit
            }
            going = legal(transcript, going, frozenset())
        if not going:
            return Plan.skip("nothing_outside", "nothing stands outside the window")
        return Plan((Drop(tuple(sorted(going)), "older than the window"),), reason="older_dropped")

    def _over_target(
        self, transcript: Transcript, sizes: Sequence[int], allowance: Allowance
    ) -> set[int]:
        excess = sum(sizes) + allowance.meter.overhead(transcript.envelope) - allowance.target
        return oldest_first(transcript, sizes, excess, transcript.protected | preferred(transcript))

    def _start(self, transcript: Transcript, sizes: Sequence[int], allowance: Allowance) -> int:
        """The position at which the window begins."""
        others = [i for i, message in enumerate(transcript.messages) if message.role != "system"]
        if self.window_size is not None:
            kept = others[len(others) - self.window_size :] if self.window_size else []
            return 0 if self.window_size >= len(others) else min(kept, default=len(transcript))
        if self.keep_turns is not None:
            turns = transcript.turns
            kept_turns = turns[len(turns) - self.keep_turns :] if self.keep_turns else ()
            return (
                0
                if self.keep_turns >= len(turns)
                else min((t.start for t in kept_turns), default=len(transcript))
            )
        left = allowance.share(self.keep_tokens or 0)
        start = len(transcript)
        for i in reversed(others):
            left -= sizes[i]
            if left < 0:
                break
            start = i
        return start


def _may_go(unit: range, transcript: Transcript) -> bool:
    return not kept_whole(unit, transcript.protected)
