"""The content kind ``testrun``: what failed and why, what the compiler says, and the outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from holdfast.content.excerpt import asked, counted, excerpt
from holdfast.content.lossy import Lossy
from holdfast.kernel.ports import Room, Shrunk
from holdfast.text import fit
from holdfast.text.importance import TROUBLE, alarm
from holdfast.text.memo import Memo
from holdfast.text.question import Question

from .forms import Role, is_decisive
from .parse import Piece, pieces

_LOOKED_AT = 6_000  # characters at each end by which a text is recognised
_FEWEST = 3  # telling lines
_TOLD, _COVERED = 0.1, 0.7  # of the lines tell, where an outcome is told and where none is
_LEADING = frozenset({Role.FAILED, Role.ERROR, Role.WARNING, Role.PASSED})
_MARKS = re.compile(
    r"\(.*?\)|\.\.\. \w+| - .*|\b(?:FAILED|ERRORS?|FAIL|not ok \d+|stdout|test)\b|[^\w\s:.\[\]/]|_{2,}|\s+"
)


class TestRun(Lossy):
    """Test runs, builds, type checks and lints; what passed is counted, not listed."""

    __test__ = False  # pytest collects what is called so
    name = "testrun"

    def recognises(self, text: str) -> bool:
        """Whether an outcome is told along with lines that lead to it, or diagnostics make up much of the text."""
        looked_at = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
        if looked_at.count("\n") + 1 < _FEWEST or not any(map(is_decisive, _lines(looked_at))):
            return False
        found = _PIECES(looked_at)
        roles = [piece.role for piece in found]
        telling = len(roles) - roles.count(Role.OTHER)
        if Role.SUMMARY in roles and any(role in _LEADING for role in roles):
            return telling >= max(_FEWEST, _TOLD * len(roles))
        placed = sum(len(piece.spots) for piece in found if any(piece.spots) or len(piece.lines) > 1)
        return placed >= _FEWEST and telling >= _COVERED * len(roles)

    def shrink(self, text: str, room: Room) -> Shrunk:
        """The outcome, the failures with their reasons, errors before warnings, each warning once."""
        if fit.fits(text, room.tokens, room.count):
            return Shrunk(text, self.name, lossless=True)
        found = _PIECES(text)
        texts = [piece.text() for piece in found]
        order = _order(found, texts, Question.of(room.question))
        choice = excerpt(texts, order, room, lambda start, end: _gap(found[start:end]))
        if choice is None:
            best = fit.clip(texts[order[0]].strip() if order else text, room.tokens, room.count, mark="…")
            return Shrunk(best, self.name, "all but one line")
        kept = set(choice.pieces)
        left_out = [piece for at, piece in enumerate(found) if at not in kept]
        omitted = _gap(left_out).strip(" …") if left_out else "equal diagnostics, counted"
        return Shrunk(choice.text, self.name, omitted)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


_PIECES: Memo[str, Sequence[Piece]] = Memo(
    lambda text: pieces(_lines(text)), lambda text, found: 2 * len(text) + 200 * len(found), characters=4_000_000
)
"""A run is read where it is recognised, and again wherever it is shrunk."""


def _order(found: Sequence[Piece], texts: Sequence[str], question: Question) -> list[int]:
    """The pieces' numbers: the outcome, failures, errors, their reasons, warnings; what passed only if asked."""
    worth = asked(question, texts)
    again = _told_again(found)
    reasons: dict[int, int] = {}
    tiers: list[float] = []
    for at, piece in enumerate(found):
        tier = float(_TIERS[piece.role])
        if piece.block in again and piece.role is not Role.SUMMARY:
            tier = max(tier, _TIERS[Role.DETAIL])
        elif piece.role is Role.REASON:
            reasons[piece.block] = reasons.get(piece.block, 0) + 1
            tier += min(1.0, 0.25 * (reasons[piece.block] - 1))
        elif piece.role is Role.OTHER and alarm(texts[at]) >= TROUBLE:
            tier = _TIERS[Role.PLACE]
        tiers.append(tier)
    telling = [at for at, piece in enumerate(found) if piece.role is not Role.PASSED or worth[at]]
    return sorted(telling, key=lambda at: (tiers[at] > 0 and not worth[at], tiers[at], -len(found[at].spots), at))


def _told_again(found: Sequence[Piece]) -> set[int]:
    """The blocks that name a failed test which another block explains."""
    explained = {piece.block for piece in found if piece.role is Role.REASON}
    failed = [piece for piece in found if piece.role is Role.FAILED]
    first: dict[str, int] = {}
    for piece in sorted(failed, key=lambda piece: piece.block not in explained):
        first.setdefault(_name(piece.lines[0]), piece.block)
    return {piece.block for piece in failed if first[_name(piece.lines[0])] != piece.block}


_TIERS = {
    Role.SUMMARY: 0,
    Role.FAILED: 1,
    Role.ERROR: 1,
    Role.REASON: 2,
    Role.PLACE: 3,
    Role.WARNING: 4,
    Role.DETAIL: 5,
    Role.OTHER: 6,
    Role.PASSED: 7,
}


@lru_cache(maxsize=1 << 12)
def _name(line: str) -> str:
    """The name of a test, however the runner writes it."""
    words = _MARKS.sub(" ", line).split()
    return words[-1].rpartition("::")[2] if words else line


def _gap(left_out: Sequence[Piece]) -> str:
    passed = others = 0
    for piece in left_out:
        if piece.role is Role.PASSED:
            passed += len(piece.lines)
        else:
            others += len(piece.lines)
    parts = [counted(passed, "line") + " that passed"] if passed else []
    parts += [counted(others, "other line" if passed else "line")] if others else []
    return f"… {', '.join(parts)} …"
