"""Who speaks: a word with a colon at the head of a message is a name only where messages bear names."""

from __future__ import annotations

from dataclasses import replace

from holdfast.memory.remembered import Remembered

from .lines import Kept
from .state import State


def heard(state: State, kept: Kept) -> Remembered:
    """The message as memory sees it, with the name at its head as a name, or else as the text that it is.

    Among messages without names "Noted: ..." is what somebody noted, and nobody is called so.
    """
    seen = kept.remembered
    if not seen.speaker or bears_names(state, seen.role):
        return seen
    return replace(seen, speaker="", header=seen.text.rindex(seen.speaker, 0, seen.header))


def bears_names(state: State, role: str) -> bool:
    """Whether most texts of the role begin with a name."""
    return 2 * state.signed.get(role, 0) > state.said.get(role, 0)
