"""Dense text: minified scripts and styles, base64, hex dumps, any lines that hardly have white space."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text.fit import clip, fill, fits, head_tail
from holdfast.text.opaque import LEAST, elide, media_type
from holdfast.text.question import Question

from .lossy import Lossy, Read
from .shares import sampled

_SAMPLE = 200_000  # characters from the beginning that tell the language
_LONG_LINE = 400  # characters
_SPACES = (
    0.09  # share of white space in a line: minified code has 3 to 6 %, English 17 %, ordinary code 20 % and more
)
_BLOCK = re.compile(r"[A-Za-z0-9+/=_-]{32,}")  # one line of wrapped base64 or hexadecimal
_DUMP_ROW = re.compile(r"[0-9a-fA-F]{6,16}[:*]?\s{1,4}(?:[0-9a-fA-F]{2,8}\s{1,3}){4,}")  # of xxd, hexdump, od -x
_DUMPED = re.compile(r"[0-9a-fA-F]{6,16}:?\s{1,4}((?:[0-9a-fA-F]{2,4}\s{1,2}){4,16})")

_HARDLY_ANY = 100  # a text of which less than one part in so many can be read is opaque
_ENDS = 32, 16  # characters that are shown of an opaque text's beginning and end
_SMALLEST_CELL, _LARGEST_CELL = 32, 160  # characters that are kept or left out together
_FIRST_ASKED = 4  # cells of what is asked that go before the ends
_CELLS = 4  # that fit at least
_REACH = 40  # characters around a term that are kept with it
_TAIL_EVERY = 4  # of so many cells at the ends, one is of the end
_MOST_HITS = 1_000  # places of one term that are looked at
_CHARACTERS_A_TOKEN = 6  # at most, in dense text
_SCRIPT = re.compile(r"function\b|=>|\b(?:var|let|const|return)\b")
_STYLE = re.compile(r"[.#\w\]-]\{[a-z-]{2,30}:[^{}]{1,200}\}")


class Dense(Lossy, Read):
    """Text that was not made for reading; its ends and what the question names are enough to know it by."""

    name = "dense"

    def fit(self, text: str) -> float:
        """The share of the characters in long lines with hardly any white space, or in a dump of bytes."""
        if not text or _is_dump(text):
            return float(bool(text))
        sample = sampled(text)
        lines = sample.splitlines()
        dense = sum(
            len(line) for line in lines if len(line) >= _LONG_LINE and _spaces(line) <= _SPACES * len(line)
        )
        blocks = sum(len(line) + 1 for line in lines if _BLOCK.fullmatch(line)) if len(sample) >= LEAST else 0
        return min(1.0, max(dense, blocks) / len(sample))

    def shrink(self, text: str, room: Room) -> Shrunk:
        """What it is and how long, its beginning and end, and the places that the question names."""
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        if _is_dump(text):
            return self._rows(text, room)
        readable = elide(text)
        if len(readable) <= LEAST or len(readable) * _HARDLY_ANY < len(text):
            return self._named(text, readable.strip(), room)
        return self._cells(readable, room)

    def _named(self, text: str, readable: str, room: Room) -> Shrunk:
        """What is opaque as what it is, with its ends if it is all there is."""
        ends = f"{text[: _ENDS[0]]}… {readable} …{text[-_ENDS[1] :].strip()}"
        alone = readable.startswith("[") and readable.endswith("]")
        shown = ends if alone and room.count(ends) <= room.tokens else readable
        return Shrunk(
            clip(shown, room.tokens, room.count, mark="…"), self.name, f"all but {readable[:_LARGEST_CELL]}"
        )

    def _rows(self, text: str, room: Room) -> Shrunk:
        first = _DUMPED.match(text)
        kind = media_type(bytes.fromhex("".join(first[1].split()))[:16]) if first else ""
        notice = f"[hex dump of {kind or 'data'}, {text.count(chr(10)) + 1:,} rows]\n"
        rows = head_tail(text, room.tokens - room.count(notice) - 1, room.count)
        shown = clip(notice + rows, room.tokens, room.count, mark="…")
        return Shrunk(shown, self.name, f"most rows of a hex dump of {kind or 'data'}")

    def _cells(self, text: str, room: Room) -> Shrunk:
        grid = _Grid(text, min(_LARGEST_CELL, max(_SMALLEST_CELL, room.tokens // _CELLS)))
        what = f"{_language(text)}, {len(text):,} characters"
        asked = grid.asked(Question.of(room.question))
        ends = grid.ends(room.tokens * _CHARACTERS_A_TOKEN)
        ranked = list(dict.fromkeys((*asked[:_FIRST_ASKED], *ends[:3], *asked, *ends)))
        cells = sorted(ranked)
        places = {cell: place for place, cell in enumerate(cells)}

        def written(chosen: Sequence[int]) -> str:
            return f"[{what}]\n{grid.written([cells[place] for place in chosen])}"

        order = [places[cell] for cell in ranked]
        shown = fill(order, [grid.cell] * len(cells), written, room.tokens, room.count)
        if shown is None:
            shown = clip(f"[{what}] {text}", room.tokens, room.count, mark="…")
        return Shrunk(shown, self.name, f"most of {what}")


@dataclass(frozen=True, slots=True)
class _Grid:
    """A text in cells of so many characters, each kept or left out as a whole."""

    text: str
    cell: int

    def ends(self, reach: int) -> list[int]:
        """Cells from both ends inwards, of the beginning more than of the end, as far as they can fit."""
        last = (len(self.text) - 1) // self.cell
        most = reach // self.cell + 2
        heads = list(range(min(last + 1, most)))
        tails = range(last, max(last - most, -1), -1)
        for turn, tail in enumerate(tails, start=1):
            heads.insert(turn * _TAIL_EVERY, tail)
        return list(dict.fromkeys((0, last, max(last - 1, 0), *heads)))  # the last one may be hardly a cell

    def asked(self, question: Question) -> list[int]:
        """The cells that hold what is asked, best first."""
        low = self.text.lower()
        cells = {
            max(0, place + reach) // self.cell
            for term in question.terms
            for place in islice(_finds(low, term.needle), _MOST_HITS)
            for reach in (-_REACH, 0, _REACH, 2 * _REACH)
        }
        scores = {cell: question.score(self._around(cell)) for cell in cells if cell * self.cell < len(self.text)}
        return sorted(
            (cell for cell, score in scores.items() if score > 0), key=lambda cell: (-scores[cell], cell)
        )

    def written(self, cells: Sequence[int]) -> str:
        """The cells, with how much is left out where one does not follow the other."""
        parts: list[str] = []
        at = 0
        for cell in cells:
            start = cell * self.cell
            if start > at:
                parts.append(f" […{start - at:,} characters…] ")
            parts.append(self.text[start : start + self.cell])
            at = start + self.cell
        if at < len(self.text):
            parts.append(f" […{len(self.text) - at:,} characters…]")
        return "".join(parts)

    def _around(self, cell: int) -> str:
        return self.text[max(0, cell * self.cell - _REACH) : (cell + 1) * self.cell + _REACH]


def _spaces(line: str) -> int:
    return sum(map(line.count, " \t"))


def _is_dump(text: str) -> bool:
    rows = text[:_SAMPLE].split("\n", 20)[:20]
    dumped = sum(_DUMP_ROW.match(row) is not None for row in rows)
    return len(rows) > 2 and dumped >= len(rows) - 2


def _language(text: str) -> str:
    sample = text[:_SAMPLE]
    script, style = len(_SCRIPT.findall(sample)), len(_STYLE.findall(sample))
    if max(script, style) < 3:
        return "dense text"
    return "minified JavaScript" if script > style else "minified CSS"


def _finds(text: str, needle: str) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + len(needle))
