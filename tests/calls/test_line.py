"""One call to a vendor: its time, its retries, and what becomes of what somebody else's code
raises.
"""

import asyncio
import threading
from threading import Event

import pytest

from holdfast.calls.caller import Request, VendorLine
from holdfast.calls.lineup import CallLimits
from holdfast.kernel.errors import ConfigError, ModelError
from holdfast.model_usage import CallRecords
from holdfast.providers.scripted import Scripted
from holdfast.providers.vendor import TransientError

QUICK = CallLimits(timeout=5, retries=2, backoff=0.001)


def line_of(limits):
    return VendorLine("complete", Scripted((), name="somebody"), limits)


def ask(line, call, ledger=None):
    return line.ask(Request(call, lambda answer: answer, lambda _: {}), ledger or CallRecords())


def asked(call, limits=QUICK, ledger=None):
    return asyncio.run(ask(line_of(limits), call, ledger))


class Failing:
    """Raises each fault in turn, then answers."""

    def __init__(self, *faults):
        self.faults, self.calls = list(faults), 0

    def __call__(self):
        self.calls += 1
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


@pytest.mark.parametrize(
    "fault", [TransientError("busy"), ConnectionResetError("gone"), TimeoutError("late")]
)
def test_a_fault_that_may_pass_is_tried_again(fault):
    call = Failing(fault, fault)
    outcome = asked(call)
    assert (outcome.answer, outcome.call.attempts, call.calls) == ("answer", 3, 3)


def test_retries_end():
    call = Failing(*[TransientError("busy")] * 9)
    outcome = asked(call)
    assert isinstance(outcome.answer, TransientError)
    assert (outcome.call.attempts, call.calls) == (3, 3)


@pytest.mark.parametrize(
    "fault", [ModelError("no"), ValueError("odd"), StopIteration("end"), asyncio.CancelledError()]
)
def test_any_other_fault_is_final_and_told_in_one_line(fault):
    call = Failing(fault)
    outcome = asked(call)
    assert isinstance(outcome.answer, ModelError)
    assert call.calls == 1
    assert "\n" not in str(outcome.answer)


def test_a_long_fault_is_told_in_bearable_length():
    assert len(str(asked(Failing(ValueError("x\n" * 10_000))).answer)) < 400


@pytest.mark.parametrize("waits", [True, False], ids=["awaited", "blocking"])
def test_a_call_that_hangs_is_left_when_its_time_is_over(waits):
    never = Event()

    async def hanging():
        await asyncio.Event().wait()

    outcome = asked(hanging if waits else never.wait, CallLimits(timeout=0.05, retries=0))
    assert isinstance(outcome.answer, TransientError)
    assert "did not answer within 0.05 s" in str(outcome.answer)
    never.set()


def test_the_time_for_all_calls_together_ends_too():
    ledger = CallRecords(until=0.0)
    call = Failing()
    outcome = asked(call, ledger=ledger)
    assert "are used up" in str(outcome.answer)
    assert call.calls == 0


def test_what_the_vendor_asks_for_is_waited():
    waits = []

    class Patient(VendorLine):
        def _pause(self, answer, attempts, until):
            wait = super()._pause(answer, attempts, until)
            waits.append(wait)
            return wait

    limits = CallLimits(retries=1, backoff=0.01)
    line = Patient("complete", Scripted(()), limits)
    asyncio.run(ask(line, Failing(TransientError("busy", retry_after=0.02))))
    assert 0.02 <= waits[0] <= 0.03


def test_a_longer_wait_than_there_is_patience_for_is_not_begun():
    call = Failing(TransientError("busy", retry_after=100))
    assert isinstance(asked(call).answer, TransientError)
    assert call.calls == 1


def test_no_more_calls_are_under_way_than_there_are_seats():
    lock, now, most = threading.Lock(), [0], [0]
    full, over = Event(), Event()

    def call():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            if now[0] == 3:
                full.set()
        over.wait()
        with lock:
            now[0] -= 1

    async def crowd():
        line = line_of(CallLimits(concurrency=3))
        tasks = [asyncio.ensure_future(ask(line, call)) for _ in range(9)]
        await asyncio.to_thread(full.wait)
        over.set()
        await asyncio.gather(*tasks)

    asyncio.run(crowd())
    assert most[0] == 3


def test_a_vendor_that_is_silent_for_long_is_not_asked_again():
    calls = []

    def silent():
        calls.append(1)
        raise TransientError("busy")

    async def many():
        line = line_of(CallLimits(retries=0))
        return [(await ask(line, silent)).answer for _ in range(12)]

    answers = asyncio.run(many())
    assert len(calls) == 8
    assert "not asked again" in str(answers[-1])


def test_for_a_vendor_that_is_not_asked_again_nobody_waits():
    async def many():
        line = line_of(CallLimits(retries=0))
        for _ in range(8):
            await ask(line, Failing(TransientError("busy")))
        line._limits = CallLimits(retries=2, backoff=100.0, patience=100.0)
        return (await ask(line, Failing())).call.attempts

    assert asyncio.run(many()) == 1


def test_a_coroutine_function_is_awaited_on_the_callers_own_loop():
    async def whole():
        own = asyncio.get_running_loop()

        async def call():
            return asyncio.get_running_loop() is own

        return (await ask(line_of(QUICK), call)).answer

    assert asyncio.run(whole()) is True


@pytest.mark.parametrize(
    "wrong", [{"timeout": -1}, {"retries": -1}, {"concurrency": 0}, {"total": float("nan")}]
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=f"CallLimits.{next(iter(wrong))}"):
        CallLimits(**wrong)
