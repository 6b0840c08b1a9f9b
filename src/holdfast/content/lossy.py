"""What the kinds share: texts that have no lossless form, and readings that one engine makes fit."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.kernel.ports import Room, Shrunk
from holdfast.selection.excerpt import excerpt
from holdfast.selection.pieces import Reading, passages
from holdfast.text import fit

MOST = 0.5
"""The share of a text from which on it is of a kind."""


class Read:
    """A kind that proposes pieces; what of them fits is chosen by the one order of value."""

    name = ""
    takes_apart = False
    """Whether a line of it does not speak for itself.

    In a conversation only such kinds are told in pieces of their own, and others as any text: in recorded
    runs that kept more of the names that were used later.
    """

    def fit(self, text: str) -> float:  # noqa: ARG002 - the kinds read it
        """The share of the text, from 0 to 1, that reads as one of this kind."""
        return 0.0

    def recognises(self, text: str) -> bool:
        """Whether most of the text reads as one of this kind."""
        return self.fit(text) >= MOST

    def read(self, text: str) -> Reading:
        """The pieces of the text."""
        return passages(text)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The pieces that tell most in the room."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        reading = self.read(text)
        choice = excerpt(reading, room)
        if choice is None:
            cut = fit.clip(text, room.tokens, room.count, mark="…")
            return Shrunk(cut, self.name, "all but its beginning")
        return Shrunk(choice.text, self.name, _omitted(reading, choice.pieces))


def _omitted(reading: Reading, chosen: Sequence[int]) -> str:
    """What is left out, by units of the source, or by pieces where each unit is told in part."""
    told = reached = 0
    for piece in (reading.pieces[number] for number in chosen):
        end = piece.at + piece.units
        told += max(0, end - max(reached, piece.at))
        reached = max(reached, end)
    if told < reading.total and reading.unit:
        return f"{reading.total - told:,} of {reading.total:,} {reading.unit}s"
    return f"{len(reading.pieces) - len(chosen):,} of {len(reading.pieces):,} parts"


class Lossy:
    """A kind of whose texts no shorter form is certain to say the same."""

    def compact(self, text: str) -> str | None:  # noqa: ARG002 - the protocol passes the text
        """None, always."""
        return None

    def expand(self, compacted: str) -> str:
        """The text itself."""
        return compacted
