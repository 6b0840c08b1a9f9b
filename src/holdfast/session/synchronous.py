"""A session: what is done to a thread, each call in its turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from threading import RLock
from time import time
from types import TracebackType
from typing import Any, Literal, Self

from holdfast.kernel.budget import Budget, Meter
from holdfast.kernel.errors import BudgetError, ConfigError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Format
from holdfast.memory.condensing import Condenser, RuleCondenser
from holdfast.memory.facts import Fact, Ledger
from holdfast.memory.tiers import Tier, TierSizes, TierStatistics
from holdfast.metering import Counter
from holdfast.recalling import line_range, recall
from holdfast.stores import open_store
from holdfast.stores.artifacts.excerpt import excerpt
from holdfast.stores.capabilities import Closes
from holdfast.stores.in_process import InProcessStore

from .copying import copy_thread
from .knowing import Knowing
from .lines import own_id
from .meaning import Meaning
from .options import Options
from .page import html_page
from .parts import Desk, View
from .past import Past, Recalled
from .state import Event
from .stats import Stats, stats_of
from .story import Story, recalled_positions, text_page
from .tending import Tending
from .thread import Thread, settled
from .undoing import inverse
from .view import Fitting

Which = int | str
"""A message: its position (negative from the end), or the id that it was appended with."""


class SyncSession:
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
        clock: Callable[[], float] = time,
    ) -> None:
        stated = None if budget is None else Budget.of(budget)
        sizes, forms = tiers or TierSizes(), condenser or RuleCondenser()
        self._options = Options(stated, model, profile, counter, redact, sizes, vectors, forms)
        self._clock, self._format = clock, format
        self._owns = isinstance(store, str)
        self._begin(thread, InProcessStore() if store is None else open_store(store))

    @property
    def thread(self) -> str:
        """The name of the thread."""
        return self._thread.name

    @property
    def appended(self) -> int:
        """How many messages were ever appended."""
        return self._thread.state.messages

    @property
    def meter(self) -> Meter:
        """What counts the tokens of this session."""
        return self._options.meter

    def wire(self, *messages: Any) -> Format:
        """The form in which the thread's messages are written, as far as these and the thread tell it."""
        return self._thread.form(messages)

    def append(self, *messages: Any, ids: Sequence[str] = (), at: float | datetime | None = None) -> list[int]:
        """Keep the messages at the end of the thread, durably; their positions.

        ``ids`` name them, by default their own field ``id``: one that is known is not kept again. ``at`` is when
        they were said, by default now. Raises InputError for what is no message, StoreError if they were not kept.
        """
        names = list(ids) if ids else [own_id(message) for message in messages]
        if len(names) != len(messages):
            advice = "give one for each message"
            raise ConfigError(f"{len(names)} ids for {len(messages)} messages", place="ids", advice=advice)
        with self._turn:
            places = self._thread.append(messages, names, at.timestamp() if isinstance(at, datetime) else at)
            self._tending.noticed()
            return places

    def fit(self, query: str | None = None, *, budget: int | Budget | None = None, tools: object = None) -> View:
        """The messages for the next model call, within the budget: the system's, the past's, the recent turns.

        ``query`` is a question about the past: it gets nearly all of the budget. Without one, the newest input of
        the user is the question, and the recent turns have most of the budget. ``tools``: schemas to count.
        Raises BudgetError for a hard budget that cannot be met.
        """
        chosen = self._options.budget if budget is None else Budget.of(budget)
        if chosen is None:
            raise ConfigError("there is none", place="budget", advice="give one to the session, or to fit")
        with self._turn:
            self._thread.refresh()
            view = Fitting(self._past, self._thread, self._desk, self._options, chosen, query, tools).view()
            self._tending.recalled(view.recalled)
        if chosen.hard and not view.budget_met:
            reason = "what must stay is larger"
            raise BudgetError(limit=view.limit, tokens=view.tokens, smallest=view.tokens, reason=reason)
        return view

    def messages(self) -> list[Any]:
        """The thread as it stands: edits made, deleted messages left out."""
        with self._turn:
            self._thread.refresh()
            return [kept.original for kept in self._thread.forwards()]

    def restore(self) -> list[Any]:
        """Everything that was ever appended, as it was appended."""
        with self._turn:
            self._thread.refresh()
            return [json.loads(line.body) for line in self._thread.lines()]

    def history(self) -> list[Event]:
        """What happened beside the messages, in order: edits, compactions, recalls, each with its reason."""
        with self._turn:
            self._thread.refresh()
            return list(self._thread.events())

    def stats(self) -> Stats:
        """How much there is, and where it is, once the tiers are up to date."""
        with self._turn:
            self._thread.refresh()
            return stats_of(self._thread, self._tending.run())

    def search(self, query: str, limit: int = 10) -> list[Recalled]:
        """The messages of the thread that answer best, best first, each with what gave it its score."""
        with self._turn:
            self._thread.refresh()
            return self._past.search(query, limit)

    def report(self, format: Literal["text", "html"] = "text") -> str:  # noqa: A002 - the name that users know for it
        """What happened to the thread: tiers, tokens saved, what was recalled and why, as text or as one page."""
        with self._turn:
            stats, events = self.stats(), self.history()
            found = self._thread.read(recalled_positions(events))
            story = Story(stats, events, {place: kept.remembered.body for place, kept in found.items()})
        return html_page(story) if format == "html" else text_page(story)

    def tend(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date now; with ``force`` empty each to its target, however full it is."""
        with self._turn:
            self._thread.refresh()
            return self._tending.run(force=force)

    def recall(
        self,
        key: Which,
        *,
        lines: tuple[int, int] | str | None = None,
        pattern: str | None = None,
        field: str | None = None,
    ) -> str:
        """An original, whole or in part: of a text that was shortened, by its key, or of a message of the thread.

        Raises NotFoundError if there is none.
        """
        with self._turn:
            self._thread.refresh()
            position = self._position(key)
            kept = None if position is None else self._thread.read([position]).get(position)
            if kept is not None:
                text = kept.message.content_text or ""
                return excerpt(text, lines=line_range(lines), pattern=pattern, field=field).text
            if isinstance(key, int):
                raise NotFoundError(str(key), where=f"thread {self.thread!r}")
            return recall(key, store=self._thread.store, lines=lines, pattern=pattern, field=field)

    def edit(self, which: Which, message: Any, *, reason: str = "edited") -> Event:
        """Let a message say something else from now on; the log keeps what it said, and ``undo`` goes back."""
        with self._turn:
            return self._thread.edit(self._known(which), message, reason)

    def delete(self, *which: Which, reason: str = "deleted") -> Event:
        """Take messages out of every view and every search; they stay in the log, and ``undo`` brings them back.

        A call and its results go together.
        """
        with self._turn:
            positions = self._thread.exchanges([self._known(each) for each in which])
            return self._thread.record("delete", reason, {"positions": positions})

    def pin(self, *which: Which, reason: str = "pinned") -> Event:
        """Keep these messages in every view, whatever their age; a call and its results together."""
        with self._turn:
            positions = self._thread.exchanges([self._known(each) for each in which])
            return self._thread.record("pin", reason, {"positions": positions})

    def remember(self, text: str, *, by: str = "user") -> Event:
        """Keep a text in mind: it stands in every view until it is forgotten. ``by`` says whose wish it is."""
        with self._turn:
            self._thread.refresh()
            return self._thread.record("note", f"asked by the {by}", {"text": text})

    def facts(self) -> Ledger:
        """The durable facts that the thread states: what holds, and with their dates what it contradicts."""
        with self._turn:
            self._thread.refresh()
            return self._knowing.ledger()

    def forget(self, note: Event | int | Fact) -> Event:
        """Keep a text in mind, or a fact, no longer. Raises NotFoundError if there is no such note."""
        with self._turn:
            self._thread.refresh()
            if isinstance(note, Fact):
                return self._thread.record("forget", "asked by the user", {"fact": list(note.key)})
            number = note.number if isinstance(note, Event) else note
            if number not in self._thread.state.notes:
                raise NotFoundError(str(number), where=f"the notes of thread {self.thread!r}")
            return self._thread.record("forget", "asked by the user", {"note": number})

    def notes(self) -> dict[int, str]:
        """What is kept in mind, by the number of the event."""
        with self._turn:
            self._thread.refresh()
            return dict(self._thread.state.notes)

    def undo(self, event: Event | int | None = None) -> Event:
        """Take an event back, by default the newest that can be: a compaction, an edit, a deletion or a pin.

        What does so is a new event: the log only grows. Raises InputError if there is nothing to take back.
        """
        with self._turn:
            self._thread.refresh()
            kind, facts = inverse(self._thread, event.number if isinstance(event, Event) else event)
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

    def close(self) -> None:
        """Keep the state for a quick opening, and let go of a store that was opened here."""
        with self._turn:
            self._thread.save()
            if self._owns and isinstance(self._thread.store, Closes):
                settled(self._thread.store.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, thread: str, store: KeyValueStore) -> None:
        self._turn = RLock()
        self._thread = Thread(thread, store, self._clock, self._options.meter, self._format)
        self._past = Past(self._thread, Meaning.of(self._thread, wanted=self._options.vectors))
        self._desk = Desk()
        self._knowing = Knowing(self._thread)
        self._tending = Tending(self._thread, self._options.tiers, self._options.condenser)

    def _known(self, which: Which) -> int:
        """The position of a message. Raises NotFoundError if there is none, or it is deleted."""
        self._thread.refresh()
        position = self._position(which)
        if position is None or position not in self._thread.read([position]):
            raise NotFoundError(str(which), where=f"thread {self.thread!r}")
        return position

    def _position(self, which: Which) -> int | None:
        if isinstance(which, str):
            return self._thread.positions([which]).get(which)
        return which if which >= 0 else which + self._thread.state.messages
