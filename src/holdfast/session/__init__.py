"""A session: a conversation that is stored whole, and views of it that fit a budget."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial, wraps
from heapq import nlargest
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, Unpack, cast

from holdfast.kernel.budget import Budget, BudgetLike, Meter
from holdfast.kernel.errors import ConfigError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported, renamed_argument
from holdfast.kernel.transcript import Format
from holdfast.kernel.typed import Positive, check_type
from holdfast.memory.relevance import Choice
from holdfast.memory.tiers import Tier, Tiers, TierStatistics
from holdfast.names import ReportForm
from holdfast.options import listing
from holdfast.stores import open_store
from holdfast.stores.excerpts import excerpt
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import LogsOverKeys
from holdfast.stores.protocols import ClosedAfterUse, Closes, LogStore, settled
from holdfast.telemetry import told_gain
from holdfast.text.visible import amount, first_of

from . import arguments
from .arguments import Name, Position, SessionOptions, ThreadOptions, Which, Words
from .log import Thread
from .maintenance import Exclusive, Upkeep
from .recall import FactReader, MessageVectors, Past, Recalled
from .recent import LastFit, RecentTurns
from .state import Event
from .tiers import ThreadTiers
from .view import Fit, View, copied, smallest_limit, too_large, valid_view

if TYPE_CHECKING:
    from holdfast.memory.facts import Fact, Ledger

    from .report import Stats

__all__ = ["Session", "View"]

Expand = Literal["model"]
"""Who may reconstruct a note whose original is lost."""

_PARTED = (
    "a call and its result were appended apart from each other; all is kept, and views mend it"
)
S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")

_LIFTED = Choice().max_segments
"""Messages of a view whose segments are promoted, as many as V.18 retrieves."""


def awaited(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The asynchronous form of a method, which runs it in a thread.

    The method is looked up by its name, so that a subclass that overrides it overrides both.
    """
    name = method.__name__

    @wraps(method)
    async def waits(self: S, /, *args: P.args, **named: P.kwargs) -> T:
        to_thread = imported("asyncio:to_thread")  # importing it takes 40 ms
        return cast("T", await to_thread(getattr(self, name), *args, **named))

    waits.__name__ = f"a{name}"
    waits.__qualname__ = f"{method.__qualname__.removesuffix(name)}a{name}"
    return waits


class Session(ClosedAfterUse):
    """A conversation that is stored whole and seen through a view that fits.

    ``thread`` is any text, and names the conversation in its store. A store can have many threads,
    and several processes may use one thread. ``store`` is a URL such as ``sqlite:///agent.db``, or
    an object with ``get``, ``set`` and ``delete``; by default everything is in memory while the
    session exists. ``budget`` is the default for ``fit``; ``model``, ``format``, ``profile``,
    ``strategy``, ``counter`` and ``redact`` are those of ``compress``.

    ``tiers`` are the sizes of the hot, warm and cold tier. ``vectors`` says whether messages are
    also found by meaning, by default if the extra ``local`` is installed. ``condenser`` makes the
    warm and cold forms of segments, by default by rules. ``relevance`` has the weights of a
    segment's importance, by default with rates for the session's length. ``segmentation`` decides
    where segments end: at turns, after an hour of silence, or where other names appear. A view
    recalls at most ``recall_messages`` messages with a score of at least ``recall_score`` (0 to 1;
    by default 0.25 in a view without a question). ``clock`` returns seconds since 1970 UTC.

    ``llm``, ``embedder``, ``cache``, ``limits`` and ``costs`` are those of ``compress``. With
    ``costs``, the session itself supplies the time and size of the last view. The model writes the
    forms of segments, each checked against the original; until it has answered, rules make them.
    The embedder finds the segments close to the current topic, which stay longer. Both are called
    after ``append`` (in a thread of their own with ``background``), by ``tend``, and by ``fit`` if
    the profile or the strategy uses them. Their failures do not raise: they are in ``stats``,
    ``history`` and the result of a view.

    The log is never changed or deleted. Each method has an asynchronous form whose name begins
    with ``a`` and which runs the method in a thread.
    """

    @listing(ThreadOptions, arguments.DEFAULTS)
    def __init__(
        self,
        thread: str,
        *,
        store: str | KeyValueStore | None = None,
        budget: BudgetLike = None,
        **options: Unpack[ThreadOptions],
    ) -> None:
        stated = None if budget is None else Budget.of(budget)
        self._options = SessionOptions(stated, **options)
        self._begin(thread, self._keep(InProcessStore() if store is None else store))

    def append(
        self, *messages: Any, ids: Sequence[str] = (), at: float | datetime | None = None
    ) -> list[int]:
        """Append messages to the thread durably, and return their positions.

        ``ids`` name the messages, by default their field ``id``; a known id is not appended again.
        ``at`` is their time, by default now. A result without a call is stored, listed by
        ``faults``, and repaired in views. Raises InputError for anything but messages, and
        StoreError if they were not stored; later failures in the tiers are in ``stats``.
        """
        arguments.messages(messages)
        names = arguments.names(ids, messages)
        said = arguments.moment(at)
        with self._lock:
            parted = self._thread.state.unpaired
            places = self._thread.append(messages, names, said)
            if self._thread.state.unpaired > parted:
                self._thread.record_if_current("fault", _PARTED, {})
        self._upkeep.appended()
        return places

    def tend(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date now.

        With ``force``, empty each tier to its target even if it is below its trigger. A session
        with a model requests all wanted forms and waits for them. Raises StoreError if the tiers
        cannot be stored.
        """
        check_type(force, bool, "force")
        with self._lock:
            upkeep = self._upkeep
        return upkeep.maintain(force=force)

    def edit(self, which: Which, message: Any, *, reason: str = "edited") -> Event:
        """Replace the content of a message from now on.

        The log keeps the earlier content, and ``undo`` brings it back.
        """
        check_type(reason, Words, "reason")
        with self._refreshed() as own:
            position = self._known(which)
            event = own.edit(position, message, reason)
            self._upkeep.found([position])
            return event

    def delete(self, *which: Which, reason: str = "deleted") -> Event:
        """Take messages out of every view and every search.

        They stay in the log, and ``undo`` brings them back. A call and its results are deleted
        together.
        """
        return self._marked("delete", reason, which)

    def pin(self, *which: Which, reason: str = "pinned") -> Event:
        """Keep these messages in every view, whatever their age.

        A call and its results are pinned together.
        """
        return self._marked("pin", reason, which)

    def remember(self, text: str, *, by: str = "user") -> Event:
        """Add a note that is in every view until ``forget`` removes it.

        ``by`` says who asked for it.
        """
        check_type(text, Words, "text")
        check_type(by, Words, "by")
        # lone surrogates would be in every view
        sendable = text.encode("utf-8", "replace").decode()
        with self._refreshed() as own:
            return own.record("note", f"asked by the {by}", {"text": sendable})

    def forget(self, note: Event | int | Fact) -> Event:
        """Remove a note or a fact from views; the log keeps it.

        Raises NotFoundError if there is no such note.
        """
        kind: type[Fact] = imported("holdfast.memory.facts:Fact")
        with self._refreshed() as own:
            if isinstance(note, kind):
                facts: dict[str, object] = {"fact": list(note.key)}
            else:
                number = arguments.event(note)
                if number not in own.state.notes:
                    known = first_of(own.state.notes) or "none"
                    where = f"the notes of thread {self.thread!r}; known are {known}"
                    raise NotFoundError(str(number), where=where)
                facts = {"note": number}
            return own.record("forget", "asked by the user", facts)

    def undo(self, event: Event | int | None = None) -> Event:
        """Undo a compaction, an edit, a deletion or a pin, by default the newest of them.

        The undoing is a new event. After a compaction is undone, views for budgets that can hold
        the older turns show them again. Raises InputError if there is nothing to undo.
        """
        number = None if event is None else arguments.event(event)
        with self._refreshed() as own:
            return own.undo(number)

    def fork(self, thread: str, store: str | KeyValueStore | None = None) -> Self:
        """Copy the thread to a new one in the same store or another, and return its session.

        Raises ConfigError if that thread is not empty.
        """
        with self._refreshed() as own:
            made = copy(self)
            kept = own.store if store is None else made._keep(store)  # noqa: SLF001 - one of ours
            check_type(thread, Name, "thread")
            own.copy_to(kept, thread)
            made._begin(thread, kept)  # noqa: SLF001 - as above
            return made

    @property
    def thread(self) -> str:
        """The name of the thread."""
        return self._thread.name

    @property
    def appended(self) -> int:
        """The number of messages that were ever appended."""
        return self.revision[0]

    @property
    def revision(self) -> tuple[int, int]:
        """The numbers of messages and of changes to them; a view belongs to one revision."""
        with self._refreshed() as own:
            return own.state.messages, own.state.rewordings

    @property
    def meter(self) -> Meter:
        """The token counter of this session."""
        return self._options.meter

    @property
    def limit(self) -> int | None:
        """The default limit of a view in tokens; None if no budget is known."""
        return self._options.limit

    @property
    def redacts(self) -> bool:
        """Whether secrets are masked in what is repeated from the thread."""
        return self._options.redacts

    @property
    def faults(self) -> tuple[str, ...]:
        """Failures of maintenance since the session was opened, and calls without results.

        They lose nothing, except for lines that were damaged on the disk, which are listed.
        """
        return (*self._upkeep.faults, *self._thread.faults)

    def wire(self, *messages: Any) -> Format:
        """The format of the thread, as far as it and these messages determine it."""
        return self._thread.form(messages)

    def fit(
        self, query: str | None = None, *, budget: BudgetLike = None, tools: object = None
    ) -> View:
        """Return the messages for the next model call, within the budget.

        These are system messages, a message about the past, and the recent turns. ``query`` is a
        question about the past, which then gets nearly all of the budget. Without it, the user's
        newest input is the question, and the recent turns get most of the budget. ``tools`` are
        schemas to count. Raises BudgetError for a hard budget that cannot be met.
        """
        check_type(query, str | None, "query")
        chosen = self._options.budget if budget is None else Budget.of(budget)
        if chosen is None:
            raise ConfigError(
                "there is none",
                place="budget",
                advice="give one such as 8_000 to the session, or to fit",
            )

        def prepared(budget: Budget) -> Fit:
            recent = RecentTurns(self._thread, self._last_fit, self._options, budget, query, tools)
            return Fit(recent, self._past)

        with self._lock:
            started = perf_counter()
            self._thread.refresh()
            view = valid_view(chosen, prepared)
            if not view.budget_met:
                view = replace(view, smallest=smallest_limit(view, chosen, prepared))
            gain = 0.0
            if view.net:
                told_gain(view.net)
                gain = view.net.net
            self._thread.record_view(view.tokens, gain, perf_counter() - started)
            self._last_fit.seen, self._last_fit.sent = self._thread.now(), view.tokens
            best = nlargest(_LIFTED, view.recalled, key=lambda each: each.score)
            self._upkeep.found([each.position for each in best])
        if chosen.hard and view.smallest is not None:
            raise too_large(view)
        return view

    def messages(self) -> list[Any]:
        """All messages of the thread, with edits applied and without deleted ones."""
        with self._refreshed() as own:
            return [copied(kept.original) for kept in own.forwards()]

    def restore(self) -> list[Any]:
        """Everything that was appended, unedited."""
        with self._refreshed() as own:
            return list(own.originals())

    def history(self) -> list[Event]:
        """Edits, compactions, recalls and other events, in order, each with its reason."""
        with self._refreshed() as own:
            return list(own.events())

    def stats(self) -> Stats:
        """The thread in numbers, after its tiers are brought up to date."""
        with self._lock:
            return self._stats()

    def tiers(self) -> Tiers:
        """The segments of each tier, brought up to date, in their present forms."""
        with self._lock:
            self._upkeep.maintain_for_reader()
            return self._tiers.tiers

    def search(self, query: str, limit: int = 10) -> list[Recalled]:
        """The messages that answer best, best first, each with its score and factors.

        Messages evicted from the last tier are included, and come back to the tiers when found.
        """
        check_type(query, str, "query")
        check_type(limit, Positive, "limit")
        with self._refreshed():
            found = self._past.search(query, limit)
            self._upkeep.found([each.position for each in found])
            return found

    def recall(
        self,
        key: Which,
        *,
        lines: tuple[int, int] | str | None = None,
        pattern: str | None = None,
        field: str | None = None,
        expand: Expand | None = None,
    ) -> str:
        """Return an original or a part of it, by a shortened text's key or by message.

        With ``expand="model"``, a message that the store has lost is reconstructed by the session's
        model from its note in the tiers, and marked as reconstructed. Raises NotFoundError if there
        is nothing, and ModelError if the model cannot reconstruct it.
        """
        check_type(expand, Expand | None, "expand")
        check_type(pattern, str | None, "pattern")
        check_type(field, str | None, "field")
        span = imported("holdfast.recovery:line_range")(lines)
        part: dict[str, Any] = {"lines": span, "pattern": pattern, "field": field}
        with self._refreshed():
            position = self._position(key)
            text = note = None
            if position is not None:
                text = self._past.texts([position]).get(position)
                if text is None and expand:
                    note = self._tiers.note_of(position)
                self._upkeep.found([position])
        if note is not None:
            text = self._upkeep.expanded(note)
        if text is not None:
            return excerpt(text, **part).text
        if isinstance(key, int) or position is not None:
            raise self._absent(key, position)
        found: str = imported("holdfast.recovery:recall")(
            key, store=self._thread.store, thread=self._thread.name, **part
        )
        return found

    def facts(self) -> Ledger:
        """The durable facts in the thread, and those that they contradict, with dates."""
        with self._refreshed():
            return self._facts.ledger()

    def notes(self) -> dict[int, str]:
        """The notes of ``remember``, by the number of their event."""
        with self._refreshed() as own:
            return dict(own.state.notes)

    @renamed_argument("format", "form")
    def report(self, form: ReportForm = "text") -> str:
        """Return a report on tiers, saved tokens and recalls, as text or as one HTML page."""
        check_type(form, ReportForm, "form")
        with self._lock:
            stats = self._stats(some=True)  # a report does not wait for a large backlog
            report = imported("holdfast.session.report:report")
            page: str = report(form, stats, list(self._thread.events()), self._past)
            return page

    def close(self) -> None:
        """Save the state for a quick opening, and close a store that this session opened.

        Pending answers of a model are dropped; nothing is left half-written.
        """
        with self._lock:
            self._upkeep.close()
            self._thread.save()
            if self._owns and isinstance(self._thread.store, Closes):
                settled(self._thread.store.close())

    aappend = awaited(append)
    afit = awaited(fit)
    asearch = awaited(search)
    arecall = awaited(recall)
    areport = awaited(report)
    atend = awaited(tend)
    atiers = awaited(tiers)
    aremember = awaited(remember)
    aforget = awaited(forget)
    afacts = awaited(facts)
    anotes = awaited(notes)
    amessages = awaited(messages)
    arestore = awaited(restore)
    ahistory = awaited(history)
    astats = awaited(stats)
    aedit = awaited(edit)
    adelete = awaited(delete)
    apin = awaited(pin)
    aundo = awaited(undo)
    aclose = awaited(close)
    afork = awaited(fork)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.aclose()

    @contextmanager
    def _refreshed(self) -> Generator[Thread]:
        """The thread, with what others appended; no other use of it begins meanwhile."""
        with self._lock:
            self._thread.refresh()
            yield self._thread

    def _stats(self, *, some: bool = False) -> Stats:
        """The thread in numbers, after its tiers are brought up to date, or some of them."""
        self._upkeep.maintain_for_reader(some=some)
        stats_of = imported("holdfast.session.report:stats_of")  # most sessions are asked for none
        stats: Stats = stats_of(self._thread, self._tiers, self.faults, self._last_fit)
        return stats

    def _marked(self, kind: Literal["delete", "pin"], reason: str, which: Sequence[Which]) -> Event:
        """Record an event on these messages and the messages that belong to them."""
        check_type(reason, Words, "reason")
        if not which:
            raise ConfigError(
                "no message is named", place="message", advice="give positions or ids"
            )
        with self._refreshed() as own:
            positions = own.exchanges([self._known(each) for each in which])
            return own.record(kind, reason, {"positions": positions})

    def _keep(self, store: str | KeyValueStore) -> LogStore:
        """Open the store of this session, which it closes if it has opened it itself."""
        self._owns = isinstance(store, str)
        return LogsOverKeys.over(open_store(store))

    def _begin(self, thread: str, store: LogStore) -> None:
        self._lock = Exclusive(partial(self._open, thread, store))
        self._open(thread, store)

    def _open(self, thread: str, store: LogStore) -> None:
        """Read everything that is kept in memory from the store."""
        options = self._options
        clock = arguments.clock(options.own.clock)
        check_type(thread, Name, "thread")
        self._thread = Thread(thread, store, clock, options.meter, options.format)
        vectors = MessageVectors.of(self._thread, wanted=options.own.vectors)
        self._past = Past(self._thread, vectors, options.mask)
        self._last_fit = LastFit(grows=self._thread.state.messages > 0)
        self._facts = FactReader(self._thread, options.mask)
        self._tiers = ThreadTiers(self._thread, options)
        self._upkeep = Upkeep(self._lock, self._tiers, options)

    def _known(self, which: Which) -> int:
        """The position of a message. Raises NotFoundError if there is none, or it is deleted."""
        position = self._position(which)
        if position is None or position not in self._thread.read([position]):
            raise self._absent(which, position)
        return position

    def _absent(self, which: Which, position: int | None) -> NotFoundError:
        state = self._thread.state
        advice = f"; it has {amount(state.messages, 'message')}, counted from 0"
        if position in state.deleted:
            advice = ", where it was deleted; undo brings it back"
        return NotFoundError(str(which), where=f"thread {self._thread.name!r}{advice}")

    def _position(self, which: Which) -> int | None:
        check_type(which, Position, "message")
        if isinstance(which, str):
            return self._thread.position_of(which)
        return which if which >= 0 else which + self._thread.state.messages
