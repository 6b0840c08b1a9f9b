"""A session: what is done to a thread, each call in its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from time import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from holdfast.calls.lineup import CallLimits
from holdfast.kernel.budget import Budget
from holdfast.kernel.errors import ConfigError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.memory.condensing import Condenser
from holdfast.memory.facts import Fact
from holdfast.memory.tiers import Tier, TierSizes, TierStatistics
from holdfast.meter import Counter
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.stores import open_store
from holdfast.stores.in_process import InProcessStore

from . import arguments
from .arguments import Which
from .condensing import TurnCondenser
from .copying import copy_thread
from .exchanges import exchanges
from .lines import own_id
from .options import Options
from .reading import ReadingSession
from .state import Event
from .undoing import inverse

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache

_PARTED = "a call and its result were appended apart from each other; all is kept, and views mend it"


class SyncSession(ReadingSession):
    """The methods of ``Session`` that wait."""

    def __init__(
        self,
        thread: str,
        *,
        store: str | KeyValueStore | None = None,
        budget: int | Budget | None = None,
        model: str | None = None,
        format: str | None = None,  # noqa: A002 - the name that users know for it
        profile: str = "balanced",
        counter: Counter = None,
        redact: bool | None = None,
        tiers: TierSizes | None = None,
        vectors: bool | None = None,
        condenser: Condenser | None = None,
        llm: ModelSpec | None = None,
        embedder: EmbedderSpec | None = None,
        cache: CompressionCache | None = None,
        limits: CallLimits | None = None,
        background: bool = False,
        clock: Callable[[], float] = time,
    ) -> None:
        arguments.able("__call__", "clock", clock, "give a function that tells seconds since 1970 UTC")
        stated = None if budget is None else Budget.of(budget)
        sizes = TierSizes() if tiers is None else tiers
        forms = TurnCondenser() if condenser is None else condenser
        options = Options(
            stated,
            model,
            profile,
            counter,
            redact,
            sizes,
            vectors,
            forms,
            llm,
            embedder,
            cache,
            limits,
            background,
        )
        kept = InProcessStore() if store is None else open_store(store)
        super().__init__(thread, kept, options, clock, format, owns=isinstance(store, str))

    def append(self, *messages: Any, ids: Sequence[str] = (), at: float | datetime | None = None) -> list[int]:
        """Keep the messages at the end of the thread, durably; their positions.

        ``ids`` name them, by default their own field ``id``: one that is known is not kept again. ``at`` is when
        they were said, by default now. A result without its call is kept, told by ``faults``, and mended in views.
        Raises InputError for what is no message, StoreError if they were not kept;
        what goes wrong afterwards, while tiers are tended, is told by ``stats``.
        """
        arguments.messages(messages)
        names = arguments.names(ids, len(messages)) if ids else [own_id(message) for message in messages]
        said = arguments.moment(at)
        with self._turn:
            parted = self._thread.state.unpaired
            places = self._thread.append(messages, names, said)
            if self._thread.state.unpaired > parted:
                self._thread.record_if_current("fault", _PARTED, {})
        self._upkeep.appended()
        return places

    def tend(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date now; with ``force`` empty each to its target, however full it is.

        With a model, all its forms that are wanted are asked for and put in their place. Raises StoreError if the
        tiers cannot be kept.
        """
        arguments.one_of("force", force, (True, False))
        with self._turn:
            upkeep = self._upkeep
        return upkeep.now(force=force)

    def edit(self, which: Which, message: Any, *, reason: str = "edited") -> Event:
        """Let a message say something else from now on; the log keeps what it said, and ``undo`` goes back."""
        why = arguments.words("reason", reason)
        with self._turn:
            position = self._known(which)
            event = self._thread.edit(position, message, why)
            self._upkeep.found([position])
            return event

    def delete(self, *which: Which, reason: str = "deleted") -> Event:
        """Take messages out of every view and every search; they stay in the log, and ``undo`` brings them back.

        A call and its results go together.
        """
        with self._turn:
            return self._thread.record("delete", arguments.words("reason", reason), self._exchanges(which))

    def pin(self, *which: Which, reason: str = "pinned") -> Event:
        """Keep these messages in every view, whatever their age; a call and its results together."""
        with self._turn:
            return self._thread.record("pin", arguments.words("reason", reason), self._exchanges(which))

    def remember(self, text: str, *, by: str = "user") -> Event:
        """Keep a text in mind: it stands in every view until it is forgotten. ``by`` says whose wish it is."""
        noted, whose = arguments.words("text", text), arguments.words("by", by)
        sendable = noted.encode("utf-8", "replace").decode()  # half a character would stand in every view
        with self._turn:
            self._thread.refresh()
            return self._thread.record("note", f"asked by the {whose}", {"text": sendable})

    def forget(self, note: Event | int | Fact) -> Event:
        """Keep a text in mind, or a fact, no longer. Raises NotFoundError if there is no such note."""
        with self._turn:
            self._thread.refresh()
            if isinstance(note, Fact):
                return self._thread.record("forget", "asked by the user", {"fact": list(note.key)})
            number = arguments.event(note)
            if number not in self._thread.state.notes:
                raise NotFoundError(str(number), where=f"the notes of thread {self.thread!r}")
            return self._thread.record("forget", "asked by the user", {"note": number})

    def undo(self, event: Event | int | None = None) -> Event:
        """Take an event back, by default the newest that can be: a compaction, an edit, a deletion or a pin.

        What does so is a new event: the log only grows. A compaction that is taken back stays so for budgets that
        hold what it took out of the recent turns. Raises InputError if there is nothing to take back.
        """
        number = None if event is None else arguments.event(event)
        with self._turn:
            self._thread.refresh()
            kind, facts = inverse(self._thread, number)
            return self._thread.record(kind, f"event {facts['undoes']} is undone", facts)

    def fork(self, thread: str) -> Self:
        """A session on a new thread of the same store, with all that this one holds.

        Raises ConfigError if that thread holds something already.
        """
        with self._turn:
            self._thread.refresh()
            made = copy(self)
            made._begin(thread, self._thread.store)  # noqa: SLF001 - it is one of ours, in the making
            copy_thread(self._thread, made._thread)  # noqa: SLF001 - as above
            return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchanges(self, which: Sequence[Which]) -> dict[str, list[int]]:
        """The positions of these messages and of what belongs to them, as facts of an event."""
        if not which:
            raise ConfigError("no message is named", place="message", advice="give positions or ids")
        return {"positions": exchanges(self._thread, [self._known(each) for each in which])}
