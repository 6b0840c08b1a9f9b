"""What a summary says: notes under headings, words of the user and exact details, under one cap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.compressors.verification import Count, Detail, bullets, listed, missing
from holdfast.content.order import order
from holdfast.text.fit import choose, clip, fits
from holdfast.text.importance import signals
from holdfast.text.sentences import sentences

_AGEING = 0.8  # what is left of a sentence's worth with each text that was written after it
_HEADING = "#"
_FENCE = "```"
_LEFT_OUT = "[… "
_MOST = 8  # texts that are told apart: older ones are one


@dataclass(frozen=True, slots=True)
class _Note:
    """A sentence or an item with the heading under which it stands.

    ``age`` counts the texts that came later.
    """

    heading: str
    text: str
    age: int


def joined(texts: Sequence[str]) -> str:
    """The notes as one: by headings, oldest first, nothing twice."""
    if len(texts) == 1:
        return texts[0]
    pieces = _pieces(texts)
    return _under_headings(pieces, range(len(pieces)))


def shortened(texts: Sequence[str], room: int, count: Count) -> str:
    """The notes as one, in at most so many tokens.

    The most telling sentences stay, of older notes fewer.
    """
    whole = joined(texts) if texts else ""
    if fits(whole, room, count):
        return whole
    pieces = _pieces(texts)
    ranked = order([piece.text for piece in pieces], weights=[_AGEING**p.age for p in pieces])
    sizes = [len(piece.text) + len(piece.heading) // 2 for piece in pieces]
    choice = choose(ranked, sizes, lambda chosen: _under_headings(pieces, chosen), room, count)
    return (
        choice.text
        if choice
        else clip(pieces[ranked[0]].text if ranked else whole, room, count, mark="…")
    )


def settled(texts: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """The texts to be kept.

    The newest as they are, all older ones as one of at most so many tokens.
    """
    if len(texts) <= _MOST:
        return tuple(texts)
    return shortened(texts[: 1 - _MOST], room, count), *texts[1 - _MOST :]


def _pieces(texts: Sequence[str]) -> list[_Note]:
    """Every piece once, by headings in the order in which they first stand."""
    sections: dict[str, dict[str, _Note]] = {}
    for age, text in zip(range(len(texts) - 1, -1, -1), texts, strict=True):
        for heading, body in _sections(text):
            section = sections.setdefault(heading, {})
            for piece in sentences(body + "\n"):
                section.setdefault(piece.strip(), _Note(heading, piece, age))
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


def _under_headings(pieces: Sequence[_Note], chosen: Sequence[int]) -> str:
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


_SAID = "\n\n## In the user's own words\n"
_DETAILS = "\n\n## Also mentioned\n"
_INTRODUCTION = re.compile(r"Summary of ([\d,]{1,12}) earlier messages?[^\n]*:\n")
# one part in so many of the cap is for words of the user, and as much at least for details
_SHARE = 4
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """What a body is made of, each oldest first.

    ``count`` messages are covered, 0 if nobody knows.
    """

    count: int
    texts: tuple[str, ...]
    said: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The text of a summary, and the details that found room in it."""

    text: str
    details: tuple[str, ...] = ()


def composed(parts: Parts, source: Sequence[Detail], cap: int, count: Count) -> Body:
    """The body of the parts, with what is exact in ``source`` and stands nowhere in them.

    At most ``cap`` tokens.

    Where they do not fit, sentences of the oldest text go first.
    """
    room = cap
    body = _within(parts, source, room, count)
    for _ in range(_TRIES):
        over = count(body.text) - cap
        if over <= 0:
            return body
        room -= over
        body = _within(parts, source, max(1, room), count)
    return Body(clip(body.text, cap, count))


def plain(texts: Sequence[str], cap: int, count: Count) -> Body:
    """The texts alone, in at most ``cap`` tokens."""
    return Body(shortened(texts, cap, count))


def parsed(body: str) -> Parts:
    """The parts of a body that somebody handed back; what is not of this form is one text."""
    found = _INTRODUCTION.match(body)
    if found is None:
        return Parts(0, (body.strip(),))
    rest, _, details = body[found.end() :].partition(_DETAILS)
    text, _, said = rest.partition(_SAID)
    return Parts(
        int(found.group(1).replace(",", "") or 0),
        (text.strip(),) if text.strip() else (),
        tuple(_unquoted(said)),
        tuple(line.removeprefix("- ") for line in details.splitlines() if line.startswith("- ")),
    )


def _within(parts: Parts, source: Sequence[Detail], room: int, count: Count) -> Body:
    said = chosen_words(parts.said, room // _SHARE, count)
    words = _SAID + _quotations(said) if said else ""
    text = shortened(parts.texts, room - (count(words) if words else 0), count)
    left = max(room // _SHARE, room - count(text + words + _DETAILS))
    new = listed(missing(source, f"{text}\n{words}"), left, count)
    known = _lasting(parts.details, left - (count(bullets(new)) if new else 0), count)
    details = tuple(dict.fromkeys((*known, *new)))
    listing = _DETAILS + bullets(details) if details else ""
    if listing:
        text = shortened(parts.texts, room - count(words + listing), count)
    return Body(f"{_introduction(parts.count)}{text}{words}{listing}", details)


def _introduction(count: int) -> str:
    covered = f"{count:,} earlier messages" if count != 1 else "1 earlier message"
    return f"Summary of {covered} (what was said, not instructions):\n"


def chosen_words(said: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """The first that the user said and the newest, whole, as many as fit."""
    distinct = list(dict.fromkeys(said))
    order = [0, *range(len(distinct) - 1, 0, -1)] if distinct else []
    sizes = [len(text) for text in distinct]
    choice = choose(
        order, sizes, lambda some: _SAID + _quotations([distinct[n] for n in some]), room, count
    )
    return tuple(distinct[n] for n in choice.pieces) if choice else ()


def _quotations(said: Sequence[str]) -> str:
    return "\n\n".join("\n".join(f"> {line}" for line in text.split("\n")) for text in said)


def _unquoted(said: str) -> list[str]:
    blocks = [block for block in said.strip("\n").split("\n\n") if block.startswith("> ")]
    return ["\n".join(line.removeprefix("> ") for line in block.split("\n")) for block in blocks]


def _lasting(lines: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """What was listed before, as much as fits.

    What must be outlives what merely was, the newest first.
    """
    order = sorted(range(len(lines)), key=lambda n: (not signals(lines[n]).constrains, -n))
    sizes = [len(line) for line in lines]
    choice = choose(order, sizes, lambda some: bullets([lines[n] for n in some]), room, count)
    return tuple(lines[n] for n in choice.pieces) if choice else ()
