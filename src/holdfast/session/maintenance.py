"""When tiers are tended and a model is asked: after appends, on demand or in the background."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, RLock, Thread
from time import sleep
from typing import Any, Self, TypeVar
from weakref import WeakSet

from holdfast.calls.lineup import Lineup
from holdfast.compressors.writer import together
from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError
from holdfast.kernel.ports import Ask
from holdfast.memory.forms import VERBATIM, AskingCondenser, Form
from holdfast.memory.tiers import Segment, Tier, TierStatistics
from holdfast.result import ModelUsage
from holdfast.runtime import Runtime
from holdfast.text.concealed import redacted_text

from .forms import expanded
from .tiers import Asked, Likeness, Owed, Tending


class Exclusive:
    """Held by one thread at a time, which may take it again; it may wait long.

    In a forked child it is free, and before it is first held there, ``anew`` makes what it guards
    once more: the thread that was at work on it may have left it half done, and is not there to end
    it.
    """

    def __init__(self, anew: Callable[[], None]) -> None:
        self._lock, self._anew, self._is_stale = RLock(), anew, False
        _ALL.add(self)

    def __enter__(self) -> Self:
        self._lock.acquire()
        if self._is_stale:
            self._is_stale = False
            try:
                self._anew()
            except BaseException:
                self._is_stale = True
                self._lock.release()
                raise
        return self

    def __exit__(self, *fault: object) -> None:
        self._lock.release()

    def forked(self) -> None:
        """Begin as a child."""
        if self._lock.acquire(blocking=False):  # free, or held by the very thread that forked
            self._lock.release()
        else:
            self._lock = RLock()
        self._is_stale = True


_ALL: WeakSet[Exclusive] = WeakSet()


def _forked() -> None:
    for each in list(_ALL):
        each.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Worker:
    """Does its work whenever it is woken, never twice at once; a process may end meanwhile.

    The work must not raise: nobody would hear of it.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = Lock()
        self._due = self._busy = self._closed = False

    def wake(self) -> None:
        """Have the work done once more, after what is under way."""
        with self._lock:
            self._due = not self._closed
            if self._busy or not self._due:
                return
            self._busy = True
        Thread(target=self._run, name="holdfast-session", daemon=True).start()

    def close(self) -> None:
        """Begin nothing any more; does not wait for what is under way."""
        with self._lock:
            self._closed, self._due = True, False

    def _run(self) -> None:
        while self._taken():
            self._work()

    def _taken(self) -> bool:
        with self._lock:
            self._busy, self._due = self._due, False
            return self._busy


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Round:
    """The answers of one round: forms, failures with the first reason, and the model's usage."""

    forms: Mapping[Owed, Form]
    failed: tuple[Owed, ...]
    fault: str
    usage: ModelUsage

    @property
    def refused(self) -> int:
        """How many forms were refused, so that the one by rule stands."""
        return sum(bool(form.refused) for form in self.forms.values())

    @property
    def asked(self) -> int:
        """How many forms the model was asked for, also those that failed."""
        return sum(form.asked for form in self.forms.values()) + len(self.failed)


@dataclass(frozen=True, slots=True)
class Forming:
    """Asks the model of the line-up; with ``redacts``, secrets are masked before."""

    condenser: AskingCondenser
    lineup: Lineup
    redacts: bool = False

    def asked(self, owed: Sequence[Owed]) -> Round:
        """The forms that are owed, asked for together. Model faults are told, not raised."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        count = self.lineup.count
        flows = [self.condenser.asking(self._masked(each.text), each.level, count) for each in owed]
        answers = list(zip(owed, _answered(together(flows), runtime.answer), strict=True))
        faults = [str(answer) for _, answer in answers if isinstance(answer, HoldfastError)]
        return Round(
            {each: answer for each, answer in answers if isinstance(answer, Form)},
            tuple(each for each, answer in answers if isinstance(answer, HoldfastError)),
            faults[0] if faults else "",
            runtime.usage(),
        )

    def expanded(self, segment: Segment, now: float) -> str:
        """The note of a segment written out and marked as reconstructed. Raises ModelError."""
        runtime = Runtime(self.lineup, redacts=self.redacts)
        return _answered(expanded(segment, self.lineup.count, now), runtime.answer).content

    def _masked(self, text: str) -> str:
        return redacted_text(text)[0] if self.redacts else text


def _answered(flow: Generator[Ask[Any], Any, T], answer: Callable[[Ask[object]], object]) -> T:
    """What the flow returns when all that it asks is answered."""
    try:
        request = next(flow)
        while True:
            told = answer(request)
            request = flow.throw(told) if isinstance(told, HoldfastError) else flow.send(told)
    except StopIteration as end:
        returned: T = end.value
        return returned
    finally:
        flow.close()


_BREATH = 0.001  # seconds between two portions: whoever waits for the turn gets it
_AT_ONCE = 8  # forms of one round, as many as CallLimits lets be under way
_ROUNDS = 4  # of questions in the background, each time that the tiers are tended
_TRIES = 2  # rounds in which a form is asked for before it is left to the rule
_LONGEST_PAUSE = 16  # tendings without a question while nobody answers
_FAULTS = 10  # that are held


class Patience:
    """Leaves alone who did not answer: for 1 tending, then 2, 4 and so on."""

    def __init__(self) -> None:
        self._silent = self._left = 0

    def is_over(self) -> bool:
        """Whether it is time to ask; call it once a tending."""
        self._left -= 1
        return self._left < 0

    def heard(self, *, answered: bool) -> None:
        """Take note of what came of a question."""
        self._silent = 0 if answered else self._silent + 1
        self._left = min(2**self._silent // 2, _LONGEST_PAUSE)


class Upkeep:
    """Tends the tiers while it holds the session's ``turn``, and asks the model when it does not.

    So no fit waits for a model: until its form is there and the tiers are tended again, that of the
    rule stands. What goes wrong is told in ``faults`` and as an event, and raised only where
    somebody asked for the work.
    """

    def __init__(
        self,
        turn: Exclusive,
        tending: Tending,
        likeness: Likeness,
        forming: Forming | None,
        *,
        background: bool,
    ) -> None:
        self._faults: deque[str] = deque(maxlen=_FAULTS)
        self._turn, self._tending, self._likeness, self._forming = turn, tending, likeness, forming
        self._worker = Worker(self._round) if background else None
        self._asking = Lock()
        self._failed: Counter[Asked] = Counter()
        self._model, self._embedder = Patience(), Patience()
        self._closed = False

    @property
    def faults(self) -> tuple[str, ...]:
        """What went wrong, the newest last."""
        with self._turn:
            return tuple(self._faults)

    def appended(self) -> None:
        """Do what is due after an append; call it without the turn.

        Where nobody has to be asked, the tiers wait until somebody looks at them.
        """
        if self._worker is not None:
            self._worker.wake()
        elif self._forming is not None or self._likeness.lineup.embedder is not None:
            self._round()

    def now(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Tend the tiers and ask for all that is owed, and wait for it. Raises StoreError."""
        self._weigh()
        told = self._run(force=force)
        while self._asked() or self._tending.has_forms:
            told = self._run()
        return told

    def looked(self, *, some: bool = False) -> dict[Tier, TierStatistics]:
        """Tend the tiers, or a portion, for a reader; where that fails they stay as they were."""
        with self._shielded():
            self._run(some=some)
        return self._tending.statistics()

    def found(self, positions: list[int]) -> None:
        """Tell that messages were found, so that their segments come up."""
        with self._shielded(), self._turn:
            self._tending.found(positions)

    def expanded(self, note: Segment) -> str:
        """The note written out by the model; what is still verbatim as it is. Raises ModelError."""
        if note.level == VERBATIM:
            return note.content
        if self._forming is None:
            raise ConfigError(
                "there is no model", place="expand", advice="give llm= to the session"
            )
        return self._forming.expanded(note, self._tending.thread.now())

    def close(self) -> None:
        """Put the forms that came in their place, and leave those that are still to come."""
        with self._turn:
            if self._tending.has_forms:
                self.looked()
            self._closed = True
        if self._worker is not None:
            self._worker.close()

    def _round(self) -> None:
        """Tend the tiers if due, and ask for some owed forms; for more in the background."""
        with self._shielded():
            if not self._is_due():
                return
            if self._embedder.is_over():
                self._weigh()
            while self._has_more() and self._worker is not None:
                sleep(_BREATH)
            if self._model.is_over():
                for _ in range(1 if self._worker is None else _ROUNDS):
                    if not self._asked():
                        break

    def _has_more(self) -> bool:
        """Tend the tiers, a large backlog in portions; whether there is more of it."""
        with self._turn:
            if not self._is_open():
                return False
            self._run(some=True)
            return self._tending.behind

    def _is_due(self) -> bool:
        with self._turn:
            return self._is_open() and self._tending.due(patient=self._worker is not None)

    def _is_open(self) -> bool:
        return not self._closed

    def _run(self, *, force: bool = False, some: bool = False) -> dict[Tier, TierStatistics]:
        with self._turn:
            self._tending.thread.refresh()
            return self._tending.run(force=force, some=some)

    def _weigh(self) -> None:
        """Ask for the vectors by which segments are weighed; without them, their words are."""
        with self._turn:
            texts = self._tending.unknown()
        if texts:
            answered = False
            with self._shielded():
                vectors = self._likeness.asked(texts)
                with self._turn:
                    self._likeness.take(vectors)
                answered = True
            self._embedder.heard(answered=answered)

    def _asked(self) -> bool:
        """Ask for some of the forms that are owed; whether any came."""
        if self._forming is None:
            return False
        with self._asking:
            with self._turn:
                given_up = {asked for asked, times in self._failed.items() if times >= _TRIES}
                owed = self._tending.owed(_AT_ONCE, given_up) if self._is_open() else []
            if not owed:
                return False
            answers = self._forming.asked(owed)
            with self._turn:
                if not self._is_open():
                    return False
                self._failed.update((each.id, each.level) for each in answers.failed)
                self._model.heard(answered=bool(answers.forms))
                self._tending.take(answers.forms, self._forming.lineup.writer)
                self._tell_of(answers)
        return bool(answers.forms)

    def _tell_of(self, answers: Round) -> None:
        usage = answers.usage
        if answers.fault:
            self._tell(answers.fault)
        if usage.calls:
            taken = answers.asked - len(answers.failed) - answers.refused
            writer = usage.calls[0].model
            facts = {
                "taken": taken,
                "refused": answers.refused,
                "failed": len(answers.failed),
                "cached": usage.cached,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cost": usage.cost,
            }
            with suppress(StoreError):
                self._tending.thread.record(
                    "forms", f"{taken} of {answers.asked} forms are by {writer}", facts
                )

    @contextmanager
    def _shielded(self) -> Generator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - condensers and stores are anyone's
            with self._turn:
                self._tell(
                    str(fault)
                    if isinstance(fault, HoldfastError)
                    else f"{type(fault).__name__}: {fault}"
                )

    def _tell(self, fault: str) -> None:
        """Keep the fault, and put it on record; the same fault again is told once."""
        if self._faults and self._faults[-1] == fault:
            return
        self._faults.append(fault)
        if self._is_open():
            with suppress(StoreError):
                self._tending.thread.record("fault", fault, {})
