"""When tiers are maintained and a model is asked: after appends, on demand, in the background."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, RLock, Thread
from time import sleep
from typing import Any, Self, TypeVar, cast
from weakref import WeakSet

from holdfast.calls.lineup import Lineup
from holdfast.compressors.writer import together
from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError
from holdfast.kernel.flow import run
from holdfast.kernel.ports import Ask
from holdfast.memory.forms import VERBATIM, AskingCondenser, Form
from holdfast.memory.tiers import Segment, Tier, TierStatistics
from holdfast.model_usage import ModelUsage
from holdfast.runtime import Runtime
from holdfast.text.concealed import redacted_text

from .forms import expanded
from .tiers import Asked, Likeness, Owed, ThreadTiers

T = TypeVar("T")


class Exclusive:
    """A lock that one thread holds at a time, which may take it again.

    In a forked child it is free. The thread that held it does not exist there and may have left
    its work half done, so before the lock is first taken in the child, ``anew`` makes again what
    the lock protects.
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
        """Called in a child after a fork."""
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
    """Runs ``work`` in a thread whenever it is woken, never twice at once.

    The work must not raise: nobody would hear of it. A process may end while it runs.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = Lock()
        self._due = self._busy = self._closed = False

    def wake(self) -> None:
        """Run the work once more, after a run that is under way."""
        with self._lock:
            self._due = not self._closed
            if self._busy or not self._due:
                return
            self._busy = True
        Thread(target=self._run, name="holdfast-session", daemon=True).start()

    def close(self) -> None:
        """Start no further run; does not wait for one that is under way."""
        with self._lock:
            self._closed, self._due = True, False

    def _run(self) -> None:
        while self._taken():
            self._work()

    def _taken(self) -> bool:
        with self._lock:
            self._busy, self._due = self._due, False
            return self._busy


@dataclass(frozen=True, slots=True)
class FormRound:
    """What one round of requests brought, and the usage of the model."""

    answers: Mapping[Owed, Form | HoldfastError]
    usage: ModelUsage

    @property
    def forms(self) -> dict[Owed, Form]:
        """The forms that came."""
        return {owed: found for owed, found in self.answers.items() if isinstance(found, Form)}

    @property
    def failed(self) -> dict[Owed, HoldfastError]:
        """The requests that failed, and why."""
        return {
            owed: found for owed, found in self.answers.items() if isinstance(found, HoldfastError)
        }


@dataclass(frozen=True, slots=True)
class Forming:
    """Asks the model of the line-up for forms; with ``redacts``, secrets are masked before."""

    condenser: AskingCondenser
    lineup: Lineup
    redacts: bool = False

    def asked(self, owed: Sequence[Owed]) -> FormRound:
        """The forms that are owed, asked for together. Failures of the model are not raised."""
        texts = [redacted_text(each.text)[0] if self.redacts else each.text for each in owed]
        count = self.lineup.count
        flows = [
            self.condenser.asking(text, each.level, count)
            for text, each in zip(texts, owed, strict=True)
        ]
        found, usage = self._answered(flows)
        return FormRound(dict(zip(owed, found, strict=True)), usage)

    def expanded(self, segment: Segment, now: float) -> str:
        """The note of a segment written out and marked as reconstructed. Raises ModelError."""
        (found,), _ = self._answered([expanded(segment, self.lineup.count, now)])
        if isinstance(found, HoldfastError):
            raise found
        return found.content

    def _answered(
        self, flows: Sequence[Generator[Ask[Any], Any, T]]
    ) -> tuple[list[T | HoldfastError], ModelUsage]:
        runtime = Runtime(self.lineup, redacts=self.redacts)
        answer = cast("Callable[[Ask[Any]], Sequence[object]]", runtime.answer)
        return run(together(flows), answer), runtime.usage()


_BREATH = 0.001  # seconds between two portions, so that whoever waits for the turn gets it
_AT_ONCE = 8  # forms of one round, as many requests as CallLimits lets be under way
_ROUNDS = 4  # of requests in the background, each time that the tiers are maintained
_TRIES = 2  # rounds in which a form is asked for before it is left to the rule
_LONGEST_PAUSE = 16  # maintenance runs without a request while nobody answers
_FAULTS = 10  # that are held


class Patience:
    """Pauses requests to someone who did not answer: for 1 maintenance run, then 2, 4 and so on."""

    def __init__(self) -> None:
        self._silent = self._left = 0

    def is_over(self) -> bool:
        """Whether it is time to ask; call it once a maintenance run."""
        self._left -= 1
        return self._left < 0

    def heard(self, *, answered: bool) -> None:
        """Take note of whether a request was answered."""
        self._silent = 0 if answered else self._silent + 1
        self._left = min(2**self._silent // 2, _LONGEST_PAUSE)


class Upkeep:
    """Maintains the tiers while it holds the session's ``turn``; asks the model when it does not.

    So no fit waits for a model: until the model's form is there and the tiers are maintained again,
    the form by rule stands. Failures are told by ``faults`` and as an event, and raised only where
    somebody asked for the work.
    """

    def __init__(
        self,
        turn: Exclusive,
        tiers: ThreadTiers,
        likeness: Likeness,
        forming: Forming | None,
        *,
        background: bool,
    ) -> None:
        self._faults: deque[str] = deque(maxlen=_FAULTS)
        self._turn, self._tiers, self._likeness, self._forming = turn, tiers, likeness, forming
        self._worker = Worker(self._round) if background else None
        self._asking = Lock()
        self._failed: Counter[Asked] = Counter()
        self._model, self._embedder = Patience(), Patience()
        self._closed = False

    @property
    def faults(self) -> tuple[str, ...]:
        """The failures so far, the newest last; at most ten."""
        with self._turn:
            return tuple(self._faults)

    def appended(self) -> None:
        """Do what is due after an append; call it without the turn.

        Without a model and an embedder, the tiers wait until somebody looks at them.
        """
        if self._worker is not None:
            self._worker.wake()
        elif self._forming is not None or self._likeness.lineup.embedder is not None:
            self._round()

    def now(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Maintain the tiers with every form that is owed, and wait for it. Raises StoreError."""
        self._weigh()
        told = self._run(force=force)
        while self._asked() or self._tiers.has_forms:
            told = self._run()
        return told

    def looked(self, *, some: bool = False) -> dict[Tier, TierStatistics]:
        """Maintain the tiers for a reader; where that fails they stay as they were.

        With ``some``, a large backlog is worked off in part only.
        """
        with self._shielded():
            self._run(some=some)
        return self._tiers.statistics()

    def found(self, positions: list[int]) -> None:
        """Tell that messages were found, so that their segments are promoted."""
        with self._shielded(), self._turn:
            self._tiers.found(positions)

    def expanded(self, note: Segment) -> str:
        """The note written out by the model; a verbatim segment as it is. Raises ModelError."""
        if note.level == VERBATIM:
            return note.content
        if self._forming is None:
            raise ConfigError(
                "there is no model", place="expand", advice="give llm= to the session"
            )
        return self._forming.expanded(note, self._tiers.thread.now())

    def close(self) -> None:
        """Put the forms that came in their place; those still to come are given up."""
        with self._turn:
            if self._tiers.has_forms:
                self.looked()
            self._closed = True
        if self._worker is not None:
            self._worker.close()

    def _round(self) -> None:
        """Maintain the tiers if due, and ask for some owed forms; for more in the background."""
        with self._shielded():
            with self._turn:
                due = not self._closed and self._tiers.due(patient=self._worker is not None)
            if not due:
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
        """Maintain the tiers, a large backlog in part; whether there is more of it."""
        with self._turn:
            if self._closed:
                return False
            self._run(some=True)
            return self._tiers.behind

    def _run(self, *, force: bool = False, some: bool = False) -> dict[Tier, TierStatistics]:
        with self._turn:
            self._tiers.thread.refresh()
            return self._tiers.run(force=force, some=some)

    def _weigh(self) -> None:
        """Ask for the vectors by which segments are compared; without them, their words are."""
        with self._turn:
            texts = self._tiers.unknown()
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
                owed = self._tiers.owed(_AT_ONCE, given_up) if not self._closed else []
            if not owed:
                return False
            done = self._forming.asked(owed)
            with self._turn:
                if self._closed:
                    return False
                self._failed.update((each.id, each.level) for each in done.failed)
                self._model.heard(answered=bool(done.forms))
                self._tiers.take(done.forms, self._forming.lineup.writer)
                self._tell_of(done)
        return bool(done.forms)

    def _tell_of(self, done: FormRound) -> None:
        failed, usage = list(done.failed.values()), done.usage
        if failed:
            self._tell(str(failed[0]))
        if not usage.calls:
            return
        asked = len(failed) + sum(form.asked for form in done.forms.values())
        refused = sum(bool(form.refused) for form in done.forms.values())
        taken = asked - len(failed) - refused
        facts = {
            "taken": taken,
            "refused": refused,
            "failed": len(failed),
            "cached": usage.cached,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost": usage.cost,
        }
        reason = f"{taken} of {asked} forms are by {usage.calls[0].model}"
        with suppress(StoreError):
            self._tiers.thread.record("forms", reason, facts)

    @contextmanager
    def _shielded(self) -> Generator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - condensers and stores are anyone's
            with self._turn:
                kind = "" if isinstance(fault, HoldfastError) else f"{type(fault).__name__}: "
                self._tell(f"{kind}{fault}")

    def _tell(self, fault: str) -> None:
        """Keep the fault, and put it on record; the same fault again is told once."""
        if self._faults and self._faults[-1] == fault:
            return
        self._faults.append(fault)
        if not self._closed:
            with suppress(StoreError):
                self._tiers.thread.record("fault", fault, {})
