import math

import pytest

from holdfast.text.similarity import unit


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ([3.0, 4.0], [0.6, 0.8]),
        ([1e200, 0], [1.0, 0.0]),
        ([1e-200, 0], [1.0, 0.0]),
        ([0.0], None),
        ([], None),
        ([math.nan, 1], None),
        ([math.inf, 1], None),
    ],
)
def test_a_vector_at_length_one_keeps_its_direction(vector, expected):
    assert unit(vector) == (None if expected is None else pytest.approx(expected))
