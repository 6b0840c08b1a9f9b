"""What the kinds share: texts that have no lossless form, and readings that one engine makes fit."""

from __future__ import annotations

from holdfast.kernel.ports import Room, Shrunk
from holdfast.selection.excerpt import excerpt
from holdfast.selection.pieces import Reading, passages
from holdfast.text import fit


class Read:
    """A kind that proposes pieces; what of them fits is chosen by the one order of value."""

    name = ""

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
        told = sum(reading.pieces[number].units for number in choice.pieces)
        unit = reading.unit or "unit"
        omitted = f"{max(0, reading.total - told):,} of {reading.total:,} {unit}s"
        return Shrunk(choice.text, self.name, omitted)


class Lossy:
    """A kind of whose texts no shorter form is certain to say the same."""

    def compact(self, text: str) -> str | None:  # noqa: ARG002 - the protocol passes the text
        """None, always."""
        return None

    def expand(self, compacted: str) -> str:
        """The text itself."""
        return compacted
