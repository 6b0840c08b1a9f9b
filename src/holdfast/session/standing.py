"""What was recalled for the newest input of a user, for as long as it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .parts import Desk
from .state import State

ROOMIER = 1.25
"""Times the room that a view was made for: from there on it is made anew."""


def standing(state: State, desk: Desk, limit: int) -> Mapping[str, Any]:
    """What was recalled for the newest input; nothing where there is a new one, or far more room than there was.

    What a much smaller budget left of the recent turns does not hold then either.
    """
    recalled = state.recalled
    if limit > ROOMIER * recalled.get("limit", limit):
        desk.part = state.made = None
        return {}
    return recalled if recalled.get("for", -1) == state.spoke else {}
