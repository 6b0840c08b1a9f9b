"""The base class of content kinds: lines and pieces of a text, from which the best are chosen.

A kind has no lossless form unless it overrides ``compact``.
"""

from collections.abc import Callable, Sequence
from itertools import filterfalse, islice
from typing import TypeVar

from holdfast.excerpts import excerpt
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.memo import Memo
from holdfast.text.opaque import elide
from holdfast.text.pieces import LONGEST, Piece, Reading, clauses, passages, writer
from holdfast.text.sentences import is_of_lines, sentences
from holdfast.text.visible import as_shown

LEAST_SHARE = 0.5
"""The least share of a text that must read as a kind: the larger part. Real outputs are recognised
alike with half of it.
"""

FEWEST = 3
"""Lines, tags or records that show a kind: two may be alike by chance."""

MOSTLY = 0.9
"""The share of its lines or tags with which a text is surely of a kind. With half of it, one of
eight real outputs was shortened in another way.
"""

SAMPLE = 200
"""Lines by which the columns of a text are found; twice as many found the same in real outputs."""


T = TypeVar("T")
Lines = Sequence[str]


def mostly(lines: Sequence[T], is_one: Callable[[T], object], share: float) -> bool:
    """Whether this share of the lines is such; the rest is not asked once too many are not."""
    spare = len(lines) - share * len(lines)
    return sum(1 for _ in islice(filterfalse(is_one, lines), int(spare) + 1)) <= spare


class LossyKind:
    """A kind that splits a text into pieces; the selection chooses among them by value."""

    name = ""
    least = LEAST_SHARE
    """The least share with which a text is of this kind."""
    takes_apart = False
    """Whether a single line needs its context."""

    def share(self, text: str) -> float:
        """The share of the text, from 0 to 1, that reads as this kind."""
        return 0.0

    def fit(self, text: str) -> float:
        """The share of the text that reads as this kind; 0 if it is too small."""
        share = self.share(text)
        return share if share >= self.least else 0.0

    def recognises(self, text: str) -> bool:
        """Whether enough of the text reads as this kind."""
        return self.fit(text) > 0

    def compact(self, text: str) -> str | None:
        """None: there is no lossless form."""
        return None

    def heading(self, text: str) -> str:
        """What is read with each later part of the text; empty if its parts are read alone."""
        return ""

    def read(self, text: str) -> Reading:
        """The pieces of the text: short neighbouring lines of a paragraph together."""
        return passages("\n".join(rows(text)), alone=True)

    def reading(self, text: str) -> Reading:
        """What ``read`` returns, read once."""
        return _READINGS((self, as_shown(text)))

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The most valuable pieces that fit; encoded data is first replaced by its description."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        reading = self.reading(elide(text))
        chosen = excerpt(reading, room)
        if not chosen:
            start = reading.pieces[0].text if reading.pieces else text
            cut = fit.clip(start, room.tokens, room.count, mark="…")
            return Shrunk(cut, self.name, "all but its beginning")
        return Shrunk(writer(reading)(chosen), self.name, _omitted(reading, chosen))


# the same output is told in notes and shortened where it is recalled
_READINGS: Memo[tuple[LossyKind, str], Reading] = Memo(lambda key: key[0].read(key[1]))


def _omitted(reading: Reading, chosen: Sequence[int]) -> str:
    """What is left out, in units of the source, or in pieces if every unit is partly shown."""
    told = reached = 0
    for piece in (reading.pieces[number] for number in chosen):
        end = piece.at + piece.units
        told += max(0, end - max(reached, piece.at))
        reached = max(reached, end)
    if told < reading.total and reading.unit:
        return f"{reading.total - told:,} of {reading.total:,} {reading.unit}s"
    gone = len(reading.pieces) - len(chosen)
    return f"{gone:,} of {len(reading.pieces):,} parts" if gone else "unreadable data"


# samples of a long text, and the characters of each: half of them, or of these, recognise alike
_WINDOWS, _WIDE = 16, 4_000


def rows(text: str) -> list[str]:
    """The lines, without a byte-order mark and carriage returns at their ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


def sampled(text: str, windows: int = _WINDOWS, wide: int = _WIDE) -> str:
    """The text, or whole lines from evenly spaced places in it, each of ``wide`` characters."""
    if len(text) <= windows * wide:
        return text
    starts = [number * (len(text) - wide) // (windows - 1) for number in range(windows)]
    first, *rest = [text[start : start + wide] for start in starts]
    found = [first, *(window.partition("\n")[2] for window in rest)]
    return "\n".join(window.rpartition("\n")[0] or window for window in found)


class Prose(LossyKind):
    """Written language, and any text that no other kind fits."""

    name = "prose"

    def read(self, text: str) -> Reading:
        """Short neighbouring sentences together, long ones by clause; lines if it has lines."""
        if not text.strip():
            return Reading([Piece(f"[{len(text):,} characters of white space]", 0)], 1)
        if is_of_lines(text):
            return super().read(text)
        found = [sentence.strip() for sentence in sentences(text)]
        pieces: list[Piece] = []
        for at, sentence in enumerate(found):
            if pieces and _bytes(pieces[-1].text) + _bytes(sentence) <= LONGEST:
                last = pieces[-1]
                pieces[-1] = last._replace(text=f"{last.text} {sentence}", units=last.units + 1)
                continue
            *first, end = clauses(sentence) or [""]
            pieces += [Piece(part, at, 0) for part in first]
            pieces.append(Piece(end, at))
        return Reading(pieces, len(found), "sentence")


def _bytes(text: str) -> int:
    """The length of a text of any script, as tokens count it."""
    return len(text.encode("utf-8", "replace"))
