"""The durable facts that a thread states: lifted when somebody asks, each message once."""

from __future__ import annotations

from dataclasses import replace

from holdfast.memory.facts import Fact, Ledger, lifted
from holdfast.memory.remembered import Remembered
from holdfast.text.concealed import concealing

from .lines import Kept
from .naming import bear_names, heard
from .thread import Thread


class Knowing:
    """The facts of one thread, less those that a user wants forgotten."""

    def __init__(self, thread: Thread, *, redacts: bool = False) -> None:
        self._thread, self._tells = thread, concealing(redacts=redacts)
        self._ledger, self._next, self._rewordings = Ledger(), 0, 0

    def ledger(self) -> Ledger:
        """What the messages state as they stand now; what is said again after it was forgotten counts again."""
        state = self._thread.state
        if self._rewordings != state.rewordings:
            self._ledger, self._next, self._rewordings = Ledger(), 0, state.rewordings
        said = (kept for kept in self._thread.forwards(self._next) if not kept.message.results)
        named = bear_names(state)
        fresh = [fact for kept in said for fact in lifted(self._heard(kept, named))]
        self._ledger = self._ledger.adding(fact for fact in fresh if not self._forgotten(fact))
        self._next = state.messages
        return self._ledger

    def _heard(self, kept: Kept, named: frozenset[str]) -> Remembered:
        seen = heard(kept, named)
        return seen if self._tells is str else replace(seen, text=self._tells(seen.text))

    def _forgotten(self, fact: Fact) -> bool:
        return any(fact.position < at and fact.key == tuple(key) for at, key in self._thread.state.forgotten)
