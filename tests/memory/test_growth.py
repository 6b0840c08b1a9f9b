"""What is done for a long text grows with it, and no faster: counted in the characters that are
counted.
"""

import json
from random import Random

import pytest

from holdfast.memory.tiers import at_topic_shifts

_MOST = 500


def letters(size):
    return "".join(Random(1).choices("abcdefghij", k=size))


def rows(size):
    return json.dumps([{"id": n, "name": f"row {n}"} for n in range(size // 28)])


@pytest.mark.parametrize(
    "written", [letters, rows, lambda size: "word " * (size // 5), lambda size: " " * size]
)
def test_a_text_is_cut_into_pieces_with_work_that_grows_as_it_does(written):
    def counted(size):
        looked: list[int] = []

        def count(text):
            looked.append(len(text))
            return -(-len(text) // 4)

        text = written(size)
        pieces = at_topic_shifts(text, _MOST, count)
        assert "".join(pieces) == text
        assert all(-(-len(piece) // 4) <= _MOST for piece in pieces)
        return sum(looked)

    assert counted(400_000) <= 4.6 * counted(100_000)
