"""What a session tells: the view for a model, the thread as it stands and as it was, what is found in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from holdfast.kernel.budget import Budget, Meter
from holdfast.kernel.errors import BudgetError, ConfigError
from holdfast.kernel.transcript import Format
from holdfast.memory.facts import Ledger
from holdfast.memory.tiers import Tiers
from holdfast.recalling import line_range, recall
from holdfast.reports.visible import amount
from holdfast.stores.artifacts.excerpt import excerpt

from . import arguments
from .arguments import Which
from .opening import OpenThread
from .page import html_page
from .pairing import paired
from .parts import Frame, View, copied
from .past import Recalled
from .state import Event
from .stats import Stats, stats_of
from .story import Story, masked, recalled_positions, text_page
from .validity import is_refused
from .view import Fitting

Expand = Literal["model"]
"""Who may write out a note of which the original is lost."""

_LIFTED = 10  # messages of a view whose segments come up, as many as V.18 retrieves
_ATTEMPTS = 8  # to leave room for what is put in where calls and results were parted; 2 nearly always do


class ReadingSession(OpenThread):
    """The methods of a session that tell what is there."""

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
        """How many messages there are, and how often what they say was changed: a view is of one revision."""
        with self._turn:
            self._thread.refresh()
            return self._thread.state.messages, self._thread.state.rewordings

    @property
    def meter(self) -> Meter:
        """What counts the tokens of this session."""
        return self._options.meter

    @property
    def limit(self) -> int | None:
        """Tokens that a view may take where ``fit`` is not told otherwise; None where that is not said."""
        budget = self._options.budget
        return None if budget is None else budget.tokens(self._options.window)

    @property
    def redacts(self) -> bool:
        """Whether secrets are masked in what is told again of the thread."""
        return self._options.redacts

    @property
    def faults(self) -> tuple[str, ...]:
        """What went wrong in the upkeep since the session was opened, and calls without their results.

        Nothing was lost by it, except for lines that the store's disk damaged, which are named.
        """
        known = (*self._upkeep.faults, *self._thread.damage)
        parted = self._thread.state.unpaired
        told = f"{amount(parted, 'message')} parted a call from its result; all is kept, and views mend it"
        return (*known, told) if parted else known

    def wire(self, *messages: Any) -> Format:
        """The form in which the thread's messages are written, as far as these and the thread tell it."""
        return self._thread.form(messages)

    def fit(self, query: str | None = None, *, budget: int | Budget | None = None, tools: object = None) -> View:
        """The messages for the next model call, within the budget: the system's, the past's, the recent turns.

        ``query`` is a question about the past: it gets nearly all of the budget. Without one, the newest input of
        the user is the question, and the recent turns have most of the budget. ``tools``: schemas to count.
        Raises BudgetError for a hard budget that cannot be met.
        """
        arguments.maybe_text("query", query)
        chosen = self._options.budget if budget is None else Budget.of(budget)
        if chosen is None:
            raise ConfigError(
                "there is none", place="budget", advice="give one such as 8_000 to the session, or to fit"
            )
        with self._turn:
            self._thread.refresh()
            view = self._view(chosen, query, tools)
            if not view.budget_met:
                view = replace(view, smallest=self._smallest(view, query, tools))
            self._lift(sorted(view.recalled, key=lambda each: -each.score)[:_LIFTED])
        if chosen.hard and view.smallest is not None:
            reason = "what must stay is larger"
            raise BudgetError(limit=view.limit, tokens=view.tokens, smallest=view.smallest, reason=reason)
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
            return list(self._thread.originals())

    def history(self) -> list[Event]:
        """What happened beside the messages, in order: edits, compactions, recalls, each with its reason."""
        with self._turn:
            self._thread.refresh()
            return list(self._thread.events())

    def stats(self) -> Stats:
        """How much there is, and where it is, once the tiers are up to date."""
        with self._turn:
            self._upkeep.looked()
            return stats_of(self._thread, self._tending, self.faults)

    def tiers(self) -> Tiers:
        """The segments of each tier once these are up to date, each in the form in which it stands there."""
        with self._turn:
            self._upkeep.looked()
            return self._tending.tiers

    def search(self, query: str, limit: int = 10) -> list[Recalled]:
        """The messages of the thread that answer best, best first, each with what gave it its score.

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
        """An original, whole or in part: of a text that was shortened, by its key, or of a message of the thread.

        With ``expand="model"``, of a message that the store has lost, what the session's model makes of the note
        that the tiers have of its turn, marked as reconstructed; never where the original is kept.
        Raises NotFoundError if there is nothing, ModelError if the model cannot write it out.
        """
        arguments.one_of("expand", expand, ("model", None))
        arguments.maybe_text("pattern", pattern)
        arguments.maybe_text("field", field)
        with self._turn:
            self._thread.refresh()
            position = self._position(key)
            kept = None if position is None else self._thread.read([position]).get(position)
            text = None if kept is None else kept.message.content_text or ""
            note = self._tending.note_of(position) if position is not None and kept is None and expand else None
            if position is not None:
                self._upkeep.found([position])
        if note is not None:
            text = self._upkeep.expanded(note)
        if text is not None:
            return excerpt(text, lines=line_range(lines), pattern=pattern, field=field).text
        if isinstance(key, int) or position is not None:
            raise self._absent(key, position)
        return recall(key, store=self._thread.store, lines=lines, pattern=pattern, field=field)

    def facts(self) -> Ledger:
        """The durable facts that the thread states: what holds, and with their dates what it contradicts."""
        with self._turn:
            self._thread.refresh()
            return self._knowing.ledger()

    def notes(self) -> dict[int, str]:
        """What is kept in mind, by the number of the event."""
        with self._turn:
            self._thread.refresh()
            return dict(self._thread.state.notes)

    def report(self, format: Literal["text", "html"] = "text") -> str:  # noqa: A002 - the name that users know for it
        """What happened to the thread: tiers, tokens saved, what was recalled and why, as text or as one page."""
        arguments.one_of("format", format, ("text", "html"))
        with self._turn:
            self._upkeep.looked(some=True)  # what is far behind is not caught up with for a look
            stats, events = stats_of(self._thread, self._tending, self.faults), list(self._thread.events())
            told = self._past.texts(recalled_positions(events))
            story = masked(Story(stats, events, told))  # a report is passed on
        return html_page(story) if format == "html" else text_page(story)

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
        return Fitting(frame, self._past).view()

    def _paired(self, view: View) -> View:
        return paired(view, self._thread.wire, self._options, self._thread.state.waiting)

    def _lift(self, found: Iterable[Recalled]) -> None:
        self._upkeep.found([each.position for each in found])
