"""What goes, goes in steps, so that successive results share their beginning and a prompt cache holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from holdfast.compressors.describing import described
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.playing import ROUNDS, played
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Attempt, Compressor, Flow, Plan
from holdfast.kernel.errors import IntegrityError
from holdfast.kernel.flow import ask
from holdfast.kernel.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Stepwise:
    """Decide for the conversation as it was when it last grew past a multiple of the step, and append the rest.

    Between two multiples the decision is the same, whatever the strategy is, and the results only grow at their
    end. No state is kept: the multiples are those of the conversation's own size.
    """

    strategy: Compressor
    """What decides."""

    step: float = 0.1
    """Share of the budget."""

    def __post_init__(self) -> None:
        check_knobs(self)

    @property
    def name(self) -> str:
        """The name of what decides."""
        return self.strategy.name

    def describe(self) -> Mapping[str, object]:
        """The description of what decides, and the step."""
        return {**described(self.strategy), "step": self.step}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plan for the settled part, made to leave room for the rest; else the plan for the whole.

        What misses the target is decided again, since a smaller conversation has another settled part: a result
        that is compressed again stays as it is.
        """
        records: list[tuple[str, Plan]] = []
        now = transcript
        for _ in range(ROUNDS):
            plan = yield from self._decided(now, allowance)
            after = _after(now, self.name, plan)
            if after is not now or not records:
                records.append((self.name, plan))
            if after is now or allowance.meter.total(after) <= allowance.target:
                break
            now = after
        return Plan(steps=tuple(records)) if len(records) > 1 else records[0][1]

    def _decided(self, transcript: Transcript, allowance: Allowance) -> Flow:
        stop, target = self._settled(transcript, allowance)
        if stop and target > 0:
            inner = replace(allowance, limit=target, target=target)
            plan = yield from ask(Attempt(self.strategy, transcript.head(stop), inner))
            after = _after(transcript, self.name, plan)
            if after is not transcript and allowance.meter.total(after) <= allowance.target:
                return plan
        return (yield from ask(Attempt(self.strategy, transcript, allowance)))

    def _settled(self, transcript: Transcript, allowance: Allowance) -> tuple[int, int]:
        """Where the settled part ends, and what it may take.

        It ends with the last unit that was complete when the conversation passed the last multiple of the step,
        and leaves what the rest can grow to before the next one. Neither changes until then.
        """
        step = max(1, int(allowance.target * self.step))
        overhead = allowance.meter.overhead(transcript.envelope)
        reached = list(accumulate(allowance.meter.sizes(transcript), initial=overhead))
        multiple = reached[-1] // step * step
        stop = max((unit.stop for unit in transcript.units if reached[unit.stop] <= multiple), default=0)
        return stop, allowance.target - (multiple + step - reached[stop])


def _after(transcript: Transcript, name: str, plan: Plan) -> Transcript:
    """The transcript after the plan; the same where the plan breaks a rule."""
    now = transcript
    try:
        for _, _, applied in played(transcript, name, plan):
            now = applied.transcript
    except IntegrityError:
        return transcript
    return now
