"""Joins search results to one text: the smallest excerpts that answer, in order of time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.content import recognise, shrink
from holdfast.excerpts import ordered_texts
from holdfast.kernel.ports import Room
from holdfast.text.fit import MISSES, SENTENCE, Count, choose, fits
from holdfast.text.memo import Memo
from holdfast.text.question import scores_of, terms_of
from holdfast.text.sentences import sentences
from holdfast.text.words import NEGATIONS, STOP_WORDS, words

from .entities import COURTESY
from .messages import Remembered
from .times import day_name

OPENING = "From earlier in this conversation:"
"""The first line of the text."""

_READ = 60_000  # characters, a chapter, that are read sentence by sentence, in some 3 ms
# tool outputs that are searched for the answer, each at the cost of a search; dialogues, which have
# none, tell the same with any number
_MOST_CUT = 3


class Excerpt(NamedTuple):
    """The excerpt of one message: its whole body, or the best part.

    ``day`` is the day of the message, such as ``8 May 2023``; empty if it is not known.
    """

    position: int
    name: str
    text: str
    day: str


def speaker_of(message: Remembered) -> str:
    """The name of the speaker, else the role."""
    return message.speaker or message.role.capitalize()


def pack(
    positions: Iterable[int],
    messages: Mapping[int, Remembered],
    budget: int,
    count: Count,
    *,
    question: str = "",
    whole: Count | None = None,
    name: Callable[[Remembered], str] = speaker_of,
) -> list[Excerpt]:
    """Choose as many excerpts of the messages at these positions as ``written`` fits in the budget.

    The positions are given best first; the excerpts are in the order of the log. Sentences of
    greeting or thanks are left out, and so are repeated texts. A message that takes more than
    half of the budget is shortened to what answers the question, but what no other message takes
    is left to it. ``budget`` is in tokens; ``whole`` counts the complete text. ``name`` returns the
    name before an excerpt.
    """
    taken: list[Excerpt] = []
    shortened: list[_Shortened] = []
    speakers = frozenset(map(str.lower, {message.speaker for message in messages.values()}))
    known = {""}
    days = {""}
    room = budget - count(f"{OPENING}\n")
    misses = cut = 0
    for position in positions:
        message = messages.get(position)
        if message is None:
            continue
        is_long = message.role == "tool" or len(message.body) > _READ
        body = message.body.strip() if is_long else _bare((message.body, speakers))
        if body in known:
            continue
        if misses > MISSES:
            break
        day = day_name(message.said) if message.said is not None else ""
        heading = 0 if day in days else count(f"[{day}]\n")
        left = min(room - heading, max(budget // 2, SENTENCE))
        by, said = name(message), body
        is_cut = not fits(body, left, count) or _tokens(by, body, count) > left
        if is_cut:
            cut += message.role == "tool"
            within, said = left - count(f"{by}:") - 1, ""
            if within >= SENTENCE and cut <= _MOST_CUT:
                said = _cut(message, body, Room(within, count, question))
        tokens = _tokens(by, said, count)
        if not said or tokens > left:
            misses += 1
            continue
        misses = 0
        if is_cut:
            shortened.append((len(taken), message, body, tokens))
        taken.append(Excerpt(position, by, said, day))
        known.add(body)
        room -= tokens + heading
        days.add(day)
    _lengthen(taken, shortened, room, count, question)
    while taken and (whole or count)(written(sorted(taken))) > budget:
        taken.pop()
    return sorted(taken)


_Shortened = tuple[int, Remembered, str, int]
"""The index of an excerpt, its message, the text that it is from, and its tokens."""


def _lengthen(
    taken: list[Excerpt], shortened: Iterable[_Shortened], room: int, count: Count, question: str
) -> None:
    """Make shortened excerpts longer by the ``room`` that is left, the best first."""
    for at, message, body, tokens in shortened:
        if room < SENTENCE:
            break
        by, left = taken[at].name, room + tokens
        said = _cut(message, body, Room(left - count(f"{by}:") - 1, count, question))
        longer = _tokens(by, said, count)
        if tokens < longer <= left:
            taken[at] = taken[at]._replace(text=said)
            room -= longer - tokens


@Memo
def _bare(given: tuple[str, frozenset[str]]) -> str:
    """The text without sentences that only greet, thank, or name a speaker; "No." stays.

    Cached, since a message is often found again.
    """
    text, speakers = given
    idle = (STOP_WORDS | COURTESY | speakers) - NEGATIONS
    return "".join([each for each in sentences(text) if not idle.issuperset(words(each))]).strip()


def _cut(message: Remembered, body: str, room: Room) -> str:
    """The sentences that answer, as many as fit; what is no prose is shortened by its kind."""
    by_kind = message.role == "tool" or len(body) > _READ or recognise(body).name != "prose"
    pieces = [] if by_kind else sentences(body)
    if len(pieces) < 2:
        return shrink(body, room).text

    def joined(kept: Sequence[int]) -> str:
        told = [("" if at - 1 in kept or not at else "… ") + pieces[at].strip() for at in kept]
        return " ".join(told if kept[-1] == len(pieces) - 1 else [*told, "…"])

    ranked = ordered_texts(pieces, room.question, decisions=False)
    chosen = choose(ranked, list(map(len, pieces)), joined, room.tokens, room.count)
    return joined(chosen) if chosen else ""


def _tokens(name: str, said: str, count: Count) -> int:
    """Tokens of the line with its line break; an estimate for several lines.

    A single line is counted as it is written, so that a cache of counts by line has it.
    """
    return count(f"{name}:") + 1 + count(said) if "\n" in said else count(f"{name}: {said}\n")


def written(excerpts: Sequence[Excerpt]) -> str:
    """The excerpts as one text: each day once, each excerpt after its speaker's name."""
    lines = [OPENING] if excerpts else []
    day = ""
    for excerpt in excerpts:
        if excerpt.day and excerpt.day != day:
            lines.append(f"[{excerpt.day}]")
            day = excerpt.day
        lines.append(f"{excerpt.name}: {excerpt.text}")
    return "\n".join(lines)


def best_place(text: str, question: str, width: int) -> str:
    """The text if it has at most ``width`` characters, else its best sentence or line.

    Of a longer line it is the part around the question's words. An ellipsis marks omitted text
    before it. If no place is better than another, it is the whole text.
    """
    whole = text.strip()
    pieces = [line.strip() for piece in sentences(whole[:_READ]) for line in piece.splitlines()]
    scores = scores_of(question, pieces)
    best = max(scores, default=0.0)
    if len(whole) <= width or not best:
        return whole
    found = pieces[scores.index(best)]
    low = found.lower()
    first = min(low.find(term.needle) for term in terms_of(question) if term.needle in low)
    start = 0 if len(found) <= width else max(0, first - width // 2)
    return found if found == pieces[0] and not start else f"…{found[start:].lstrip()}"
