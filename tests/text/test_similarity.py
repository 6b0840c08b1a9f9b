import math

import pytest

from holdfast.text.similarity import cosine, unit


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0], [1, 0], 1.0),
        ([1, 0], [-2, 0], -1.0),
        ([1, 0], [0, 1], 0.0),
        ([3, 4], [4, 3], 0.96),
        ([1, 0], [1, 0, 0], 0.0),
        ([0, 0], [1, 0], 0.0),
        ([], [], 0.0),
        ([math.nan, 1], [1, 1], 0.0),
        ([math.inf, 1], [1, 1], 0.0),
        ([1e200, 0], [1e200, 0], 1.0),
        ([1e-200, 0], [1e-200, 0], 1.0),
    ],
)
def test_the_cosine_of_two_vectors(one, other, expected):
    assert cosine(one, other) == pytest.approx(expected)


def test_a_vector_at_length_one_keeps_its_direction():
    assert unit([3.0, 4.0]) == [0.6, 0.8]
    assert unit([0.0]) is None
