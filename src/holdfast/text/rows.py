"""Which rows of a table say most: those that the question names, those that stand out, and an even sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from statistics import median

from .importance import TROUBLE, alarm
from .question import Question

_KINDS = 0.25  # of the rows: a column with fewer different values has kinds, and some of them are rare
_RARE = 0.03  # of the rows
_FAR = 8.0  # median deviations from the median: what lies farther out is an outlier
_NUMERIC = 0.8  # of the filled cells
_SPREAD_PER_ODD = 2  # of three places one goes to a row that stands out, two to the even sample
_NAMED_SHARE = 0.7  # of the best row's score: a row that comes near it is asked for too
_MOST_NAMED = 0.2  # of the rows: what more of them have in common tells none of them apart

_NUMBER = re.compile(r"([+-]?)[$€£]?(\d{1,15}(?:\.\d{1,15})?)[%a-zA-Z]{0,4}")
_EMPTY = frozenset({"", "-", "null", "None", "N/A", "n/a", "NaN", "<none>", "[]", "{}"})


def named(lines: Sequence[str], question: Question) -> list[int]:
    """The rows that the question asks for, best first; none where it fits a large part of the table alike."""
    scores = [question.score(line) for line in lines] if question else []
    best = max(scores, default=0.0)
    found = [row for row, score in enumerate(scores) if score >= _NAMED_SHARE * best]
    if best <= 0 or len(found) > max(1, _MOST_NAMED * len(lines)):
        return []
    return sorted(found, key=lambda row: -scores[row])


def order(columns: Sequence[Sequence[str]], lines: Sequence[str], first: Sequence[int] = ()) -> list[int]:
    """Every row number, the most telling in front: any beginning of the list is a good choice of rows.

    ``columns`` are the cells by column, ``lines`` the same rows as text; ``first`` goes before all else.
    """
    scores = oddity(columns, lines)
    odd = sorted((row for row, score in enumerate(scores) if score > 0), key=lambda row: -scores[row])
    strides = zip_longest(odd, *[even(len(lines))] * _SPREAD_PER_ODD)
    mixed = (row for stride in strides for row in stride if row is not None)
    return list(dict.fromkeys((*first, *mixed)))


def even(count: int) -> Iterator[int]:
    """The numbers below ``count``, so that any beginning of them lies evenly: the ends, then ever finer halves."""
    if count:
        yield 0
    if count > 1:
        yield count - 1
    bits = max(count - 1, 0).bit_length()
    for number in range(1, 1 << bits):
        place = int(f"{number:0{bits}b}"[::-1], 2)
        if place < count - 1:
            yield place


def oddity(columns: Sequence[Sequence[str]], lines: Sequence[str]) -> list[float]:
    """How much each row stands out: rare kinds, outliers, gaps where others are filled, reports of trouble."""
    scores = [0.0] * len(lines)
    for column in columns:
        for row, score in (*_rare(column), *_outliers(column)):
            scores[row] += score
    alarms = [alarm(line) for line in lines]
    if sum(score >= TROUBLE for score in alarms) <= len(lines) * _KINDS:
        scores = [score + 3 * bad for score, bad in zip(scores, alarms, strict=True)]
    return scores


def _rare(column: Sequence[str]) -> list[tuple[int, float]]:
    """The rows whose value few others have, in a column of few different values."""
    counts = Counter(column)
    empty = sum(counts[value] for value in _EMPTY if value in counts)
    most = max(1.0, len(column) * _RARE)
    if 0 < empty <= most or 0 < len(column) - empty <= most:
        odd = empty <= most
        return [(row, 1.0) for row, value in enumerate(column) if (value in _EMPTY) == odd]
    if len(counts) > max(2.0, len(column) * _KINDS):
        return []
    rare = {value for value, count in counts.items() if count <= most}
    return [(row, 1.0) for row, value in enumerate(column) if value in rare]


def _outliers(column: Sequence[str]) -> list[tuple[int, float]]:
    """The rows with the least and the greatest number, and those far from all others."""
    read = ((row, _NUMBER.fullmatch(cell)) for row, cell in enumerate(column))
    numbers = {row: float(found.group(1) + found.group(2)) for row, found in read if found}
    filled = sum(cell not in _EMPTY for cell in column)
    if len(numbers) < max(3, _NUMERIC * filled):
        return []
    middle = median(numbers.values())
    deviation = median(abs(number - middle) for number in numbers.values())
    least, greatest = min(numbers, key=lambda row: numbers[row]), max(numbers, key=lambda row: numbers[row])
    far = [(row, 1.0) for row, number in numbers.items() if abs(number - middle) > _FAR * deviation > 0]
    return [(least, 0.3), (greatest, 0.4), *far]
