"""The protocol of a strategy, the plans that it returns, its knobs, and how strategies are driven.

Knobs are checked when a strategy is made, and listed in its description. Strategies run many in
lockstep, synchronously (``run``) or awaited (``arun``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar, cast

from .apply import Applied
from .budget import Allowance
from .edits import Edit
from .ports import Ask
from .transcript import Transcript
from .typed import Only, check_fields

A = TypeVar("A")
R = TypeVar("R")
T = TypeVar("T")

Status = Literal["compacted", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The edits of a strategy, or the plans of a pipeline's steps in order.

    ``reason`` is a short code (``within_budget``, ``strategy_failed``), ``detail`` a sentence.
    """

    edits: tuple[Edit, ...] = ()
    status: Status = "compacted"
    reason: str = ""
    detail: str = ""
    steps: tuple[tuple[str, Plan], ...] = ()
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
        detail = " ".join(f"{type(fault).__name__}: {fault}".split()).removesuffix(":")
        return cls(status="failed", reason="strategy_failed", detail=detail, fault=fault)


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


@dataclass(frozen=True, slots=True)
class Attempt(Ask[Plan]):
    """A request for the plan of another strategy; its failure comes back as a failed plan."""

    compressor: Compressor
    transcript: Transcript
    allowance: Allowance


def is_strategy(value: object) -> bool:
    """Whether this object can plan and has a name."""
    plans = not isinstance(value, type) and callable(getattr(value, "plan", None))
    return plans and isinstance(getattr(value, "name", None), str)


Planner = Annotated[
    Compressor,
    Only("a strategy, which has a name and a method plan(transcript, allowance)", is_strategy),
]
"""The type of a knob that is a strategy."""


class Configured:
    """A strategy whose fields are its knobs: checked when it is made, listed by ``describe``."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def describe(self) -> Mapping[str, object]:
        """The name and the knobs."""
        return {"strategy": cast("Compressor", self).name, **knobs(self)}


def described(compressor: Compressor) -> dict[str, object]:
    """The description of a strategy: its own, or its name and its fields."""
    told = _own(compressor)
    return {"strategy": compressor.name, **knobs(compressor)} if told is None else told


def knobs(compressor: object) -> dict[str, object]:
    """The fields of a dataclass as plain values: tuples as lists, strategies as descriptions."""
    if not is_dataclass(compressor):
        return {}
    return {f.name: _plain(getattr(compressor, f.name)) for f in fields(compressor) if f.repr}


def _own(value: object) -> dict[str, object] | None:
    # measured: isinstance with a protocol takes thirty times as long
    describe = getattr(value, "describe", None)
    told: object = describe() if callable(describe) else None
    return (
        cast("dict[str, object]", _plain(cast("Any", told))) if isinstance(told, Mapping) else None
    )


def _plain(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()
        }
    return _own(value) or knobs(value) or str(value)


# driving strategies

Rounds = Generator[list[tuple[int, Ask[object]]], Sequence[object], list[Plan]]
Asking = Generator[Ask[Any], Any, T]
"""A generator that yields requests, is sent their answers, and returns a value."""


def ask(request: Ask[T]) -> Generator[Ask[T], Any, T]:
    """Yield the request and return its answer, with the type that the request promises."""
    return cast("T", (yield request))


class Lane:
    """A running strategy: a stack of generators, since a strategy may ask for another's plan."""

    def __init__(self, attempt: Attempt) -> None:
        self._stack: list[Flow] = []
        self.plan: Plan | None = None
        self.asking = self._settled(self._started(attempt))

    def answer(self, value: object) -> None:
        """Send the answer to the waiting generator; a HoldfastError is thrown into it."""
        self.asking = self._settled(self._sent(value))

    def close(self) -> None:
        """Close the open generators, innermost first."""
        while self._stack:
            self._stack.pop().close()

    def _settled(self, outcome: Ask[object] | Plan) -> Ask[object] | None:
        """The next request for the outside, or None when the plan is made."""
        while True:
            if isinstance(outcome, Attempt):
                outcome = self._started(outcome)
            elif not isinstance(outcome, Plan):
                return outcome
            elif self._stack:
                outcome = self._sent(outcome)
            else:
                self.plan = outcome
                return None

    def _started(self, attempt: Attempt) -> Ask[object] | Plan:
        """The plan of a strategy, or the first request of its generator."""
        begun = self._guarded(
            lambda: attempt.compressor.plan(attempt.transcript, attempt.allowance)
        )
        if not isinstance(begun, Generator):
            return _plan(begun)
        self._stack.append(begun)
        return self._sent(None)

    def _sent(self, value: object) -> Ask[object] | Plan:
        """The next request of the innermost generator, or the plan that it returns."""
        flow = self._stack[-1]

        def step() -> Ask[object] | Plan:
            try:
                return flow.throw(value) if isinstance(value, Exception) else flow.send(value)
            except StopIteration as stop:
                return _plan(stop.value)

        outcome = self._guarded(step)
        if isinstance(outcome, Ask):
            return outcome
        self._stack.pop().close()
        return _plan(outcome)

    def _guarded(self, call: Callable[[], T]) -> T | Plan:
        try:
            return call()
        except Exception as fault:  # noqa: BLE001 - anyone's strategy: a fault is a failed plan
            return Plan.fail(fault)


def _plan(value: object) -> Plan:
    if isinstance(value, Plan):
        return value
    return Plan.fail(TypeError(f"a strategy returns a Plan, not {type(value).__name__}"))


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
    lanes = [Lane(attempt) for attempt in attempts]
    try:
        while waiting := [(i, lane) for i, lane in enumerate(lanes) if lane.asking is not None]:
            answers = yield [(i, lane.asking) for i, lane in waiting if lane.asking is not None]
            for (_, lane), value in zip(waiting, answers, strict=True):
                lane.answer(value)
    finally:
        for lane in lanes:
            lane.close()
    return [lane.plan or Plan() for lane in lanes]
