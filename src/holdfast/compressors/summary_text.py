"""The text of a summary: notes under headings, the user's words and exact details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.compressors.verification import Detail, bullets, chosen, listed, missing
from holdfast.selection.excerpt import order
from holdfast.text.fit import Count, choose, clip, fits
from holdfast.text.importance import signals
from holdfast.text.sentences import sentences

_AGEING = 0.8  # chosen by hand: the share of its value that a sentence keeps with each later text
_HEADING = "#"
_FENCE = "```"
_LEFT_OUT = "[… "
_MOST = 8  # texts that are kept apart; older ones are merged


class _Note(NamedTuple):
    """A sentence or a list item with its heading; ``age`` is the number of later texts."""

    heading: str
    text: str
    age: int


def joined(texts: Sequence[str]) -> str:
    """The notes as one text, by heading, oldest first, without repeats."""
    if len(texts) == 1:
        return texts[0]
    pieces = _pieces(texts)
    return _under_headings(pieces, range(len(pieces)))


def shortened(texts: Sequence[str], room: int, count: Count) -> str:
    """The notes as one text of at most ``room`` tokens.

    The most valuable sentences stay, and fewer of older notes.
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
    """The texts to store: the newest unchanged, older ones as one of at most ``room`` tokens."""
    if len(texts) <= _MOST:
        return tuple(texts)
    return shortened(texts[: 1 - _MOST], room, count), *texts[1 - _MOST :]


def _pieces(texts: Sequence[str]) -> list[_Note]:
    """Every piece once, by heading in order of first appearance."""
    sections: dict[str, dict[str, _Note]] = {}
    for age, text in zip(range(len(texts) - 1, -1, -1), texts, strict=True):
        for heading, body in _sections(text):
            section = sections.setdefault(heading, {})
            for piece in sentences(body + "\n"):
                section.setdefault(piece.strip(), _Note(heading, piece, age))
    return [piece for section in sections.values() for said, piece in section.items() if said]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading with the lines below it; the heading of lines above the first is empty."""
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
    """The chosen pieces under their headings, and the number left out."""
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
_SHARE = 4  # chosen by hand: share of the cap, as a divisor, for users' words and for details
_TRIES = 4  # each with less room, since joined parts may count more than apart


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a summary's text, oldest first; ``count`` is 0 if it is unknown."""

    count: int
    texts: tuple[str, ...]
    said: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


class Body(NamedTuple):
    """The text of a summary, and the details that fit."""

    text: str
    details: tuple[str, ...] = ()


def composed(parts: Parts, source: Sequence[Detail], cap: int, count: Count) -> Body:
    """The text of these parts, in at most ``cap`` tokens.

    Exact details of ``source`` that the parts lack are added. If not everything fits, sentences of
    the oldest text are dropped first.
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


def parsed(body: str) -> Parts:
    """The parts of a summary's text that came back; any other text is one part."""
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
    """The user's first texts and the newest, whole, as many as fit in ``room`` tokens."""
    distinct = list(dict.fromkeys(said))
    order = [0, *range(len(distinct) - 1, 0, -1)] if distinct else []
    return tuple(chosen(distinct, order, lambda some: _SAID + _quotations(some), room, count))


def _quotations(said: Sequence[str]) -> str:
    return "\n\n".join("\n".join(f"> {line}" for line in text.split("\n")) for text in said)


def _unquoted(said: str) -> list[str]:
    blocks = [block for block in said.strip("\n").split("\n\n") if block.startswith("> ")]
    return ["\n".join(line.removeprefix("> ") for line in block.split("\n")) for block in blocks]


def _lasting(lines: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """As many earlier details as fit: constraints before others, newer before older."""
    order = sorted(range(len(lines)), key=lambda n: (not signals(lines[n]).constrains, -n))
    return tuple(chosen(lines, order, bullets, room, count))
