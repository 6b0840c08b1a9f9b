"""Strategies that combine others: in sequence, in steps, or one under another name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from holdfast.kernel.apply import Applied, apply
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import (
    Asking,
    Attempt,
    Compressor,
    Configured,
    Flow,
    Plan,
    Planner,
    ask,
    described,
)
from holdfast.kernel.transcript import Transcript
from holdfast.kernel.typed import Fraction

ROUNDS = 32
"""How often a missed target is tried again. Each round saves tokens, so this only bounds the time;
two are enough for all conversations of the tests.
"""


def apply_steps(
    transcript: Transcript, name: str, plan: Plan
) -> Iterator[tuple[str, Plan, Applied]]:
    """Apply each plan without steps in turn; yield its strategy's name, the plan and the result."""
    for step, inner in plan.leaves(name):
        done = inner.applied
        if done is None or done.before is not transcript:
            done = apply(transcript, inner.edits)
        transcript = done.transcript
        yield step, inner, done


@dataclass(frozen=True, slots=True)
class Named(Configured):
    """A strategy under another name in results and logs."""

    strategy: Planner
    name: str

    def describe(self) -> Mapping[str, object]:
        """The description of the strategy, and the name."""
        return {**described(self.strategy), "as": self.name}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """The plan of the strategy."""
        return self.strategy.plan(transcript, allowance)


@dataclass(frozen=True, slots=True)
class Pipeline(Configured):
    """Runs each strategy in turn until the target is met.

    A strategy that fails, breaks a rule or saves nothing leaves the conversation unchanged, and the
    next one runs. The last state is the result, even if it is over the target.
    """

    steps: tuple[Planner, ...] = ()
    """The strategies, cheapest first."""

    name: str = "hybrid"

    rescue: Planner | None = None
    """Runs last if a step failed, to meet the target."""

    def describe(self) -> Mapping[str, object]:
        """The name and the steps; a single step with this name describes itself."""
        if [step.name for step in self.steps] == [self.name]:
            return described(self.steps[0])
        return {"strategy": self.name, "strategies": [described(step) for step in self.steps]}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plans of the steps, one for each, whether it ran or not.

        If they miss the target together, they run again, since one step may make room for another;
        so compressing a result again changes nothing. Later rounds record only steps that changed
        something.
        """
        records: list[tuple[str, Plan]] = []
        now, followed = transcript, replace(allowance, followed=True)
        for turn in range(ROUNDS):
            before = now
            for step in self.steps:
                given = allowance if step is self.steps[-1] else followed
                plan, after = yield from _tried(step, now, given)
                if turn == 0 or after is not now:
                    records.append((step.name, plan))
                now = after
            if now is before or allowance.meter.total(now) <= allowance.target:
                break
        if self.rescue and any(plan.status == "failed" for _, plan in records):
            plan, _ = yield from _tried(self.rescue, now, allowance)
            records.append((self.rescue.name, plan))
        if not records:
            return Plan.skip("no_strategies", "there is no strategy in it")
        return Plan(steps=tuple(records))


@dataclass(frozen=True, slots=True)
class Function:
    """A function as a strategy."""

    name: str
    planned: Callable[[Transcript, Allowance], Plan | Flow]

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """What the function plans."""
        return self.planned(transcript, allowance)


def _settled(step: Compressor, transcript: Transcript, allowance: Allowance) -> Flow:
    """A step's plan, applied at once, so that an invalid edit counts as its failure.

    The plan holds the result, so that it is not applied again.
    """
    plan = yield from ask(Attempt(step, transcript, allowance))
    done = list(apply_steps(transcript, step.name, plan))
    for _, _, applied in done:
        # a message that cannot be read fails here
        allowance.meter.sizes(applied.transcript)
    records = tuple((name, replace(inner, applied=applied)) for name, inner, applied in done)
    return replace(plan, steps=records) if plan.steps else records[0][1]


def _tried(
    step: Compressor, now: Transcript, allowance: Allowance
) -> Asking[tuple[Plan, Transcript]]:
    """The plan of a step and the transcript after it, unchanged if the step saves nothing."""
    tokens = allowance.meter.total(now)
    if tokens <= allowance.target:
        return Plan.skip("target_met", "the target was met before it"), now
    settled = Function(step.name, partial(_settled, step))
    plan = yield from ask(Attempt(settled, now, allowance))
    last = plan.steps[-1][1] if plan.steps else plan
    after = last.applied.transcript if last.applied else now
    if after is not now and allowance.meter.total(after) >= tokens:
        return Plan.skip("no_savings", "its result would not be smaller"), now
    return plan, after


@dataclass(frozen=True, slots=True)
class Stepwise(Configured):
    """Compresses the conversation as of the last multiple of the step, and appends the rest.

    Between two multiples the decision stays the same for any strategy, and results only grow at
    their end, so that the provider's prompt cache stays valid. No state is kept: the multiples are
    of the conversation's size.
    """

    strategy: Planner
    """The strategy that decides."""

    step: Fraction = 0.1
    """The step as a share of the budget."""

    @property
    def name(self) -> str:
        """The name of the strategy."""
        return self.strategy.name

    def describe(self) -> Mapping[str, object]:
        """The description of the strategy, and the step."""
        return {**described(self.strategy), "step": self.step}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plan for the settled part that leaves room for the rest, or the plan for the whole.

        As that of any pipeline, it is made again from the result while it misses the target.
        """
        return Pipeline((Function(self.name, self._once),), self.name).plan(transcript, allowance)

    def _once(self, transcript: Transcript, allowance: Allowance) -> Flow:
        """The plan of the settled part, or of the whole if that one misses the target.

        The part ends with the last unit that was complete when the conversation passed the last
        multiple of the step. Its room leaves what the rest may need before the next multiple, so
        that neither number changes until then.
        """
        step = max(1, int(allowance.target * self.step))
        overhead = allowance.meter.overhead(transcript.envelope)
        reached = list(accumulate(allowance.meter.sizes(transcript), initial=overhead))
        multiple = reached[-1] // step * step
        stops = (unit.stop for unit in transcript.units if reached[unit.stop] <= multiple)
        stop = max(stops, default=0)
        target = allowance.target - (multiple + step - reached[stop])
        if stop and target > 0:
            inner = replace(allowance, limit=target, target=target)
            head = Attempt(self.strategy, transcript.head(stop), inner)
            part = Function(self.name, lambda _now, _allowance: ask(head))
            plan, after = yield from _tried(part, transcript, allowance)
            if after is not transcript and allowance.meter.total(after) <= allowance.target:
                return plan
        return (yield from ask(Attempt(self.strategy, transcript, allowance)))
