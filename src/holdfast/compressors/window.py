"""Keeps the newest messages, exactly as many as requested."""

from dataclasses import dataclass

from holdfast.kernel.budget import Allowance, Share
from holdfast.kernel.compressor import Configured, Plan
from holdfast.kernel.edits import Drop
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import (
    Transcript,
    legal,
    oldest_first,
    start_of_newest,
    start_within,
)
from holdfast.kernel.typed import check_fields

from .summaries import preferred


@dataclass(frozen=True, slots=True)
class SlidingWindow(Configured):
    """Keeps system messages and the newest of the others, in order.

    Without any knob the window is what fits the target; the task, the user's newest message and a
    summary of dropped messages stay while they fit. A given window is exact: the result may be over
    the budget, and a tool exchange that the window cuts is dropped.
    """

    window_size: int | None = None
    """Messages that stay, system messages not counted."""

    keep_turns: int | None = None
    """Turns that stay, each from a user's message to the next."""

    keep_tokens: Share | None = None
    """Tokens of messages that stay, or a share of the budget, system messages not counted."""

    name = "sliding_window"

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.window_size, self.keep_turns, self.keep_tokens).count(None) < 2:
            raise ConfigError(
                "only one measure can set the window",
                place="sliding_window",
                advice="give one of window_size, keep_turns and keep_tokens",
            )

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan:
        """One Drop of everything before the window."""
        sizes = allowance.meter.sizes(transcript)
        if self.window_size is self.keep_turns is self.keep_tokens is None:
            excess = allowance.meter.total(transcript) - allowance.target
            kept = transcript.protected | preferred(transcript)
            going = oldest_first(transcript, sizes, excess, kept)
        else:
            if self.window_size is not None:
                start = start_of_newest(transcript, self.window_size)
            elif self.keep_turns is not None:
                starts = [*(turn.start for turn in transcript.turns), len(transcript)]
                start = starts[max(0, len(transcript.turns) - self.keep_turns)]
            else:
                rows = zip(transcript.messages, sizes, strict=True)
                counted = [0 if message.role == "system" else size for message, size in rows]
                most = allowance.share(self.keep_tokens or 0)
                start = start_within(range(len(transcript)), counted, most)
            older = (unit for unit in transcript.units if unit.start < start)
            going = {i for unit in older if transcript.protected.isdisjoint(unit) for i in unit}
            going = legal(transcript, going, frozenset())
        if not going:
            return Plan.skip("nothing_outside", "nothing is outside the window")
        return Plan((Drop(tuple(sorted(going)), "older than the window"),), reason="older_dropped")
