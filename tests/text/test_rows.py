"""Which rows come first: the named, the odd, and an even sample of the rest."""

from __future__ import annotations

from itertools import pairwise

import pytest

from holdfast.text.question import Question
from holdfast.text.rows import even, named, oddity, order


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7, 8, 100])
def test_an_even_order_names_every_row_once_and_the_ends_first(number):
    rows = list(even(number))
    assert sorted(rows) == list(range(number))
    assert rows[:2] == [0, number - 1][: min(number, 2)]


def test_any_beginning_of_an_even_order_leaves_no_large_gap():
    chosen = sorted(list(even(1000))[:20])
    assert max(after - before for before, after in pairwise(chosen)) <= 125


def test_rows_that_the_question_names_are_found():
    lines = [f"host-{row} ok" for row in range(50)]
    assert named(lines, Question.of("Is host-31 up?")) == [31]


def test_a_question_that_fits_most_rows_names_none():
    lines = [f"host-{row} ok" for row in range(50)]
    assert named(lines, Question.of("Are all of them ok?")) == []
    assert named(lines, Question.of("")) == []


def test_rare_kinds_outliers_gaps_and_trouble_stand_out():
    state = ["ok"] * 100
    state[10] = "lost"
    load = [str(row % 9) for row in range(100)]
    load[20] = "-5000"
    note = ["x"] * 100
    note[30] = ""
    lines = [f"{a} {b} {c}" for a, b, c in zip(state, load, note, strict=True)]
    lines[40] = "panic: out of memory"
    scores = oddity([state, load, note], lines)
    plain = scores[50]
    assert all(scores[row] > plain for row in (10, 20, 30, 40))


def test_the_order_holds_every_row_and_begins_with_the_named():
    rows = order([[str(row) for row in range(40)]], ["line"] * 40, [7, 3])
    assert rows[:2] == [7, 3]
    assert sorted(rows) == list(range(40))
