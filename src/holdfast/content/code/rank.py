"""Which parts of a source text are worth keeping, the best first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.text.question import Question

from .outline import MODULE, Outline, Part, Role

_ABOUT = 0.5  # of the best score: a declaration that comes near it is what the question is about, too
_NAMED = 2.0  # a term in the signature counts for so many in the body
_HIDDEN_LESS = 0.5  # levels
_SHORT = 4  # lines: constants, not tables
_HIDDEN = re.compile(r"\b(?:def|fn|func|function)\s+_(?!_)|\bprivate\b|\btest_")

Place = tuple[int, float, float, int]
"""The tier of a part and its place in it, less is better: minus the score or the depth, the role, the line."""


def ranked(lines: Sequence[str], outline: Outline, question: Question) -> list[int]:
    """The indexes of the parts: what the question is about, what declares, members; short bodies before long."""
    texts = ["\n".join(lines[part.start : part.end + 1]) for part in outline.parts]
    asked = question.scores(texts) if question else [0.0] * len(texts)
    best = max(asked, default=0.0)
    about = _about(outline, asked)
    first = max(about, key=lambda owner: about[owner]) if about else MODULE
    around = set(outline.path(first))
    depths = {owner: len(outline.path(owner)) for owner in range(MODULE, len(outline.declarations))}

    def place(index: int) -> Place:
        part = outline.parts[index]
        depth = depths[part.owner]
        if part.role == Role.SIGNATURE:
            hidden = _HIDDEN.search(texts[index]) is not None
            level = 0 if part.owner in about else depth + _HIDDEN_LESS * hidden
            return (0, 0, 0, part.start) if part.owner in around else (2, level, 0, part.start)
        if part.owner in about and part.role < Role.COMMENT:
            tier = 1 if part.owner == first else 3
            return (tier, -about[part.owner], -asked[index], part.start)
        if part.owner == MODULE and asked[index] >= _ABOUT * best > 0:
            return (1, -asked[index], 0, part.start)
        if part.owner == MODULE and (part.role == Role.DOC or _is_constant(part)):
            return (2, 2, 1, part.start)
        if part.role in {Role.DOC, Role.IMPORT, Role.MEMBER}:
            return (4, depth, part.role, part.start)
        return (5 + (part.role == Role.COMMENT), -asked[index], outline.length(part.owner), part.start)

    return sorted(range(len(outline.parts)), key=place)


def _is_constant(part: Part) -> bool:
    return part.role == Role.MEMBER and part.end - part.start < _SHORT


def _about(outline: Outline, asked: Sequence[float]) -> dict[int, float]:
    """The declarations that the question is about: by their names and the best of their own lines."""
    named: dict[int, float] = {}
    inside: dict[int, float] = {}
    for part, score in zip(outline.parts, asked, strict=True):
        if part.owner != MODULE and score:
            scores = named if part.role == Role.SIGNATURE else inside
            scores[part.owner] = max(score, scores.get(part.owner, 0.0))
    scores = {
        owner: _NAMED * named.get(owner, 0.0) + inside.get(owner, 0.0)
        for owner in sorted(named.keys() | inside.keys())
    }
    best = max(scores.values(), default=0.0)
    return {owner: score for owner, score in scores.items() if score >= _ABOUT * best}
