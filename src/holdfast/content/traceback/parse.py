"""A text with stack traces, cut into sections: each stack with the errors that it led to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.content.frames import bare, is_frame

from .forms import Piece, Role, in_library, is_cause, is_detail, is_link

_VALUES = re.compile(r"0x[0-9a-f]+|goroutine \d+|\(\d+\) panicked")
_NUMBER = re.compile(r"(?m)^\s*(?:#?\d+:? +)?(?:0x[0-9a-f]+ (?:- |in ))?")
_BESIDE = re.compile(r"goroutine |Suppressed:")
_LONGEST_CYCLE, _FEWEST_ROUNDS = 8, 3
_INNERMOST_LAST = "most recent call last"


@dataclass(slots=True)
class Section:
    """One stack with its error; ``times`` the same stack stands in the text."""

    pieces: list[Piece] = field(default_factory=list[Piece])
    times: int = 1
    has_frames: bool = False
    innermost_last: bool = False
    """Whether the frame where it happened is the last, as in Python."""

    @property
    def beside(self) -> bool:
        """Whether it happened beside the failure: another thread, or while cleaning up."""
        return _BESIDE.match(bare(self.pieces[0].lines[0])) is not None

    def frames(self) -> list[Piece]:
        """Its frames, the innermost first."""
        frames = [piece for piece in self.pieces if piece.is_frame]
        return frames[::-1] if self.innermost_last else frames

    def add(self, piece: Piece) -> None:
        """The next piece of it."""
        self.pieces.append(piece)
        self.has_frames = self.has_frames or piece.is_frame
        self.innermost_last = self.innermost_last or _INNERMOST_LAST in piece.lines[0]

    def ends_with(self, piece: Piece) -> bool:
        """Whether an error that follows belongs to another stack."""
        if not self.has_frames:
            return False
        closed = not self.innermost_last or not self.pieces[-1].is_frame
        return closed or _INNERMOST_LAST in piece.lines[0]


def sections(lines: Sequence[str]) -> list[Section]:
    """The stacks in their order, each once; what stands between them belongs to the one before."""
    found = [Section()]
    for piece in _pieces(lines):
        if piece.role in {Role.CAUSE, Role.LINK} and found[-1].ends_with(piece):
            found.append(Section())
        found[-1].add(piece)
    known: dict[tuple[str, ...], Section] = {}
    for section in found:
        key = tuple(_VALUES.sub("0", line) for piece in section.pieces for line in piece.lines)
        if key in known:
            known[key].times += 1
        else:
            known[key] = section
    return [section for section in known.values() if section.pieces]


def _pieces(lines: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    blank = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not bare(line):
            blank = True
            continue
        last = pieces[-1] if pieces else Piece(Role.OTHER, [""])
        if last.is_frame and not blank and is_detail(line, last):
            last.lines.append(line)
        else:
            pieces.append(Piece(_role(line, following, last, blank=blank), [line]))
        blank = False
    frames = [piece for piece in pieces if piece.is_frame]
    libraries = [piece for piece in frames if in_library(piece)]
    if len(libraries) < len(frames):
        for piece in libraries:
            piece.role = Role.LIBRARY
    return _joined(pieces)


def _role(line: str, following: str, last: Piece, *, blank: bool) -> Role:
    if is_frame(line, following):
        return Role.OWN
    if is_link(line):
        return Role.LINK
    if is_cause(line):
        return Role.CAUSE
    says_nothing = not any(map(str.isalnum, line))
    return Role.OTHER if blank or says_nothing or last.role is Role.OTHER else Role.MESSAGE


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The first round of frames that come again and again, as deep recursion leaves them, for all rounds."""
    keys = [_NUMBER.sub("", "\n".join(piece.lines)) if piece.is_frame else None for piece in pieces]
    joined: list[Piece] = []
    at = 0
    while at < len(pieces):
        size, rounds = _cycle(keys, at)
        joined.extend(pieces[at : at + size])
        if rounds > 1:
            joined[-1].frames += size * (rounds - 1)
            joined[-1].repeats = f"  (×{rounds})" if size == 1 else f"  (these {size} frames ×{rounds})"
        at += size * rounds
    return joined


def _cycle(keys: Sequence[str | None], at: int) -> tuple[int, int]:
    """How many frames from here on come again, and how often they stand in a row."""
    for size in range(1, _LONGEST_CYCLE + 1):
        if None in keys[at : at + size]:
            break
        rounds = 1
        while keys[at : at + size] == keys[at + rounds * size : at + (rounds + 1) * size]:
            rounds += 1
        if rounds >= _FEWEST_ROUNDS:
            return size, rounds
    return 1, 1
