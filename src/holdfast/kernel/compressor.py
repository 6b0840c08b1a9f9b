"""The protocol of a strategy, the plans that it returns, its knobs, and how strategies are driven.

Knobs are checked when a strategy is made, and listed in its description. Strategies run many in
lockstep, synchronously (``run``) or awaited (``arun``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, Protocol, TypeGuard, TypeVar, cast

from .apply import Applied
from .budget import Allowance
from .edits import Edit
from .errors import problem_of
from .ports import Ask
from .transcript import Transcript
from .typed import Only, check_fields, is_list, is_object

A = TypeVar("A")
R = TypeVar("R")
T = TypeVar("T")

Status = Literal["compacted", "skipped", "failed"]


@dataclass(frozen=True)
class Plan:
    """The edits of a strategy, or the plans of a pipeline's steps in order.

    ``reason`` is a short code (``within_budget``, ``strategy_failed``), ``detail`` a sentence.
    ``smallest`` is the smallest budget that would do, if the strategy knows it and it was missed.
    """

    edits: tuple[Edit, ...] = ()
    status: Status = "compacted"
    reason: str = ""
    detail: str = ""
    steps: tuple[tuple[str, Plan], ...] = ()
    smallest: int | None = field(default=None, compare=False, repr=False)
    fault: Exception | None = field(default=None, compare=False, repr=False)
    applied: Applied | None = field(default=None, compare=False, repr=False)
    """The result of applying the edits, if the caller of the strategy has applied them."""

    @classmethod
    def skip(cls, reason: str, detail: str = "") -> Plan:
        """A plan without edits, and why."""
        return cls(status="skipped", reason=reason, detail=detail)

    @classmethod
    def fail(cls, fault: Exception) -> Plan:
        """A plan without edits, because of an error."""
        problem = problem_of(fault)
        return cls(status="failed", reason="strategy_failed", detail=problem, fault=fault)

    def leaves(self, name: str) -> Iterator[tuple[str, Plan]]:
        """The plans without steps of their own, each with the name of its strategy."""
        if not self.steps:
            yield name, self
        for step, inner in self.steps:
            yield from inner.leaves(step)


Flow = Generator[Ask[object], Any, Plan]
"""A generator that yields requests, is sent the answers, and returns a plan."""


class Compressor(Protocol):
    """A strategy: returns edits for a transcript and an allowance, and changes nothing itself."""

    @property
    def name(self) -> str:
        """The name in results and logs, such as ``sliding_window``."""
        ...

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """Return the plan, or a generator that returns it if a store or a model is needed."""
        ...


@dataclass(frozen=True)
class Attempt(Ask[Plan]):
    """A request for the plan of another strategy; its failure comes back as a failed plan."""

    compressor: Compressor
    transcript: Transcript
    allowance: Allowance


def is_strategy(value: object) -> TypeGuard[Compressor]:
    """Whether this object can plan and has a name."""
    plans = not isinstance(value, type) and callable(getattr(value, "plan", None))
    return plans and isinstance(getattr(value, "name", None), str)


Planner = Annotated[
    Compressor,
    Only("a strategy, which has a name and a method plan(transcript, allowance)", is_strategy),
]
"""The type of a knob that is a strategy."""


class Configured:
    """A strategy, or other options, whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        check_fields(self)


def described(part: object) -> dict[str, object]:
    """The description of a strategy, or of a part of it: its own, or its name and its fields."""
    describe = getattr(part, "describe", None)
    told: object = describe() if callable(describe) else None
    if is_object(told) and told:
        return {key: _plain(item) for key, item in told.items()}
    name = {"strategy": part.name} if is_strategy(part) else {}
    own = fields(part) if is_dataclass(part) else ()
    return {**name, **{f.name: _plain(getattr(part, f.name)) for f in own if f.repr}}


def _plain(value: object) -> object:
    """The value of a field as JSON has it: a tuple as a list, a strategy as its description."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if is_list(value):
        return [_plain(item) for item in value]
    if is_object(value):
        return {str(key): _plain(item) for key, item in value.items()}
    return described(value) or str(value)


# driving strategies

Rounds = Generator[list[tuple[int, Ask[object]]], Sequence[object], list[Plan]]
Asking = Generator[Ask[Any], Any, T]
"""A generator that yields requests, is sent their answers, and returns a value."""


def ask(request: Ask[T]) -> Generator[Ask[T], Any, T]:
    """Yield the request and return its answer, with the type that the request promises."""
    return cast("T", (yield request))


def planned(attempt: Attempt) -> Flow:
    """Yields the requests of a strategy and returns its plan; a fault of it is a failed plan."""
    try:
        plan: object = attempt.compressor.plan(attempt.transcript, attempt.allowance)
        if isinstance(plan, Generator):
            plan = yield from _driven(plan)
    except Exception as fault:  # noqa: BLE001 - anyone's strategy
        return Plan.fail(fault)
    if isinstance(plan, Plan):
        return plan
    return Plan.fail(TypeError(f"a strategy returns a Plan, not {type(plan).__name__}"))


def _driven(flow: Generator[object, Any, object]) -> Generator[Ask[object], Any, object]:
    """Yields the requests of a flow but those for other plans, and returns what it returns.

    A HoldfastError that answers a request is thrown into the flow.
    """
    try:
        asked = next(flow)
        while isinstance(asked, Ask):
            if isinstance(asked, Attempt):
                told: object = yield from planned(asked)
            else:
                told = yield asked
            asked = flow.throw(told) if isinstance(told, Exception) else flow.send(told)
    except StopIteration as done:
        return done.value
    else:
        return asked
    finally:
        flow.close()


def run(rounds: Generator[R, A, T], answers: Callable[[R], A]) -> T:
    """Drive the generator and return its value.

    ``answers`` answers each round; its errors are thrown into the generator.
    """

    async def at_once(asked: R) -> A:
        return answers(asked)

    driven = arun(rounds, at_once)
    try:
        driven.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    raise AssertionError("at_once awaits nothing")


async def arun(rounds: Generator[R, A, T], answers: Callable[[R], Awaitable[A]]) -> T:
    """Like ``run``, awaited; a cancellation closes the generators and is raised."""
    try:
        asked = next(rounds)
        while True:
            try:
                told = await answers(asked)
            except Exception as fault:  # noqa: BLE001 - it belongs to whoever asked
                asked = rounds.throw(fault)
            else:
                asked = rounds.send(told)
    except StopIteration as done:
        return cast("T", done.value)
    finally:
        rounds.close()


def run_batch(attempts: Sequence[Attempt]) -> Rounds:
    """Run strategies in lockstep: yields the numbered requests of each round, returns the plans."""
    flows = [planned(attempt) for attempt in attempts]
    plans = [Plan()] * len(flows)
    told: list[tuple[int, object]] = [(i, None) for i in range(len(flows))]
    try:
        while told:
            asked: list[tuple[int, Ask[object]]] = []
            for i, answer in told:
                try:
                    asked.append((i, flows[i].send(answer)))
                except StopIteration as done:
                    plans[i] = done.value
            answers = (yield asked) if asked else ()
            told = [(i, answer) for (i, _), answer in zip(asked, answers, strict=True)]
    finally:
        for flow in flows:
            flow.close()
    return plans
