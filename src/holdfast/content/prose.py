"""Prose: whole sentences, or whole lines of what is no prose, the most telling ones, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from holdfast.kernel.ports import Room, Shrunk
from holdfast.text.fit import choose, clip, fits
from holdfast.text.lines import is_of_lines, lines
from holdfast.text.opaque import elide
from holdfast.text.question import Question
from holdfast.text.salience import order
from holdfast.text.sentences import sentences

from .lossy import Lossy

_GAPS = {"sentences": "[…]", "lines": "…"}
_LONGEST = 600  # characters of a piece; what has no end by then is cut at white space
_SHARES = 2  # a piece takes at most one part in so many of the room, so that more than one thing is said
_SHORTEST = 280  # characters below which no piece is cut for that
_LABEL = 24  # characters; a shorter piece says nothing by itself
_HEADING = re.compile(r"\s*(?:#{1,6}\s[^\n]*|(?:[^\W_]{1,3}[.)]\s)?[^\s.!?:;,#-][^.!?:\n]{2,60}\n)\s*")
_CHARACTERS_A_TOKEN = 4
_TOKENS_A_PIECE = 6  # the fewest that a chosen piece is expected to take
_SAMPLE = 4_000  # characters by which a text is recognised
_LETTERS = 0.6  # share of letters and spaces in written language
_LONGEST_WORD = 14.0  # characters a word, on average; more is not written language


class Prose(Lossy):
    """Written language, and the kind of any text that is of no other kind."""

    name = "prose"

    def recognises(self, text: str) -> bool:
        """Whether the text consists of words, for the most part."""
        sample = text[:_SAMPLE]
        plain = sum(map(len, re.findall(r"[^\W\d_]+|\s+", sample)))
        runs = sample.split()
        return bool(runs) and plain >= _LETTERS * len(sample) and len(sample) <= _LONGEST_WORD * len(runs)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The sentences that say most, above all to the question; ``[…]`` stands where any is left out."""
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        text = elide(text)
        if fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, "the content of encoded data")
        if not text.strip():
            blank = clip(f"[{len(text):,} characters of white space]", room.tokens, room.count, mark="…")
            return Shrunk(blank, self.name, "white space")
        limit = max(_SHORTEST, min(_LONGEST, room.tokens * _CHARACTERS_A_TOKEN // _SHARES))
        noun, found = ("lines", lines(text)) if is_of_lines(text) else ("sentences", _joined(sentences(text)))
        pieces = [part for piece in found for part in _parts(piece, limit, limit // 3)]
        ranked = order(pieces, Question.of(room.question), room.tokens // _TOKENS_A_PIECE + 1)
        sizes = [len(piece) for piece in pieces]
        choice = choose(ranked, sizes, lambda chosen: _written(pieces, chosen, noun), room.tokens, room.count)
        if choice is not None:
            left_out = len(pieces) - len(choice.pieces)
            return Shrunk(choice.text, self.name, f"{left_out:,} of {len(pieces):,} {noun}")
        best = clip(pieces[ranked[0]].strip(), room.tokens, room.count, mark="…")
        return Shrunk(best, self.name, f"all but the beginning of one of {len(pieces):,} {noun}")


def _joined(pieces: Sequence[str]) -> Iterator[str]:
    """The sentences; a word or two in front of one (``Hotels.``, ``1.``) belong to it."""
    label = ""
    for piece in pieces:
        label += piece
        if len(label.strip()) >= _LABEL or "\n" in label:
            yield label
            label = ""
    if label:
        yield label


def _parts(sentence: str, longest: int, part: int) -> list[str]:
    """The sentence, cut at white space into parts of so many characters if it is far too long to be one."""
    if len(sentence) <= longest:
        return [sentence]
    return [cut.group() for cut in re.finditer(rf"(?s).{{1,{part}}}(?:(?<=\s)|\Z)|\S{{{part}}}|.", sentence)]


def _written(pieces: Sequence[str], chosen: Sequence[int], noun: str) -> str:
    """The chosen pieces with a mark in each gap, and a last line that says how many are left out."""
    told: list[str] = []
    following = 0
    for place in chosen if noun == "lines" else list(_without_empty_headings(pieces, chosen)) or chosen:
        if place > following:
            told.append(_GAPS[noun] + _white(pieces[place - 1]))
        told.append(pieces[place])
        following = place + 1
    left_out = len(pieces) - len(chosen)
    written = "".join(told).rstrip()
    return f"{written}\n[… {left_out:,} of {len(pieces):,} {noun} left out]" if left_out else written


def _without_empty_headings(pieces: Sequence[str], chosen: Sequence[int]) -> Iterator[int]:
    """The chosen pieces, but no heading below which nothing is kept."""
    for place, following in zip_longest(chosen, chosen[1:]):
        below = following is not None and not _HEADING.fullmatch(pieces[following])
        if below or not _HEADING.fullmatch(pieces[place]):
            yield place


def _white(piece: str) -> str:
    """The white space with which the piece ends, so that paragraphs stay apart across a gap."""
    space = piece[len(piece.rstrip()) :]
    return "\n" if "\n" in space else " "
