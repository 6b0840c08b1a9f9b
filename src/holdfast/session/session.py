"""A session: a conversation that is kept whole and seen through a view that fits."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Coroutine, Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial, wraps
from os import PathLike
from time import perf_counter, time
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    cast,
)

from holdfast.calls.lineup import CallLimits
from holdfast.cost import Costs
from holdfast.kernel.budget import Budget, BudgetLike, Meter
from holdfast.kernel.errors import BudgetError, ConfigError, NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.transcript import Format
from holdfast.memory.facts import Fact, Ledger
from holdfast.memory.forms import Condenser
from holdfast.memory.relevance import Relevance
from holdfast.memory.tiers import Segmentation, Tier, Tiers, TierSizes, TierStatistics
from holdfast.meter import Counter
from holdfast.names import ProfileName, ReportForm
from holdfast.options import Options, Provider, Strategy
from holdfast.profiles import Profile
from holdfast.providers import EmbedderSpec, ModelSpec
from holdfast.recovery import line_range, recall
from holdfast.renamed import renamed_argument
from holdfast.stores import open_store
from holdfast.stores.answers import settled
from holdfast.stores.excerpts import excerpt
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.key_logs import LogsOverKeys
from holdfast.stores.protocols import Closes
from holdfast.text.visible import amount

from . import arguments
from .arguments import SessionOptions, Which
from .log import Thread, exchanges, inverse, own_id
from .maintenance import Exclusive, Forming, Upkeep
from .recall import Knowing, Meaning, Past, Recalled
from .recent import Desk, Frame
from .report import Stats, Story, html_page, masked, recalled_positions, stats_of, text_page
from .state import Event
from .tiers import Likeness, ThreadTiers
from .turns import TurnCondenser
from .view import Fit, View, copied, is_refused, paired

if TYPE_CHECKING:
    from holdfast.calls.cache import CompressionCache

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def awaited(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The asynchronous form of a method, which runs it in a thread.

    The method is looked up by its name, so that a subclass that overrides it overrides both.
    """
    name = method.__name__

    @wraps(method)
    async def waits(self: S, /, *args: P.args, **named: P.kwargs) -> T:
        return cast("T", await to_thread(getattr(self, name), *args, **named))

    waits.__name__, waits.__qualname__ = f"a{name}", f"Session.a{name}"
    return waits


Expand = Literal["model"]
"""Who may write out a note whose original is lost."""

_PARTED = (
    "a call and its result were appended apart from each other; all is kept, and views mend it"
)
_LIFTED = 10  # messages of a view whose segments are promoted, as many as V.18 retrieves
_ATTEMPTS = 8  # to find a view that fits with what ``repair`` puts in; 2 nearly always do


class Session:
    """A conversation that is kept whole and seen through a view that fits.

    ``thread`` is any text, and names the conversation in its store. Many threads live in one store,
    and many processes may use one thread. ``store``: a URL such as ``sqlite:///agent.db``, or an
    object with ``get``, ``set`` and ``delete``; without one everything is kept in memory, as long
    as the session lives.
    ``budget`` is for ``fit``; ``model``, ``format``, ``profile``, ``strategy``, ``counter`` and
    ``redact`` are those of ``compress``. ``tiers`` are the sizes of the hot, the warm and the cold
    tier. ``vectors``: whether messages are found by their meaning too, by default where the extra
    ``local`` is installed. ``condenser`` makes the warm and the cold form of what leaves the hot
    tier, by default by rule. ``relevance`` says what makes a segment important, by default in rates
    that suit the length of the session, and ``segmentation`` whether a segment ends with a turn, at
    an hour without a word, or where other things are named. A view recalls at most
    ``recall_messages``, with a score of at least ``recall_score`` (0 to 1; by default .25 in a view
    for no question). ``clock`` tells the time in seconds since 1970 UTC.

    ``llm``, ``embedder``, ``cache``, ``limits`` and ``costs`` are those of ``compress``. If costs
    decide, the session knows how long ago the last view was made and how large it was. The model
    writes the forms of segments, and each is checked against the original; until it has answered,
    the form by rule stands. The embedder tells which segments are close to what is being talked
    about; they stay longer. Both are called after ``append`` (with ``background`` in a thread of
    their own), by ``tend``, and by ``fit`` where the profile or the strategy asks for them. Their
    failures are not raised: ``stats``, ``history`` and the result of a view tell of them.

    What the log holds is never changed or deleted. Each method has an asynchronous form whose name
    begins with ``a`` and which runs the method in a thread.
    """

    def __init__(
        self,
        thread: str,
        *,
        store: str | KeyValueStore | None = None,
        budget: BudgetLike = None,
        model: str | None = None,
        format: Provider = None,  # noqa: A002 - the name that users know for it
        profile: ProfileName | PathLike[str] | Profile = "balanced",
        strategy: Strategy = None,
        counter: Counter = None,
        redact: bool | None = None,
        tiers: TierSizes | None = None,
        vectors: bool | None = None,
        condenser: Condenser | None = None,
        llm: ModelSpec | None = None,
        embedder: EmbedderSpec | None = None,
        cache: CompressionCache | None = None,
        limits: CallLimits | None = None,
        costs: Costs | None = None,
        relevance: Relevance | None = None,
        segmentation: Segmentation = "turns",
        recall_score: float | None = None,
        recall_messages: int | None = None,
        background: bool = False,
        clock: Callable[[], float] = time,
    ) -> None:
        arguments.able(
            "__call__", "clock", clock, "give a function that tells seconds since 1970 UTC"
        )
        asked: Options = {
            "model": model,
            "profile": profile,
            "strategy": strategy,
            "counter": counter,
            "redact": redact,
            "embedder": embedder,
            "cache": cache,
            "limits": limits,
        }
        self._options = SessionOptions(
            asked,
            None if budget is None else Budget.of(budget),
            llm,
            costs,
            TierSizes() if tiers is None else tiers,
            vectors,
            TurnCondenser() if condenser is None else condenser,
            background,
            relevance,
            segmentation,
            recall_score,
            recall_messages,
        )
        kept = InProcessStore() if store is None else LogsOverKeys.over(open_store(store))
        self._clock, self._format = clock, format
        self._owns = isinstance(store, str)
        self._begin(thread, kept)

    def append(
        self, *messages: Any, ids: Sequence[str] = (), at: float | datetime | None = None
    ) -> list[int]:
        """Keep the messages at the end of the thread, durably; their positions.

        ``ids`` name them, by default their own field ``id``: one that is known is not kept again.
        ``at`` is when they were said, by default now. A result without its call is kept, told by
        ``faults``, and mended in views. Raises InputError for what is no message, StoreError if
        they were not kept; what goes wrong afterwards, while tiers are tended, is told by
        ``stats``.
        """
        arguments.messages(messages)
        names = (
            arguments.names(ids, len(messages))
            if ids
            else [own_id(message) for message in messages]
        )
        said = arguments.moment(at)
        with self._turn:
            parted = self._thread.state.unpaired
            places = self._thread.append(messages, names, said)
            if self._thread.state.unpaired > parted:
                self._thread.record_if_current("fault", _PARTED, {})
        self._upkeep.appended()
        return places

    def tend(self, *, force: bool = False) -> dict[Tier, TierStatistics]:
        """Bring the tiers up to date now.

        With ``force`` empty each to its target, however full it is.

        With a model, all its forms that are wanted are asked for and put in their place. Raises
        StoreError if the tiers cannot be kept.
        """
        arguments.one_of("force", force, (True, False))
        with self._turn:
            upkeep = self._upkeep
        return upkeep.now(force=force)

    def edit(self, which: Which, message: Any, *, reason: str = "edited") -> Event:
        """Let a message say something else from now on.

        The log keeps what it said, and ``undo`` goes back.
        """
        why = arguments.words("reason", reason)
        with self._turn:
            position = self._known(which)
            event = self._thread.edit(position, message, why)
            self._upkeep.found([position])
            return event

    def delete(self, *which: Which, reason: str = "deleted") -> Event:
        """Take messages out of every view and every search.

        They stay in the log, and ``undo`` brings them back.

        A call and its results go together.
        """
        with self._turn:
            return self._thread.record(
                "delete", arguments.words("reason", reason), self._exchanges(which)
            )

    def pin(self, *which: Which, reason: str = "pinned") -> Event:
        """Keep these messages in every view, whatever their age.

        A call and its results together.
        """
        with self._turn:
            return self._thread.record(
                "pin", arguments.words("reason", reason), self._exchanges(which)
            )

    def remember(self, text: str, *, by: str = "user") -> Event:
        """Keep a text in mind: it stands in every view until it is forgotten.

        ``by`` says whose wish it is.
        """
        noted, whose = arguments.words("text", text), arguments.words("by", by)
        sendable = noted.encode(
            "utf-8", "replace"
        ).decode()  # half a character would stand in every view
        with self._turn:
            self._thread.refresh()
            return self._thread.record("note", f"asked by the {whose}", {"text": sendable})

    def forget(self, note: Event | int | Fact) -> Event:
        """Keep a text in mind, or a fact, no longer.

        Raises NotFoundError if there is no such note.
        """
        with self._turn:
            self._thread.refresh()
            if isinstance(note, Fact):
                return self._thread.record("forget", "asked by the user", {"fact": list(note.key)})
            number = arguments.event(note)
            if number not in self._thread.state.notes:
                raise NotFoundError(str(number), where=f"the notes of thread {self.thread!r}")
            return self._thread.record("forget", "asked by the user", {"note": number})

    def undo(self, event: Event | int | None = None) -> Event:
        """Undo a compaction, an edit, a deletion or a pin, by default the newest of them.

        What does so is a new event: the log only grows. A compaction that is taken back stays so
        for budgets that hold what it took out of the recent turns. Raises InputError if there is
        nothing to take back.
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
            made._begin(thread, self._thread.store)  # noqa: SLF001 - one of ours, in the making
            self._thread.copy_to(made._thread)  # noqa: SLF001 - as above
            return made

    @property
    def thread(self) -> str:
        """The name of the thread."""
        return self._thread.name

    @property
    def appended(self) -> int:
        """How many messages were ever appended."""
        return self.revision[0]

    @property
    def revision(self) -> tuple[int, int]:
        """How many messages there are, and how many changes of them; a view is of one revision."""
        with self._turn:
            self._thread.refresh()
            return self._thread.state.messages, self._thread.state.rewordings

    @property
    def meter(self) -> Meter:
        """What counts the tokens of this session."""
        return self._options.meter

    @property
    def limit(self) -> int | None:
        """Tokens that a view may take where ``fit`` is not told otherwise.

        None where that is not said.
        """
        budget = self._options.budget
        return None if budget is None else budget.tokens(self._options.window)

    @property
    def redacts(self) -> bool:
        """Whether secrets are masked in what is told again of the thread."""
        return self._options.redacts

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the upkeep since the session was opened, and calls without their results.

        Nothing was lost by it, except for lines that the store's disk damaged, which are named.
        """
        known = (*self._upkeep.faults, *self._thread.damage)
        parted = self._thread.state.unpaired
        told = (
            f"{amount(parted, 'message')} parted a call from its result; "
            "all is kept, and views mend it"
        )
        return (*known, told) if parted else known

    def wire(self, *messages: Any) -> Format:
        """The format of the thread's messages, as far as these messages and the thread tell it."""
        return self._thread.form(messages)

    def fit(
        self, query: str | None = None, *, budget: BudgetLike = None, tools: object = None
    ) -> View:
        """The messages for the next model call, within the budget: system, past and recent turns.

        ``query`` is a question about the past: it gets nearly all of the budget. Without one, the
        newest input of the user is the question, and the recent turns have most of the budget.
        ``tools``: schemas to count. Raises BudgetError for a hard budget that cannot be met.
        """
        arguments.maybe_text("query", query)
        chosen = self._options.budget if budget is None else Budget.of(budget)
        if chosen is None:
            raise ConfigError(
                "there is none",
                place="budget",
                advice="give one such as 8_000 to the session, or to fit",
            )
        with self._turn:
            started = perf_counter()
            self._thread.refresh()
            view = self._view(chosen, query, tools)
            if not view.budget_met:
                view = replace(view, smallest=self._smallest(view, query, tools))
            net = view.net.net if view.net else 0.0
            self._thread.viewed(view.tokens, net, perf_counter() - started)
            self._desk.seen, self._desk.sent = self._thread.now(), view.tokens
            self._lift(sorted(view.recalled, key=lambda each: -each.score)[:_LIFTED])
        if chosen.hard and view.smallest is not None:
            reason = "what must stay is larger"
            raise BudgetError(
                limit=view.limit, tokens=view.tokens, smallest=view.smallest, reason=reason
            )
        return view

    def messages(self) -> list[Any]:
        """The thread as it stands: edits made, deleted messages left out."""
        with self._turn:
            self._thread.refresh()
            return [copied(kept.original) for kept in self._thread.forwards()]

    def restore(self) -> list[Any]:
        """Everything that was ever appended, as it was appended."""
        with self._turn:
            self._thread.refresh()
            return [original for _, original in self._thread.originals()]

    def history(self) -> list[Event]:
        """Edits, compactions, recalls and other events, in order, each with its reason."""
        with self._turn:
            self._thread.refresh()
            return list(self._thread.events())

    def stats(self) -> Stats:
        """How much there is, and where it is, once the tiers are up to date."""
        with self._turn:
            self._upkeep.looked()
            return stats_of(self._thread, self._tiers, self.faults, self._desk)

    def tiers(self) -> Tiers:
        """The segments of each tier, brought up to date, in the forms that they have there."""
        with self._turn:
            self._upkeep.looked()
            return self._tiers.tiers

    def search(self, query: str, limit: int = 10) -> list[Recalled]:
        """The messages that answer best, best first, each with its score and factors.

        Also those that were evicted from the last tier: what is found comes back to the tiers.
        """
        arguments.text("query", query)
        arguments.positive("limit", limit, "messages")
        with self._turn:
            self._thread.refresh()
            found = self._past.search(query, limit)
            self._lift(found)
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
        """An original, whole or in part: of a shortened text by its key, or of a message.

        With ``expand="model"``, of a message that the store has lost, what the session's model
        makes of the note that the tiers have of its turn, marked as reconstructed; never where the
        original is kept. Raises NotFoundError if there is nothing, ModelError if the model cannot
        write it out.
        """
        arguments.one_of("expand", expand, ("model", None))
        arguments.maybe_text("pattern", pattern)
        arguments.maybe_text("field", field)
        with self._turn:
            self._thread.refresh()
            position = self._position(key)
            kept = None if position is None else self._thread.read([position]).get(position)
            text = None if kept is None else kept.message.content_text or ""
            note = (
                self._tiers.note_of(position)
                if position is not None and kept is None and expand
                else None
            )
            if position is not None:
                self._upkeep.found([position])
        if note is not None:
            text = self._upkeep.expanded(note)
        if text is not None:
            return excerpt(text, lines=line_range(lines), pattern=pattern, field=field).text
        if isinstance(key, int) or position is not None:
            raise self._absent(key, position)
        store, thread = self._thread.store, self._thread.name
        return recall(key, store=store, lines=lines, pattern=pattern, field=field, thread=thread)

    def facts(self) -> Ledger:
        """The durable facts that the thread states, and with their dates those they contradict."""
        with self._turn:
            self._thread.refresh()
            return self._knowing.ledger()

    def notes(self) -> dict[int, str]:
        """What is kept in mind, by the number of the event."""
        with self._turn:
            self._thread.refresh()
            return dict(self._thread.state.notes)

    @renamed_argument("format", "form")
    def report(self, form: ReportForm = "text") -> str:
        """Tiers, tokens saved and recalls with their reasons, as text or as one HTML page."""
        arguments.one_of("form", form, ("text", "html"))
        with self._turn:
            self._upkeep.looked(some=True)  # what is far behind is not caught up with for a look
            stats, events = (
                stats_of(self._thread, self._tiers, self.faults, self._desk),
                list(self._thread.events()),
            )
            told = self._past.texts(recalled_positions(events))
            story = masked(Story(stats, events, told))  # a report is passed on
        return html_page(story) if form == "html" else text_page(story)

    def close(self) -> None:
        """Keep the state for a quick opening, and let go of a store that was opened here.

        What a model has not answered yet is left; nothing is half written.
        """
        with self._turn:
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

    async def afork(self, thread: str) -> Self:
        """As ``fork``."""
        return await to_thread(self.fork, thread)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def _exchanges(self, which: Sequence[Which]) -> dict[str, list[int]]:
        """The positions of these messages and of what belongs to them, as facts of an event."""
        if not which:
            raise ConfigError(
                "no message is named", place="message", advice="give positions or ids"
            )
        return {"positions": exchanges(self._thread, [self._known(each) for each in which])}

    def _view(self, budget: Budget, query: str | None, tools: object) -> View:
        """A view that is valid, whatever was appended or changed afterwards."""
        view, state = self._fitted(budget, query, tools), self._thread.state
        amiss = state.unpaired or state.refused or state.edits or state.deleted or state.pins
        if not amiss and not self._thread.damaged["message"] and not is_refused(view, self._thread):
            return view
        limit, mended = view.limit, self._paired(view)
        for _ in range(_ATTEMPTS):
            room = view.tokens - (mended.tokens - limit)  # what is put in takes room of its own
            if mended.budget_met or room < 1:
                break
            view = self._fitted(Budget(limit=room), query, tools)
            mended = replace(self._paired(view), limit=limit)
        return mended

    def _smallest(self, view: View, query: str | None, tools: object) -> int:
        """A limit that is met, near to the tokens of the view: with more room, more is in it."""
        tokens = view.tokens
        for _ in range(_ATTEMPTS):
            roomier = self._view(Budget(limit=tokens), query, tools)
            if roomier.budget_met:
                break
            tokens = roomier.tokens
        return tokens

    def _fitted(self, budget: Budget, query: str | None, tools: object) -> View:
        frame = Frame.of(self._thread, self._desk, self._options, budget, query, tools)
        return Fit(frame, self._past).view()

    def _paired(self, view: View) -> View:
        return paired(view, self._thread.wire, self._options, self._thread.state.waiting)

    def _lift(self, found: Iterable[Recalled]) -> None:
        self._upkeep.found([each.position for each in found])

    def _begin(self, thread: str, store: KeyValueStore) -> None:
        self._turn = Exclusive(partial(self._open, thread, store))
        self._open(thread, store)

    def _open(self, thread: str, store: KeyValueStore) -> None:
        """Make all that is in memory of what the store has."""
        options = self._options
        clock = arguments.clock(self._clock)
        self._thread = Thread(arguments.thread(thread), store, clock, options.meter, self._format)
        vectors = Meaning.of(self._thread, wanted=options.vectors)
        self._past = Past(self._thread, vectors, redacts=options.redacts)
        self._desk = Desk()
        self._knowing = Knowing(self._thread, redacts=options.redacts)
        likeness = Likeness(options.lineup, options.redacts)
        self._tiers = ThreadTiers(
            self._thread,
            options.tiers,
            options.condenser,
            likeness,
            options.relevance,
            options.segmentation,
        )
        asking = options.asking
        forming = None if asking is None else Forming(asking, options.lineup, options.redacts)
        self._upkeep = Upkeep(
            self._turn, self._tiers, likeness, forming, background=options.background
        )

    def _known(self, which: Which) -> int:
        """The position of a message. Raises NotFoundError if there is none, or it is deleted."""
        self._thread.refresh()
        position = self._position(which)
        if position is None or position not in self._thread.read([position]):
            raise self._absent(which, position)
        return position

    def _absent(self, which: Which, position: int | None) -> NotFoundError:
        gone = (
            ", where it was deleted; undo brings it back"
            if position in self._thread.state.deleted
            else ""
        )
        return NotFoundError(str(which), where=f"thread {self._thread.name!r}{gone}")

    def _position(self, which: Which) -> int | None:
        named = arguments.which(which)
        if isinstance(named, str):
            return self._thread.positions([named]).get(named)
        return named if named >= 0 else named + self._thread.state.messages
