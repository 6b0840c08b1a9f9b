"""Notes under headings: several of them as one, and as much of that as fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.compressors.verification import Count
from holdfast.text.fit import choose, clip, fits
from holdfast.text.question import Question
from holdfast.text.salience import order
from holdfast.text.sentences import sentences

_AGEING = 0.8  # what is left of a sentence's worth with each text that was written after it
_HEADING = "#"
_FENCE = "```"
_LEFT_OUT = "[… "
_MOST = 8  # texts that are told apart: older ones are one


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence or an item with the heading under which it stands; ``age`` counts the texts that came later."""

    heading: str
    text: str
    age: int


def joined(texts: Sequence[str]) -> str:
    """The notes as one: what they say under the same heading stands together, oldest first, nothing twice."""
    if len(texts) == 1:
        return texts[0]
    pieces = _pieces(texts)
    return _written(pieces, range(len(pieces)))


def shortened(texts: Sequence[str], room: int, count: Count) -> str:
    """The notes as one, in at most so many tokens: the most telling sentences stay, of older notes fewer."""
    whole = joined(texts) if texts else ""
    if fits(whole, room, count):
        return whole
    pieces = _pieces(texts)
    ranked = order([piece.text for piece in pieces], Question.of(""), weights=[_AGEING**p.age for p in pieces])
    sizes = [len(piece.text) + len(piece.heading) // 2 for piece in pieces]
    choice = choose(ranked, sizes, lambda chosen: _written(pieces, chosen), room, count)
    return choice.text if choice else clip(pieces[ranked[0]].text if ranked else whole, room, count, mark="…")


def settled(texts: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """The texts to be kept: the newest as they are, all older ones as one of at most so many tokens."""
    if len(texts) <= _MOST:
        return tuple(texts)
    return shortened(texts[: 1 - _MOST], room, count), *texts[1 - _MOST :]


def _pieces(texts: Sequence[str]) -> list[_Piece]:
    """Every piece once, by headings in the order in which they first stand."""
    sections: dict[str, dict[str, _Piece]] = {}
    for age, text in zip(range(len(texts) - 1, -1, -1), texts, strict=True):
        for heading, body in _sections(text):
            section = sections.setdefault(heading, {})
            for piece in sentences(body + "\n"):
                section.setdefault(piece.strip(), _Piece(heading, piece, age))
    return [piece for section in sections.values() for said, piece in section.items() if said]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading with the lines below it; empty for what stands above the first."""
    heading, lines, fenced = "", list[str](), False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(_FENCE)
        if line.startswith(_HEADING) and not fenced:
            yield heading, "\n".join(lines)
            heading, lines = line.strip(), []
        elif not line.startswith(_LEFT_OUT):
            lines.append(line)
    yield heading, "\n".join(lines)


def _written(pieces: Sequence[_Piece], chosen: Sequence[int]) -> str:
    """The chosen pieces under their headings, and how many are left out."""
    written: list[str] = []
    heading = ""
    for n in chosen:
        piece = pieces[n]
        if piece.heading != heading:
            heading = piece.heading
            written.append(f"\n{heading}\n")
        written.append(piece.text)
    left_out = len(pieces) - len(chosen)
    text = "\n".join(line for line in "".join(written).splitlines() if line.strip())
    return (
        f"{text}\n{_LEFT_OUT}{left_out:,} of {len(pieces):,} sentences of these notes left out]"
        if left_out
        else text
    )
