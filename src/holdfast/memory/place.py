"""Where a text answers a question best: one sentence or line of it."""

from __future__ import annotations

from holdfast.text.question import Question
from holdfast.text.sentences import sentences

_READ = 60_000  # characters of a text that are looked through
_MOST = 1_000  # sentences and lines
_BEFORE = 4  # a share of the width, one in so many, stands before what is found in a longer line


def best_place(text: str, question: str, width: int) -> str:
    """The text if it is not longer than ``width`` characters, or else its sentence or line that answers best.

    Of one that is too long itself, what stands around the words of the question; an ellipsis stands for what is
    left out before. The beginning, where no place is better than another.
    """
    whole = text.strip()
    if len(whole) <= width:
        return whole
    asked = Question.of(question)
    pieces = [line.strip() for piece in sentences(whole[:_READ]) for line in piece.splitlines() if line.strip()]
    scores = asked.scores(pieces[:_MOST])
    best = max(scores, default=0.0)
    if not best:
        return whole
    place = scores.index(best)
    found = pieces[place]
    start = 0 if len(found) <= width else max(0, _first(found, asked) - width // _BEFORE)
    return f"…{found[start:].lstrip()}" if start or place else found


def _first(text: str, asked: Question) -> int:
    """Where the first word of the heaviest that the text holds stands."""
    low = text.lower()
    held = [term for term in asked.terms if term.needle in low and term.found_in(text, low)]
    heaviest = max((term.weight for term in held), default=0.0)
    return min((low.find(term.needle) for term in held if term.weight == heaviest), default=0)
