"""A share of lines is told as by counting all of them, from as few as it takes."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.content.lossy import enough


def test_what_matches_is_given_where_it_is_enough():
    matching = re.compile("[0-9]").match
    assert [match[0] for match in enough(["1", "a", "2"], matching, 2)] == ["1", "2"]


def test_there_are_none_where_they_are_too_few():
    assert enough(["1", "a", "b"], str.isdigit, 2) == []
    assert enough(["1"], str.isdigit, 2) == []
    assert enough([], str.isdigit, 1) == []


def test_no_line_is_asked_once_too_many_are_none():
    asked = []
    enough("aa1111111111", lambda line: asked.append(line) or line.isdigit(), 11)
    assert asked == ["a", "a"]


@given(st.lists(st.booleans()), st.floats(0.5, 40))
def test_the_answer_is_that_of_counting(lines, least):
    assert bool(enough(lines, bool, least)) == (sum(lines) >= least)
