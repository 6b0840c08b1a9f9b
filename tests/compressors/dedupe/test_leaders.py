"""Clusters of vectors, compared with every cosine computed."""

import math
from operator import mul
from random import Random

import pytest

from holdfast.compressors.dedupe import leaders
from holdfast.providers.lexical import LexicalEmbedder
from holdfast.text.similarity import unit


def compared(vectors, threshold):
    """For each vector, the index of the first leader whose cosine reaches the threshold."""
    units = [unit(vector) for vector in vectors]
    found: list[int] = []
    for place, one in enumerate(units):
        before = (head for head in dict.fromkeys(found) if found[head] == head)
        near = (head for head in before if sum(map(mul, units[head], one)) >= threshold)
        found.append(next(near, place))
    return found


def test_each_vector_joins_the_first_leader_that_is_near():
    vectors = [[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9], [-1, 0], [5, 0]]
    assert leaders(vectors, 0.85) == [0, 1, 0, 1, 4, 0]


def test_near_to_a_member_but_not_to_its_leader_leads():
    at = [[math.cos(angle), math.sin(angle)] for angle in (0.0, 0.5, 1.0)]
    assert leaders(at, 0.85) == [0, 0, 2]


def test_equal_vectors_meet_at_a_cosine_of_one():
    assert leaders([[0.1, 0.7, 0.3]] * 3, 1.0) == [0, 0, 0]


def test_vectors_without_a_direction_and_of_other_lengths_join_nobody():
    vectors = [[], [0, 0], [math.nan, 1], [1, 0], [1], [math.inf, 1], [2, 0], [3], [0, 0]]
    assert leaders(vectors, 0.85) == [0, 1, 2, 3, 4, 5, 3, 4, 8]


@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.95])
def test_no_near_text_is_passed_over(threshold):
    rng = Random(5)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 8))) for _ in range(300)]
    texts: list[str] = []
    for _ in range(700):
        if texts and rng.random() < 0.4:
            some = rng.choice(texts).split()
            some[rng.randrange(len(some))] = rng.choice(words)
            texts.append(" ".join(some))
        else:
            texts.append(" ".join(rng.choices(words, k=rng.randint(4, 60))))
    vectors = LexicalEmbedder().embed(texts)
    found = leaders(vectors, threshold)
    assert found == compared(vectors, threshold)
    assert 100 < len(set(found)) < 690


def test_no_near_dense_vector_is_passed_over():
    rng = Random(7)
    vectors: list[list[float]] = []
    for _ in range(600):
        if vectors and rng.random() < 0.4:
            vectors.append([number + rng.gauss(0, 0.55) for number in rng.choice(vectors)])
        else:
            vectors.append([rng.gauss(0, 1) for _ in range(300)])
    found = leaders(vectors, 0.85)
    assert found == compared(vectors, 0.85)
    assert len(set(found)) < 580
