from __future__ import annotations

from holdfast.text.similarity import Lexical, best_of


def index_of(*texts: str) -> Lexical:
    index = Lexical()
    for text in texts:
        index.add(text)
    return index


def test_texts_are_numbered_in_the_order_in_which_they_come():
    index = Lexical()
    assert [index.add(text) for text in ("a cat", "a dog", "")] == [0, 1, 2]


def test_the_text_that_answers_comes_first():
    index = index_of(
        "the weather is fine",
        "the deployment failed at night",
        "a failed attempt to deploy the night build",
    )
    assert [place for place, _ in best_of(index.scores("why did the deploys fail?"), 3)] == [1, 2]


def test_a_rare_word_counts_more_than_a_common_one():
    index = index_of(*["alpha common"] * 9, "beta common", "beta rare")
    assert best_of(index.scores("common rare"), 1)[0][0] == 10


def test_of_equals_the_earlier_one_comes_first():
    scores = index_of("green words", "green words").scores("green")
    assert [place for place, _ in best_of(scores, 2)] == [0, 1]


def test_growing_is_the_same_as_building_at_once():
    grown = index_of("one fish")
    grown.add("two fish")
    assert grown.scores("fish") == index_of("one fish", "two fish").scores("fish")


def test_no_common_word_no_score():
    assert index_of("one fish").scores("bird of prey") == {}
    assert best_of(Lexical().scores("anything"), 5) == []
