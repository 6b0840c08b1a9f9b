"""When tiers are maintained and a model is asked: after appends, on demand, in the background."""

import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from threading import Lock, RLock, Thread
from time import sleep
from typing import Self
from weakref import WeakSet

from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError, problem_of
from holdfast.kernel.typed import attributes
from holdfast.memory.forms import VERBATIM, Form
from holdfast.memory.tiers import Segment, Tier, TierStatistics
from holdfast.model_usage import ModelUsage

from .arguments import SessionOptions
from .tiers import FormKey, ThreadTiers


class Exclusive:
    """A reentrant lock for one thread at a time.

    In a forked child it is free. The thread that held it does not exist there and may have left its
    work unfinished, so before the lock is first taken in the child, ``anew`` rebuilds what it
    protects.
    """

    def __init__(self, anew: Callable[[], None]) -> None:
        self._lock, self._anew, self._is_stale = RLock(), anew, False
        _ALL.add(self)

    def __enter__(self) -> Self:
        self._lock.acquire()
        if self._is_stale:
            try:
                self._anew()
            except BaseException:
                self._lock.release()
                raise
            self._is_stale = False
        return self

    def __exit__(self, *fault: object) -> None:
        self._lock.release()

    def forked(self) -> None:
        """Handle a fork, in the child."""
        if self._lock.acquire(blocking=False):  # free, or held by the thread that forked
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

    The work must not raise, since nobody would see it. A process may end during the work.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = Lock()
        self._due = self._busy = False

    def wake(self) -> None:
        """Run the work once more, after the current run if there is one."""
        with self._lock:
            self._due = True
            if self._busy:
                return
            self._busy = True
        Thread(target=self._run, name="holdfast-session", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._busy, self._due = self._due, False
                if not self._busy:
                    return
            self._work()


_BREATH = 0.001  # seconds between two portions, so that a waiting thread gets the turn
# of requests in the background after each maintenance, so that none runs for long. In recorded runs
# and dialogues four ask for all forms after 96% of them, half after 85% and double after 99%
_ROUNDS = 4
# for a form: once more, since the model may have been away; each repeats calls within the limits
_TRIES = 2
_FAULTS = 10  # failures in memory, the newest, for a person who reads the statistics


class Patience:
    """Pauses requests after failures, for as many maintenance runs as they have failed already."""

    def __init__(self) -> None:
        self._silent = self._left = 0

    def is_over(self) -> bool:
        """Whether to ask again; called once for each maintenance run."""
        self._silent += self._silent > 0
        self._left -= 1
        return self._left < 0

    def record(self, *, answered: bool) -> None:
        """Record whether a request was answered."""
        self._silent = 0 if answered else max(1, self._silent)
        self._left = self._silent


class Upkeep:
    """Maintains the tiers while it holds the session's ``lock``; asks the model when it does not.

    So no fit waits for a model: until the model's form is there, the form by rules is used.
    Failures appear in ``faults`` and as events, and are raised only if a caller asked for the work.
    """

    def __init__(self, lock: Exclusive, tiers: ThreadTiers, options: SessionOptions) -> None:
        self._faults: deque[str] = deque(maxlen=_FAULTS)
        self._lock, self._tiers, self._forming = lock, tiers, options.forming
        self._worker = Worker(self._round) if options.own.background else None
        self._asking = Lock()
        self._failed: Counter[FormKey] = Counter()
        self._model, self._embedder = Patience(), Patience()
        self._closed = False

    @property
    def faults(self) -> tuple[str, ...]:
        """The failures so far, the newest last; at most ten."""
        with self._lock:
            return tuple(self._faults)

    def appended(self) -> None:
        """Do the work that is due after an append; called without holding the lock.

        Without a model and an embedder, the tiers are maintained only when they are read.
        """
        if self._worker is not None:
            self._worker.wake()
        elif self._forming is not None or self._tiers.likeness.lineup.embedder is not None:
            self._round()

    def maintain(self, *, force: bool) -> dict[Tier, TierStatistics]:
        """Maintain the tiers with all forms that a model should write. Raises StoreError."""
        self._update_vectors()
        self._run(force=force)
        while self._request_forms():
            self._run()
        with self._lock:
            return self._tiers.statistics()

    def maintain_for_reader(self, *, some: bool = False) -> None:
        """Maintain the tiers for a reader; if that fails, they stay as they were.

        With ``some``, only a part of a large backlog is done, and no very large message.
        """
        with self._shielded():
            self._run(some=some, brief=some)

    def found(self, positions: list[int]) -> None:
        """Record that messages were found, so that their segments are promoted."""
        with self._shielded(), self._lock:
            self._tiers.found(positions)

    def expanded(self, note: Segment) -> str:
        """The note reconstructed by the model; a verbatim segment unchanged. Raises ModelError."""
        if note.level == VERBATIM:
            return note.content
        if self._forming is None:
            raise ConfigError(
                "there is no model", place="expand", advice="give llm= to the session"
            )
        return self._forming.expanded(note, self._tiers.thread.now())

    def close(self) -> None:
        """Drop the forms that are still to come."""
        with self._lock:
            self._closed = True  # from now on the worker finds nothing due

    def _round(self) -> None:
        """Maintain the tiers if due, and ask for some forms; for more in the background."""
        with self._shielded():
            with self._lock:
                due = not self._closed and self._tiers.due(patient=self._worker is not None)
            if not due:
                return
            if self._embedder.is_over():
                self._update_vectors()
            while self._has_more() and self._worker is not None:
                sleep(_BREATH)
            if self._model.is_over():
                for _ in range(1 if self._worker is None else _ROUNDS):
                    if not self._request_forms():
                        break

    def _has_more(self) -> bool:
        """Maintain the tiers, a part of a large backlog; whether there is more."""
        with self._lock:
            if self._closed:
                return False
            self._run(some=True)
            return self._tiers.behind

    def _run(self, **how: bool) -> None:
        """Maintain the tiers as ``ThreadTiers.run`` does."""
        with self._lock:
            self._tiers.thread.refresh()
            self._tiers.run(**how)
            condenser = self._tiers.condenser
            if condenser.fault:
                self._record_fault(condenser.fault)
                condenser.fault = ""

    def _update_vectors(self) -> None:
        """Ask for the vectors by which segments are compared; without them, words are compared."""
        with self._lock:
            texts = self._tiers.unknown()
        if texts:
            answered = False
            with self._shielded():
                vectors = self._tiers.likeness.vectors_of(texts)
                with self._lock:
                    self._tiers.likeness.vectors |= vectors
                answered = True
            self._embedder.record(answered=answered)

    def _request_forms(self) -> bool:
        """Ask for some of the wanted forms; whether any arrived."""
        if self._forming is None:
            return False
        with self._asking:
            with self._lock:
                given_up = {each for each, times in self._failed.items() if times >= _TRIES}
                most = self._forming.lineup.limits.concurrency
                wanted = self._tiers.wanted_forms(most, given_up) if not self._closed else []
            if not wanted:
                return False
            answers, usage = self._forming.ask_for(wanted)
            found = dict(zip(wanted, answers, strict=True))
            forms = {each: form for each, form in found.items() if isinstance(form, Form)}
            with self._lock:
                if self._closed:
                    return False
                self._failed.update(each.key for each in found.keys() - forms.keys())
                self._model.record(answered=bool(forms))
                failed = [str(answer) for answer in answers if isinstance(answer, HoldfastError)]
                if failed:
                    self._record_fault(failed[0])
                if usage.calls:
                    self._record_calls(forms.values(), len(failed), usage)
                self._tiers.take(forms)
        return bool(forms)

    def _record_calls(self, forms: Collection[Form], failed: int, usage: ModelUsage) -> None:
        refused = sum(bool(form.refused) for form in forms)
        taken = sum(form.asked for form in forms) - refused
        facts = {
            "taken": taken,
            "refused": refused,
            "failed": failed,
            **attributes(usage, "cached input_tokens output_tokens cost"),
        }
        reason = f"{taken} of {taken + refused + failed} forms are by {usage.calls[0].model}"
        with suppress(StoreError):
            self._tiers.thread.record("forms", reason, facts)

    @contextmanager
    def _shielded(self) -> Generator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - condensers and stores are anyone's
            with self._lock:
                known = isinstance(fault, HoldfastError)
                self._record_fault(str(fault) if known else problem_of(fault))

    def _record_fault(self, fault: str) -> None:
        """Keep the failure and append an event for it; a repeated one has one event."""
        if self._faults and self._faults[-1] == fault:
            return
        self._faults.append(fault)
        if not self._closed:
            with suppress(StoreError):
                self._tiers.thread.record("fault", fault, {})
