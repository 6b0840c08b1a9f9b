"""JSON, JSON lines, JSON in a frame: how it is recognised, made shorter without loss, and made smaller with."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit

from .columns import SHORT_STAYS
from .document import expanded, written
from .frame import Framed, framed
from .shrink import shrunk
from .tables import tables
from .values import dump, is_json, minified, parse
from .write import ROW_END

_STARTS = ("{", "[")
_ENDS = ("}", "]")
_LONGEST_TOKEN = 6  # characters on average: a text with more for each token of the room is not even counted
_WORTH = 0.95  # of the minified text's length: a table form that is not shorter than that is not worth its header


class Json:
    """One JSON object or array, or several one behind the other; a few lines of something else may frame it."""

    name: ClassVar[str] = "json"

    def recognises(self, text: str) -> bool:
        """Whether the text is JSON and more than a scalar, for the most part."""
        bare = text.removeprefix("\ufeff").strip()
        if bare.startswith(_STARTS) and bare.endswith(_ENDS) and is_json(bare):
            return True
        return framed(text) is not None

    def compact(self, text: str) -> str | None:
        """Records as a table with their keys once, everything else minified; None where nothing is gained."""
        try:
            documents = parse(text)
        except ValueError:
            return None
        lines = len(documents) > 1
        plain = ROW_END.join(map(dump, documents)) if lines else minified(text)
        form = written(documents, keep=SHORT_STAYS) if tables(documents)[1] else plain
        best = form if len(form) < _WORTH * len(plain) else plain
        return best if len(best) < len(text) else None

    def expand(self, compacted: str) -> str:
        """The JSON text whose compact form this is, minified."""
        try:
            return expanded(compacted)
        except (ValueError, RecursionError):  # no table of ours, or JSON in a cell that is too deep from here
            return compacted

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Whole where it fits, else a lossless form, else the records and the columns that say most."""
        if len(text) <= room.tokens * _LONGEST_TOKEN and room.count(text) <= room.tokens:
            return Shrunk(text, self.name, lossless=True)
        frame = framed(text)
        if frame is not None:
            return self._within(frame, room)
        try:
            documents = parse(text)
        except ValueError:
            cut = fit.head_tail(text, room.tokens, room.count)
            return Shrunk(cut, self.name, omitted="the middle")
        return shrunk(documents, room, self.name)

    def _within(self, frame: Framed, room: Room) -> Shrunk:
        """The JSON as it fits beside its frame, which takes a quarter of the room at most on either side."""
        sides = [fit.head_tail(side, max(1, room.tokens // 4), room.count) for side in (frame.head, frame.tail)]
        tokens = max(1, room.tokens - sum(room.count(f"\n{side}\n") for side in sides if side))
        body = self.shrink(frame.body, replace(room, tokens=tokens))
        text = "\n".join(part for part in (sides[0], body.text, sides[1]) if part)
        if room.count(text) > room.tokens:
            return replace(self.shrink(frame.body, room), lossless=False, omitted="all but some of the JSON")
        return replace(body, text=text, lossless=False, omitted=body.omitted or "nothing but layout")
