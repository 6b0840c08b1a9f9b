"""The warm and the cold form of a segment of a session, by rule."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.compressors.select.notes import notes_of
from holdfast.memory.clauses import Count
from holdfast.memory.condensing import RuleCondenser, room_for
from holdfast.text.memo import Memo

from .telling import events_in


@dataclass(frozen=True, slots=True)
class TurnCondenser(RuleCondenser):
    """Makes notes of turns in which tools were called, as a digest does; of talk, what memory's rule makes.

    So what a call gave back is read by its kind, and its values stand beside what was asked for.
    """

    def condense(self, text: str, level: int, count: Count) -> str:
        """The form of the level; the text itself where a form would not be smaller."""
        return _NOTES((text, level, count)) or RuleCondenser.condense(self, text, level, count)


def _notes(key: tuple[str, int, Count]) -> str:
    """The notes; empty for what is only talk, and where nothing fits."""
    text, level, count = key
    events = events_in(text)
    return "" if events is None else notes_of(events, room_for(count(text), level), count)


_NOTES: Memo[tuple[str, int, Count], str] = Memo(_notes, lambda key, form: len(key[0]) + len(form), 8_000_000)
"""What is found rises and is demoted again: its form is made once."""
