"""Cutting a text to a number of tokens.

Tokens grow almost evenly with length, so a cut is found by counting a few pieces of about the right
size and interpolating. A long text is never counted as a whole. A returned text has been counted,
so it fits with any counter.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice

from holdfast.kernel.ports import Count as Count  # noqa: PLC0414 - part of this module

Numbers = Sequence[int]  # of pieces
Values = Sequence[float]  # one of each piece
Render = Callable[[Numbers], str]
"""Makes the text of the chosen pieces, given by ascending numbers."""
Cost = Callable[[Numbers], int]
"""Counts the tokens of some pieces together."""

FIRST_GUESS = 4.0  # characters a token of plain English, as OpenAI's help says
SENTENCE = 24
"""Tokens of a short sentence: no text is cut below it, and notes that are shorter tell nothing.

Half and double kept as much of recorded runs. Of their names, cold forms had .691 with half instead
of .697, and with double .712, but many were larger than an eighth.
"""

# characters; a text with a longer mean is counted. None of 4,111 texts of recorded runs has one, a
# third more than half of it
LONG_TOKEN = 8
# tokens that a beginning may have more than the whole, since its last word is cut; half and double
# cut real outputs alike
_SEAM = 16
# share of the tokens from which no better cut is tried; .97 kept as much of real texts
_CLOSE_ENOUGH = 0.985
_GUESSES = 6  # cuts by interpolation, then by halving; half and double cut real outputs alike
# pieces in a row that may be tried though they do not fit, each in one count of tokens; half and
# double kept as much of real texts
MISSES = 12
# times the last size, so that one cheap part does not overshoot; half and double cut alike
_FASTEST_GROWTH = 16
# tokens beside the marker from which a head and a tail are better than a head alone; half and
# double kept as much of recorded runs
_SMALLEST_SHARE = 16
# the beginning's share of a head and a tail; a text says first what it is about. In recorded runs
# that are trimmed, .9 kept .472 instead of .486, and .3 .488
_HEAD = 0.6
# a cut moves to a line's end, for those who read it, unless that loses a third; half and double
# kept as much of recorded runs
_LINE_LOSS = 3
_LONGEST_JOINT = 16  # characters of a combined one that are searched for its start; emoji have 10
_JOINED = frozenset("Mn Mc Me Cf Sk".split())
"""Categories of what goes on with a character: accents, vowel signs, joiners, colours of skin."""


def gap(missing: str) -> str:
    """The usual marker in its place: ``[… 120 lines, 4,810 characters left out …]``."""
    lines = missing.count("\n")
    of_lines = f"{lines:,} lines, " if lines > 1 else ""
    return f"[… {of_lines}{len(missing):,} characters left out …]"


def fits(text: str, tokens: int, count: Count) -> bool:
    """Whether the text has at most this many tokens; of a long text, the start is counted."""
    telling = tokens * LONG_TOKEN + 256
    if len(text) > telling and count(text[:telling]) > tokens + _SEAM:
        return False
    return count(text) <= tokens


def clip(text: str, tokens: int, count: Count, *, mark: str = "", rate: float = 0.0) -> str:
    """The longest beginning of at most this many tokens, with the mark if something is cut.

    ``rate``: the expected tokens of a character, if known.
    """
    if not rate and fits(text, tokens, count):
        return text
    found = _longest_text(len(text), lambda size: text[: _joint(text, size)], tokens, count, rate)
    if not mark:
        return found
    marked = _longest_text(
        len(found), lambda size: text[: _joint(text, size)].rstrip() + mark, tokens, count
    )
    return marked or found


def clip_end(text: str, tokens: int, count: Count) -> str:
    """The longest end of at most this many tokens."""
    if fits(text, tokens, count):
        return text
    whole = len(text)
    return _longest_text(whole, lambda size: text[_joint(text, whole - size) :], tokens, count)


def head_tail(text: str, tokens: int, count: Count) -> str:
    """The beginning and the end with the marker between them.

    Cuts at ends of lines if they are near. If there is no room for the marker, returns the
    beginning with an ellipsis.
    """
    if fits(text, tokens, count):
        return text
    left = tokens - count(gap(text)) - 2
    while left >= _SMALLEST_SHARE:
        cut = _cut(text, left, count)
        over = count(cut) - tokens
        if over <= 0:
            return cut
        left -= over
    return clip(text, tokens, count, mark="…")


def water_level(lengths: Iterable[int], room: int) -> int:
    """The length, at least 0, to which the longest must be cut so that all fit ``room``."""
    ordered = sorted(lengths)
    below = 0
    for n, length in enumerate(ordered):
        if below + length * (len(ordered) - n) > room:
            return max(0, (room - below) // (len(ordered) - n))
        below += length
    return ordered[-1] if ordered else 0


def packed(sizes: Numbers, most: int) -> list[list[int]]:
    """The numbers of pieces in a row, in groups of at most this size, or of one larger piece."""
    groups: list[list[int]] = []
    left = 0
    for number, size in enumerate(sizes):
        if not groups or size > left:
            groups.append([])
            left = most
        groups[-1].append(number)
        left -= size
    return groups


def choose(order: Numbers, sizes: Numbers, render: Render, tokens: int, count: Count) -> list[int]:
    """The first pieces that fit when rendered together, and later ones that still fit.

    They are in ascending order, and none if not even one piece fits. ``sizes`` are the characters
    of the pieces; ``render`` makes the text of the chosen ones.
    """

    def cost(some: Numbers) -> int:
        return count(render(sorted(some)))

    first, spent = beginning(order, sizes, cost, tokens, tokens * FIRST_GUESS)
    if not first:
        return []
    enough = tokens * _CLOSE_ENOUGH
    following = order[order.index(first[-1]) + 1 :]
    return sorted(filled(first, spent, following, sizes, cost, tokens, enough, FIRST_GUESS))


def filled(
    first: Numbers,
    spent: float,
    following: Iterable[int],
    sizes: Values,
    cost: Cost,
    room: int,
    enough: float,
    rate: float = 1.0,
) -> list[int]:
    """The ``first`` pieces, which cost ``spent``, with those of the ``following`` that still fit.

    It ends when they cost ``enough`` together. ``rate`` is the size that one token may have. Where
    pieces fit, the next twice as many are counted at once; where they do not, half as many.
    """
    chosen, waiting = list(first), list(following)
    at, step, misses = 0, 1, 0
    while at < len(waiting) and spent < enough and misses < MISSES:
        some, end = _next(waiting, at, step, sizes, (room - spent) * rate, (enough - spent) * rate)
        taken = cost([*chosen, *some]) if some else spent
        if taken <= room:
            chosen += some
            at, step, spent = end, 2 * step, taken
        elif len(some) > 1:
            step = len(some) // 2
        else:
            at, misses = end, misses + 1
    return chosen


def _next(
    waiting: Numbers, at: int, most: int, sizes: Values, room: float, enough: float
) -> tuple[list[int], int]:
    """The next pieces from ``at`` on that may fit together, and where those behind them begin.

    What is too large even alone is passed over.
    """
    some: list[int] = []
    size = 0.0
    for place in range(at, len(waiting)):
        own = sizes[waiting[place]]
        if some and (len(some) == most or size >= enough or size + own > room):
            return some, place
        if own <= room:
            some.append(waiting[place])
            size += own
    return some, len(waiting)


def beginning(
    order: Numbers,
    sizes: Values,
    cost: Cost,
    room: int,
    allowed: float,
    enough: float = _CLOSE_ENOUGH,
) -> tuple[Numbers, int]:
    """The longest beginning of the order that fits, as ``longest`` finds it, and its cost.

    A larger room has a longer beginning, so it keeps what a smaller one keeps. First pieces that do
    not even fit alone are passed over.
    """
    likely = (n for n, piece in enumerate(order) if n == 0 or sizes[piece] <= allowed)
    for start in islice(likely, MISSES):
        rest = order[start:]
        reach = list(accumulate(sizes[piece] for piece in rest))

        def cost_of(size: int, rest: Numbers = rest) -> int:
            return cost(rest[:size])

        kept, spent = longest(reach, cost_of, room, allowed, enough)
        if kept:
            return rest[:kept], spent
    return (), 0


def longest(
    reach: Values,
    cost: Callable[[int], int],
    room: int,
    allowed: float,
    enough: float = _CLOSE_ENOUGH,
) -> tuple[int, int]:
    """How many parts fit the room, and their cost, which ``cost`` counts exactly.

    ``reach`` has the sizes of the first parts together, ``allowed`` is the size expected to fit. It
    ends when the share ``enough`` of the room is used.
    """
    low, high, spent, probe = 0, len(reach) + 1, 0, 0
    while high - low > 1 and spent < room * enough:
        guess = bisect_right(reach, allowed) if probe < _GUESSES else (low + high) // 2
        size = min(max(guess, low + 1), high - 1)
        taken = cost(size)
        if taken <= room:
            low, spent = size, taken
        else:
            high = size
        allowed = reach[size - 1] * min(room / max(taken, 1), _FASTEST_GROWTH)
        probe += 1
    return low, spent


def _longest_text(
    whole: int, part: Callable[[int], str], tokens: int, count: Count, rate: float = 0.0
) -> str:
    """The longest part that fits; ``part(size)`` has about ``size`` characters."""
    guess = tokens / rate if rate else tokens * FIRST_GUESS + 1
    size, _ = longest(range(1, whole + 1), lambda size: count(part(size)), tokens, guess)
    return part(size) if size else ""


def _cut(text: str, tokens: int, count: Count) -> str:
    beginning = clip(text, max(1, int(tokens * _HEAD)), count)
    line = beginning.rfind("\n") + 1
    if line and (len(beginning) - line) * _LINE_LOSS <= len(beginning):
        beginning = beginning[:line]
    rest = text[len(beginning) :]
    end = clip_end(rest, tokens - count(beginning), count)
    line = end.find("\n") + 1
    if line and line * _LINE_LOSS <= len(end):
        end = end[line:]
    middle = rest[: len(rest) - len(end)]
    joint = "\n" if "\n" in text else " "
    before = "" if beginning.endswith(("\n", " ")) or not beginning else joint
    return f"{beginning}{before}{gap(middle)}{joint}{end}"


def _joint(text: str, place: int) -> int:
    """The position, or one just before it that does not split a combined character."""
    for joint in range(place, max(place - _LONGEST_JOINT, 0), -1):
        if not _are_joined(text[joint - 1], text[joint : joint + 1]):
            return joint
    return place


def _are_joined(before: str, after: str) -> bool:
    if after < "\u0300":
        return before == "\r" and after == "\n"
    joined = before == "\u200d" or "\udc00" <= after <= "\udfff"
    return joined or unicodedata.category(after) in _JOINED
