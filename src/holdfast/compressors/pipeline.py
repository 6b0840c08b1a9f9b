"""Strategies in a row: a list and a loop."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.compressors.describing import described
from holdfast.compressors.knobs import check_knobs
from holdfast.compressors.playing import ROUNDS, played
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Attempt, Compressor, Flow, Plan
from holdfast.kernel.flow import ask
from holdfast.kernel.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Each strategy in turn, until the target is met.

    A strategy that fails, breaks a rule or saves nothing leaves the conversation as it was, and the next one
    takes over. When all are done the last state stands, even if it is over the target.
    """

    steps: tuple[Compressor, ...] = ()
    """The strategies, cheapest first."""

    name: str = "hybrid"

    def __post_init__(self) -> None:
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The name and every step's own description; that of the step where it stands alone under its own name."""
        if [step.name for step in self.steps] == [self.name]:
            return described(self.steps[0])
        return {"strategy": self.name, "strategies": [described(step) for step in self.steps]}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plans of the steps, one record for each, whether it ran or not.

        If all together miss the target, they get another round, since one may make room for another: a result
        that is compressed again stays as it is. Of later rounds only what changed something is recorded.
        """
        records: list[tuple[str, Plan]] = []
        now = transcript
        for turn in range(ROUNDS):
            before = now
            for step in self.steps:
                plan, after = yield from _tried(step, now, allowance)
                if turn == 0 or after is not now:
                    records.append((step.name, plan))
                now = after
            if now is before or allowance.meter.total(now) <= allowance.target:
                break
        return Plan(steps=tuple(records)) if records else Plan.skip("no_strategies", "there is no strategy in it")


@dataclass(frozen=True, slots=True)
class _Settled:
    """A strategy whose plan is applied as soon as it is made: what is wrong with its edits is its own fault."""

    strategy: Compressor

    @property
    def name(self) -> str:
        return self.strategy.name

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plan with what became of it, so that nobody has to apply it again."""
        plan = yield from ask(Attempt(self.strategy, transcript, allowance))
        done = list(played(transcript, self.name, plan))
        for _, _, applied in done:
            allowance.meter.recount(
                applied.before, applied.transcript, applied.origins
            )  # nor can it bring a message that nobody can read
        records = tuple((step, replace(inner, applied=applied)) for step, inner, applied in done)
        return replace(plan, steps=records) if plan.steps else records[0][1]


def _tried(
    step: Compressor, now: Transcript, allowance: Allowance
) -> Generator[Any, Any, tuple[Plan, Transcript]]:
    """The plan of a step and the transcript after it: unchanged where it is not needed or saves nothing."""
    tokens = allowance.meter.total(now)
    if tokens <= allowance.target:
        return Plan.skip("target_met", "the target was met before it"), now
    plan = yield from ask(Attempt(_Settled(step), now, allowance))
    after = _after(now, plan)
    if after is not now and allowance.meter.total(after) >= tokens:
        return Plan.skip("no_savings", "what it proposed would not be smaller"), now
    return plan, after


def _after(transcript: Transcript, plan: Plan) -> Transcript:
    """The transcript after a settled plan."""
    last = plan.steps[-1][1] if plan.steps else plan
    return last.applied.transcript if last.applied else transcript
