"""What is written of what was found: the smallest text that answers, in order of time, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.content import shrink
from holdfast.kernel.ports import Room
from holdfast.text.fit import choose, fits
from holdfast.text.question import Question
from holdfast.text.sentences import sentences

from .order import order
from .pleasantries import without_pleasantries
from .remembered import Excerpt, Remembered
from .times import day_name

OPENING = "From earlier in this conversation:"
"""The first line of what is written."""

_MOST_MISSES = 12  # hits in a row that do not fit: then what is left is too little for any
_LEAST = 20  # tokens of an excerpt that is cut: less says nothing
_LARGEST, _LARGE = 0.5, 0.25  # of the budget: the best hit, and any other, is cut if it would take more
_LONG = 60_000  # characters of a message that are read sentence by sentence
_MOST_OUTPUTS = 3  # of tools that are read for what answers: each costs as much as a search
_SENTENCES = 400  # of a message: more are not tried


def speaker_of(message: Remembered) -> str:
    """Who says it: the name that the message gives, or else the role."""
    return message.speaker or message.role.capitalize()


def pack(
    positions: Iterable[int],
    messages: Mapping[int, Remembered],
    budget: int,
    count: Callable[[str], int],
    *,
    question: str = "",
    whole: Callable[[str], int] | None = None,
    name: Callable[[Remembered], str] = speaker_of,
) -> list[Excerpt]:
    """As much of what stands there, best first, as ``written`` puts into ``budget`` tokens; in order of the log.

    What only greets or thanks is left out, and what was said word for word before is not said again. A message
    too long for its share is cut to the sentences that answer the question. ``whole`` counts the text as it stands
    in its message, where that is to be counted anyway. ``name`` says what stands before what a message says.
    """
    names = frozenset(name.lower() for name in {message.speaker for message in messages.values()})
    packer = _Packer(budget, count, Question.of(question), names, name)
    misses = 0
    for position in positions:
        message = messages.get(position)
        if message is None:
            continue
        misses = 0 if packer.take(message) else misses + 1
        if misses > _MOST_MISSES:
            break
    return packer.packed(whole or count)


def written(excerpts: Sequence[Excerpt]) -> str:
    """The excerpts as one text: each day once, each message behind the name of who said it."""
    if not excerpts:
        return ""
    lines = [OPENING]
    day = ""
    for excerpt in excerpts:
        if excerpt.day and excerpt.day != day:
            lines.append(_heading(excerpt.day))
            day = excerpt.day
        lines.append(f"{excerpt.name}: {excerpt.text}")
    return "\n".join(lines)


def _heading(day: str) -> str:
    return f"[{day}]"


class _Packer:
    """Takes message after message while there is room."""

    def __init__(
        self,
        budget: int,
        count: Callable[[str], int],
        question: Question,
        names: frozenset[str],
        name: Callable[[Remembered], str],
    ) -> None:
        self._budget, self._count, self._question, self._names = budget, count, question, names
        self._name = name
        self._room = budget - count(f"{OPENING}\n")
        self._taken: list[Excerpt] = []
        self._texts: set[str] = set()
        self._days = {""}
        self._outputs = 0

    def take(self, message: Remembered) -> bool:
        """Take what fits of the message; whether there was room, or nothing to say."""
        tool, body = message.role == "tool", message.body
        text = body.strip() if tool else without_pleasantries(body, self._names)
        if not text or text in self._texts:
            return True
        day = day_name(message.said) if message.said is not None else ""
        room = self._room if day in self._days else self._room - self._count(f"{_heading(day)}\n")
        most = self._budget * (_LARGE if self._taken else _LARGEST)
        left = min(room, max(int(most), _LEAST))
        name = self._name(message)
        said, tokens = self._told(name, text, left, tool=tool)
        if not said or tokens > left:
            return False
        self._taken.append(Excerpt(message.position, name, said, day, whole=said == body.strip()))
        self._texts.add(text)
        self._days.add(day)
        self._room = room - tokens
        return True

    def _told(self, name: str, text: str, left: int, *, tool: bool) -> tuple[str, int]:
        """What is said of the text in a line of so many tokens, if it can be, and its tokens.

        The text alone is counted first, which was done when it came.
        """
        if self._fits(text, left):
            tokens = self._tokens(name, text)
            if tokens <= left:
                return text, tokens
        said = self._cut(text, left - self._count(f"{name}:") - 1, tool=tool)
        return (said, self._tokens(name, said)) if said else ("", 0)

    def _tokens(self, name: str, said: str) -> int:
        """Tokens of the line, with its break, as it stands wherever it is told: who counts by lines knows it then.

        Of several lines, about, by the text alone: it would not be known by its lines.
        """
        several = "\n" in said
        return self._count(f"{name}:") + 1 + self._count(said) if several else self._count(f"{name}: {said}\n")

    def _fits(self, text: str, tokens: int) -> bool:
        """Whether the text has at most so many tokens; whole messages are counted once, wherever they are told."""
        return self._count(text) <= tokens if len(text) <= _LONG else fits(text, tokens, self._count)

    def packed(self, whole: Callable[[str], int]) -> list[Excerpt]:
        """What was taken, without the last ones if together they are more than the sum of them."""
        taken = list(self._taken)
        while taken and whole(written(_in_order(taken))) > self._budget:
            taken.pop()
        return _in_order(taken)

    def _cut(self, text: str, room: int, *, tool: bool) -> str:
        """The sentences that answer, as many as fit, in their order; of an output what its kind keeps."""
        if room < _LEAST:
            return ""
        self._outputs += tool
        if self._outputs > _MOST_OUTPUTS:
            return ""
        pieces = [] if tool or len(text) > _LONG else [piece.strip() for piece in sentences(text)]
        if len(pieces) < 2:
            return shrink(text, Room(room, self._count, self._question.text)).text
        ranked = order(pieces, self._question.text)[:_SENTENCES]
        chosen = choose(ranked, list(map(len, pieces)), lambda kept: _joined(pieces, kept), room, self._count)
        return chosen.text if chosen else ""


def _joined(pieces: Sequence[str], kept: Sequence[int]) -> str:
    """The pieces with a mark where some are left out."""
    parts: list[str] = []
    before = -1
    for place in kept:
        if place > before + 1:
            parts.append("…")
        parts.append(pieces[place])
        before = place
    if before < len(pieces) - 1:
        parts.append("…")
    return " ".join(parts)


def _in_order(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    return sorted(excerpts, key=lambda excerpt: excerpt.position)
