"""The content kind ``traceback``: why something failed, and where in the program's own code."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from holdfast.content.excerpt import asked, counted, excerpt
from holdfast.content.frames import is_frame
from holdfast.content.lossy import Lossy
from holdfast.content.shares import enough
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.question import Question

from .forms import Piece, Role, is_cause
from .parse import Section, sections

_LOOKED_AT = 40_000  # characters that tell whether a text is a stack trace
_FEWEST = 2  # frames
_FRAMES = 0.2  # of the lines: with fewer frames the text is of another kind that holds a trace
_TIMED_LINES = 0.2  # of the lines: with more times in front it is a log
_NEAREST = 3  # own frames of each stack that come before those farther from the failure

_MOST_WRAPPED = 4
_TRIFLE = re.compile(r"\W*+(?:\d+\W*+)?|\s*\.\.\. \d+ \w+|#\d+ \{main\}")  # lines that no reader misses
_TIMED = re.compile(r"\W?\d{2,4}[-/.]\d\d?[-/.]\d\d|\W?\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:")
_TEST_RUN = re.compile(
    r"(?m)^(?:Ran \d+ tests? in |test result: |Tests?: +\d|={3,}+[^=\n]{1,200} in [\d.]+s"
    r"|(?:FAIL|ok)[ \t]+\S{1,200}[ \t]+[\d.]+s|[ \t]{1,20}\d+ (?:passing|failing)|not ok \d"
    r"|.{0,20}Tests run: |# (?:fail|pass) \d)"
)


class Traceback(Lossy):
    """One or more stack traces; what is left is every error, and the frames nearest to it, own code first."""

    name = "traceback"

    def recognises(self, text: str) -> bool:
        """Whether errors and frames make up much of the text, and it is no test run and no log."""
        if "\n" not in text:
            return False
        lines = [line for line in text[:_LOOKED_AT].replace("\r\n", "\n").split("\n") if line.strip()]
        pairs = list(pairwise((*lines, "")))
        frames = enough(pairs, lambda pair: is_frame(*pair), max(_FEWEST, _FRAMES * len(lines)))
        if not frames or not any(map(is_cause, lines)):
            return False
        timed = sum(_TIMED.match(line) is not None for line in lines)
        return timed <= _TIMED_LINES * len(lines) and _TEST_RUN.search(text) is None

    def shrink(self, text: str, room: Room) -> Shrunk:
        """Every error with its message, then the frames nearest to the failure, own code before libraries."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        found = sections(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"))
        pieces = [piece for section in found for piece in section.pieces]
        texts = [text for section in found for text in _texts(section)]
        order = _order(found, pieces, Question.of(room.question))
        choice = excerpt(texts, order, room, lambda start, end: _gap(pieces[start:end]))
        if choice is None:
            best = fit.clip(texts[order[0]].strip() if order else text, room.tokens, room.count, mark="…")
            return Shrunk(best, self.name, "all but one line")
        kept = set(choice.pieces)
        left_out = [piece for at, piece in enumerate(pieces) if at not in kept]
        return Shrunk(choice.text, self.name, _gap(left_out).strip(" …"))


def _texts(section: Section) -> Iterator[str]:
    for at, piece in enumerate(section.pieces):
        again = f"  (this stack ×{section.times})" if section.times > 1 and at == 0 else ""
        yield piece.text() + again


def _order(found: Sequence[Section], pieces: Sequence[Piece], question: Question) -> list[int]:
    """The pieces' numbers: errors of the first and the deepest stack, then of the others; then by nearness."""
    worth = asked(question, [piece.text() for piece in pieces])
    last = max((number for number, section in enumerate(found) if not section.beside), default=0)
    ranks: list[tuple[float, ...]] = []
    told: set[str] = set()
    for number, section in enumerate(found):
        frames = section.frames()
        nearness = {id(piece): at for at, piece in enumerate(frames)}
        own = [id(piece) for piece in frames if piece.role is Role.OWN]
        for at, piece in enumerate(section.pieces):
            tier = _tier(piece, own, nearness.get(id(piece), 0), told)
            ranks.append((tier, number not in {0, last}, section.beside, nearness.get(id(piece), -at), number))
            if piece.role is Role.CAUSE:
                told.update(_messages(piece.lines[0]))
    telling = [at for at, piece in enumerate(pieces) if not _TRIFLE.fullmatch(piece.lines[0])]
    return sorted(telling, key=lambda at: (ranks[at][0] > 0 and not worth[at], ranks[at]))


def _messages(error: str) -> Iterator[str]:
    """What an error says after each of its first colons: a wrapper repeats the message of what it wraps."""
    for _ in range(_MOST_WRAPPED):
        error = error.partition(": ")[2]
        if error:
            yield error


def _tier(piece: Piece, own: Sequence[int], nearness: int, told: Container[str]) -> int:
    """How early a piece is told; 0 is an error that no earlier one has told."""
    if piece.role is Role.CAUSE:
        return 3 if any(message in told for message in _messages(piece.lines[0])) else 0
    if piece.role is Role.MESSAGE:
        return 2
    if id(piece) in own[:1]:
        return 1
    if id(piece) in own[:_NEAREST] or (piece.is_frame and nearness == 0):
        return 3
    if piece.role is Role.LINK or id(piece) in own[-1:]:
        return 4
    if piece.role is Role.OTHER:
        return 4 if alarm(piece.text()) >= TROUBLE else 6
    return 5 if piece.role is Role.OWN else 6


def _gap(left_out: Sequence[Piece]) -> str:
    frames = sum(piece.frames for piece in left_out if piece.is_frame)
    lines = sum(len(piece.lines) for piece in left_out if not piece.is_frame)
    return f"… {counted(frames, 'frame') if frames else counted(lines, 'line')} …"
