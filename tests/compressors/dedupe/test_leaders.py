"""Both ways of dedupe, held against each other."""

import math
import sys
from random import Random

import pytest

from holdfast.compressors import dedupe, dedupe_matrix
from holdfast.compressors.dedupe import by_signs, leaders
from holdfast.providers.lexical import LexicalEmbedder

WAYS = [dedupe_matrix.leaders, by_signs]


@pytest.mark.parametrize("way", WAYS)
def test_each_vector_joins_the_first_leader_that_is_near(way):
    vectors = [[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9], [-1, 0], [5, 0]]
    assert leaders(vectors, 0.85, way) == [0, 1, 0, 1, 4, 0]


@pytest.mark.parametrize("way", WAYS)
def test_near_to_a_member_but_not_to_its_leader_leads(way):
    at = [[math.cos(angle), math.sin(angle)] for angle in (0.0, 0.5, 1.0)]
    assert leaders(at, 0.85, way) == [0, 0, 2]


@pytest.mark.parametrize("way", WAYS)
def test_equal_vectors_meet_at_a_cosine_of_one(way):
    assert leaders([[0.1, 0.7, 0.3]] * 3, 1.0, way) == [0, 0, 0]


def test_vectors_without_a_direction_and_of_other_lengths_join_nobody():
    vectors = [[], [0, 0], [math.nan, 1], [1, 0], [1], [math.inf, 1], [2, 0], [3], [0, 0]]
    assert leaders(vectors, 0.85) == [0, 1, 2, 3, 4, 5, 3, 4, 8]


@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.95])
def test_both_ways_agree_on_texts(threshold):
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
    found = leaders(vectors, threshold, dedupe_matrix.leaders)
    assert leaders(vectors, threshold, by_signs) == found
    assert 100 < len(set(found)) < 690


def test_without_numpy_signs_are_compared(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, "holdfast.compressors.dedupe_matrix")
    monkeypatch.setattr(dedupe, "_best", dedupe._best.__wrapped__)
    assert dedupe._best() is by_signs


def test_both_ways_agree_on_dense_vectors():
    rng = Random(7)
    vectors: list[list[float]] = []
    for _ in range(600):
        if vectors and rng.random() < 0.4:
            vectors.append([number + rng.gauss(0, 0.55) for number in rng.choice(vectors)])
        else:
            vectors.append([rng.gauss(0, 1) for _ in range(300)])
    found = leaders(vectors, 0.85, dedupe_matrix.leaders)
    assert leaders(vectors, 0.85, by_signs) == found
    assert len(set(found)) < 580
