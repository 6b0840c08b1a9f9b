"""What was recalled for the newest input of a user, for as long as it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .inquiry import is_idle
from .parts import Desk
from .thread import Thread

ROOMIER = 1.25
"""Times the room that a view was made for: from there on it is made anew."""


def standing(thread: Thread, desk: Desk, limit: int) -> Mapping[str, Any]:
    """What was recalled for the newest input; nothing where there is a new one, or far more room than there was.

    An input that has nothing to look for, such as "ok thanks", leaves standing what was recalled before it.
    What a much smaller budget left of the recent turns does not hold then either.
    """
    state, recalled = thread.state, thread.state.recalled
    if limit > ROOMIER * recalled.get("limit", limit):
        desk.part = state.made = None
        return {}
    if recalled and recalled["for"] != state.spoke and is_idle(thread):
        state.recalled = recalled = {**recalled, "for": state.spoke, "agent": state.calls}
    return recalled if recalled.get("for", -1) == state.spoke else {}
