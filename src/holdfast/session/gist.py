"""What the tiers say of the past in brief, for the room that a view would leave empty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from holdfast.memory.pleasantries import without_pleasantries
from holdfast.memory.segments import Segment

from .spans import Span
from .turns import ends

HEADING = "In brief, what was said around that:"
"""The line above the forms of the tiers."""

_LEAST = 200  # tokens: in less room, nothing worth a heading is told
_BRIEF = 12  # tokens: in fewer, a form names something and says nothing of it
_NAMES = frozenset({"user", "assistant"})  # who speaks is no news
_MOST_MISSES = 8  # forms in a row that do not fit: then what is left is too little for any


def gist(
    forms: Iterable[Segment],
    room: int,
    count: Callable[[str], int],
    known: Collection[int],
    tells: Callable[[str], str] = str,
) -> str:
    """The forms, newest first, as many as fit the room; written in order of time. Empty where there is no room.

    Segments with a message that is ``known`` already are left out, and what says nothing. ``tells`` may mask them.
    """
    if room < _LEAST:
        return ""
    told: list[tuple[Span, Span, str]] = []
    texts: set[str] = set()
    left, misses = room - count(HEADING) - 1, 0
    for segment in forms:
        span = ends(segment.origin)
        text = without_pleasantries(tells(segment.content), _NAMES)
        if segment.tokens < _BRIEF or not text or text in texts or _holds(span, known):
            continue
        size = count(f"- {text}\n") if segment.tokens <= left else left + 1
        misses = misses + 1 if size > left else 0
        if misses > _MOST_MISSES:
            break
        if not misses:
            told.append((span, segment.span or (0, 0), text))
            texts.add(text)
            left -= size
    return "\n".join([HEADING, *(f"- {text}" for _, _, text in sorted(told))]) if told else ""


def _holds(span: Span, known: Collection[int]) -> bool:
    return any(span[0] <= place <= span[1] for place in known)
