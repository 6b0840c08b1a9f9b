"""Driving strategies: many in lockstep, synchronously (``run``) or awaited (``arun``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, TypeVar, cast

from .compressor import Attempt, Flow, Plan
from .ports import Ask

A = TypeVar("A")
R = TypeVar("R")
T = TypeVar("T")
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
    try:
        asked = next(rounds)
        while True:
            try:
                told = answers(asked)
            except Exception as fault:  # noqa: BLE001 - it belongs to whoever asked
                asked = rounds.throw(fault)
            else:
                asked = rounds.send(told)
    except StopIteration as done:
        return cast("T", done.value)
    finally:
        rounds.close()


async def arun(rounds: Generator[R, A, T], answers: Callable[[R], Awaitable[A]]) -> T:
    """Like ``run``, awaited; a cancellation closes the generators and is raised."""
    try:
        asked = next(rounds)
        while True:
            try:
                told = await answers(asked)
            except Exception as fault:  # noqa: BLE001 - as above
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
