from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.session.state import holds, joined, without

positions = st.frozensets(st.integers(0, 40))


def spans(found):
    return joined([], [(position, position) for position in found])


def held(found):
    return {position for position in range(42) if holds(found, position)}


@given(positions, positions)
def test_spans_are_sets_of_positions(one, other):
    assert held(spans(one)) == one
    assert held(joined(spans(one), spans(other))) == one | other
    assert held(without(spans(one), spans(other))) == one - other


@given(positions, positions)
def test_there_are_as_few_spans_as_possible(one, other):
    for found in (joined(spans(one), spans(other)), without(spans(one), spans(other))):
        assert found == spans(held(found))


def test_spans_as_json_has_them_are_taken_too():
    assert joined([(0, 1)], [[2, 3]]) == [(0, 3)]
    assert without([(0, 9)], [[2, 3]]) == [(0, 1), (4, 9)]
