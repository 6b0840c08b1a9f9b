"""Shrink what tools returned, by its kind and with the question in view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

from holdfast.compressors.describing import knobs
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.shrink.candidates import INSTRUCTION_FILES, INSTRUCTION_TOOLS, Choice
from holdfast.compressors.shrink.rooms import Rooms
from holdfast.compressors.shrink.view import view_of
from holdfast.compressors.shrink.work import Work
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Flow, Plan
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.transcript import Transcript

RULES = ("lossless", "repeats", "superseded", "lossy", "arguments")
_ENOUGH = 1 / 16  # of the budget: an old output of any size is cut to that before messages go for it


@dataclass(frozen=True, slots=True)
class Shrink:
    """Tool outputs become smaller by what they are, oldest first, the newest exchange last.

    First what costs nothing: a shorter form of the same value, texts that stand twice, files that were read
    again. Then what answers the question stays, and what is rare, while the rest is counted and left out; with a
    store the original is saved before the text is written, and the text names its key.
    """

    rules: tuple[str, ...] = RULES
    """What may be done, of ``lossless``, ``repeats``, ``superseded``, ``lossy`` and ``arguments``."""

    min_tokens: int = 40
    """Shorter texts are left alone."""

    shares: tuple[float, ...] = (0.6, 0.25)
    """The rounds: to which share of itself a text may be cut in each, before the next round begins.

    Messages that do not fit with their outputs at the last share are left to the steps that follow.
    """

    least_tokens: int = 24
    """No text is cut below this."""

    recent_share: float = 0.25
    """The newest messages that take this share of the budget stay whole while older ones can shrink."""

    tools: tuple[str, ...] = ()
    """Only outputs of these tools shrink (shell patterns such as ``read_*``); empty means all."""

    keep_tools: tuple[str, ...] = INSTRUCTION_TOOLS
    """Outputs of these tools never shrink."""

    keep_paths: tuple[str, ...] = INSTRUCTION_FILES
    """Outputs of calls that name these files never shrink."""

    roles: tuple[str, ...] = ("tool",)
    """Whose texts may shrink: ``tool``, and ``assistant`` if its own words may be shortened too."""

    summary_tokens: int = 0
    """Tokens that a model's summary of an old output may take, where an excerpt would stand; 0 asks for none."""

    seconds: float | None = None
    """What is not done after so long is left as it is, and the detail says how long it took.

    Without a limit the same input always gives the same output.
    """

    name = "shrink"

    def __post_init__(self) -> None:
        check_knobs(self)
        for rule in self.rules:
            if rule not in RULES:
                raise ConfigError(f"{rule!r} is no rule", place="shrink", advice=f"known are {', '.join(RULES)}")
        if not self.shares or not all(0 <= share <= 1 for share in self.shares):
            advice = "give one or more from 0 to 1"
            raise ConfigError(f"{self.shares!r} are no shares", place="Shrink.shares", advice=advice)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": self.name, **knobs(self)}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """A Replace for each text that shrinks, or an Offload where its original is kept."""
        if allowance.meter.total(transcript) <= allowance.target:
            return Plan.skip("within_budget", "it fits already")
        began = monotonic()
        until = None if self.seconds is None else began + self.seconds
        rooms = Rooms(self.shares, self.least_tokens, max(1, int(allowance.target * _ENOUGH)))
        view = view_of(transcript, allowance, rooms.floor, self.roles, self.recent_share)
        choice = Choice(self.min_tokens, self.tools, self.keep_tools, self.keep_paths, self.roles)
        candidates = choice.of(transcript, allowance.meter, view.start)
        work = Work(transcript, allowance, candidates, view, until, self.summary_tokens)
        yield from work.done(self.rules, rooms)
        took = "" if until is None else f" in {1_000 * (monotonic() - began):,.0f} ms"
        trouble = f"; {work.trouble}" if work.trouble else ""
        if not work.edits:
            return Plan.skip("nothing_to_shrink", f"no tool output became smaller{took}{trouble}")
        texts = f"{len(work.edits):,} text{'s' if len(work.edits) > 1 else ''}"
        detail = f"{texts} shrunk{took}{trouble}"
        return Plan(tuple(work.edits[place] for place in sorted(work.edits)), reason="shrunk", detail=detail)
