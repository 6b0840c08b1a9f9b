"""When the tiers of a session are tended and a model is asked: after appends, on demand, or in the background."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Lock
from time import sleep

from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError
from holdfast.memory.segments import VERBATIM, Segment
from holdfast.memory.tiers import Tier, TierStatistics

from .exclusive import Exclusive
from .forming import Answers, Forming
from .likeness import Likeness
from .tending import Asked, Tending
from .worker import Worker

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
    """Tends the tiers while it holds the ``turn`` of the session, and asks the model while it does not.

    So no fit waits for a model: until its form is there and the tiers are tended again, that of the rule stands.
    What goes wrong is told in ``faults`` and as an event, and raised only where somebody asked for the work.
    """

    def __init__(
        self, turn: Exclusive, tending: Tending, likeness: Likeness, forming: Forming | None, *, background: bool
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
        """Tend the tiers, or a portion, for somebody who looks; as they were where they cannot be kept."""
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
            raise ConfigError("there is no model", place="expand", advice="give llm= to the session")
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
        """Tend the tiers if that is due, and ask for some of what is owed; in the background for more of it."""
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

    def _tell_of(self, answers: Answers) -> None:
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
                self._tending.thread.record("forms", f"{taken} of {answers.asked} forms are by {writer}", facts)

    @contextmanager
    def _shielded(self) -> Generator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - condensers and stores are anyone's, and what is done unasked raises to nobody
            with self._turn:
                self._tell(str(fault) if isinstance(fault, HoldfastError) else f"{type(fault).__name__}: {fault}")

    def _tell(self, fault: str) -> None:
        """Keep the fault, and put it on record; what goes wrong in the same way again is told once."""
        if self._faults and self._faults[-1] == fault:
            return
        self._faults.append(fault)
        if self._is_open():
            with suppress(StoreError):
                self._tending.thread.record("fault", fault, {})
