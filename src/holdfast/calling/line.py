"""The way to a vendor: so many requests at a time, each with its time, sent again where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable, iscoroutinefunction
from random import SystemRandom
from time import monotonic

from holdfast.kernel.errors import HoldfastError, ModelError
from holdfast.providers.faults import TransientError
from holdfast.usage import Ledger
from holdfast.waiting import in_thread

from .limits import CallLimits

Call = Callable[[], object]

_SILENT = 8  # calls in a row without an answer, retries included: from then on nobody is made to wait any more
_LONGEST = 300  # characters of somebody else's error


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: an answer, or the HoldfastError in its place."""

    answer: object
    attempts: int
    seconds: float


class Line:
    """Calls to one vendor during one run; ``who`` names it in errors."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._seats = asyncio.Semaphore(limits.concurrency)
        self._random = SystemRandom()
        self._silent = 0

    async def ask(self, who: str, call: Call, ledger: Ledger) -> Outcome:
        """Make the call when there is a seat for it, and again while that may help."""
        async with self._seats:
            started = monotonic()
            if ledger.until is None:
                ledger.until = started + self._limits.total
            attempts = 1
            answer = await self._once(who, call, ledger.until)
            while (wait := self._pause(answer, attempts, ledger.until)) is not None:
                await asyncio.sleep(wait)
                answer = await self._once(who, call, ledger.until)
                attempts += 1
            self._silent = self._silent + 1 if isinstance(answer, TransientError) else 0
            return Outcome(answer, attempts, monotonic() - started)

    async def _once(self, who: str, call: Call, until: float) -> object:
        if self._silent >= _SILENT:
            return TransientError(
                f"{who} left {self._silent} calls in a row without an answer; it is not asked again"
            )
        seconds = min(self._limits.timeout, until - monotonic())
        if seconds <= 0:
            return ModelError(f"the {self._limits.total:g} s for model calls are used up; {who} was not asked")
        try:
            async with asyncio.timeout(seconds):
                return await _answer(call)
        except HoldfastError as fault:
            return fault
        except TimeoutError:
            return TransientError(f"{who} did not answer within {seconds:.3g} s")
        except ConnectionError as fault:
            return TransientError(f"{who} could not be reached: {_told(fault)}")
        except asyncio.CancelledError as fault:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return ModelError(f"{who} gave up: {_told(fault)}")
        except (Exception, GeneratorExit) as fault:  # noqa: BLE001 - models are anyone's; what they raise must not end a compression
            return ModelError(f"{who} failed: {_told(fault)}")

    def _pause(self, answer: object, attempts: int, until: float) -> float | None:
        """Seconds before the call is made again, or None if it is not."""
        limits = self._limits
        if not isinstance(answer, TransientError) or attempts > limits.retries:
            return None
        asked = answer.retry_after or 0.0
        if asked > limits.patience:
            return None
        longest = min(limits.backoff * 2 ** (attempts - 1), limits.patience)
        wait = asked + self._random.uniform(0, longest)
        return wait if monotonic() + wait < until else None


async def _answer(call: Call) -> object:
    """What the call returns, waited for; one that may block gets a thread."""
    waits = iscoroutinefunction(getattr(call, "func", call))
    answer = call() if waits else await in_thread(call)
    return await answer if isawaitable(answer) else answer


def _told(fault: BaseException) -> str:
    """The error in one line of bearable length."""
    line = " ".join(f"{type(fault).__name__}: {fault}".split()).removesuffix(":")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
