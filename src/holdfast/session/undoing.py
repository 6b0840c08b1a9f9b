"""How an event is taken back: by a further event that does the opposite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.kernel.errors import InputError

from .state import Event, EventKind
from .thread import Thread

Facts = Mapping[str, Any]

_INVERSES: Mapping[str, tuple[EventKind, Callable[[Facts], dict[str, Any]]]] = {
    "compaction": ("compaction", lambda facts: {"from": facts["to"], "to": facts["from"]}),
    "edit": ("revert", lambda facts: {"position": facts["position"], "to": facts["before"]}),
    "delete": ("keep", lambda facts: {"positions": facts["positions"]}),
    "pin": ("unpin", lambda facts: {"positions": facts["positions"]}),
}

_CAN_BE = "a compaction, an edit, a deletion or a pin can be; a note is let go of by forget"


def inverse(thread: Thread, number: int | None = None) -> tuple[EventKind, dict[str, Any]]:
    """The kind and the facts of the event that takes this one back, by default the newest that can be.

    Raises InputError if there is none, or if it was taken back already.
    """
    events = list(thread.events())
    undone = {event.facts["undoes"] for event in events if "undoes" in event.facts}
    open_to_it = [event for event in events if _can_be(event) and event.number not in undone]
    chosen = [event for event in open_to_it if number in (None, event.number)]
    if not chosen:
        what = "there is nothing to undo" if number is None else f"event {number} cannot be undone"
        known = ", ".join(str(event.number) for event in open_to_it[-5:])
        raise InputError(what, advice=f"the newest that can be are {known}" if known else _CAN_BE)
    kind, facts_of = _INVERSES[chosen[-1].kind]
    return kind, facts_of(chosen[-1].facts) | {"undoes": chosen[-1].number}


def _can_be(event: Event) -> bool:
    return event.kind in _INVERSES and "undoes" not in event.facts
