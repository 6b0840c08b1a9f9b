import pytest

from holdfast.text.importance import MOFA, PRESETS, SELECTIVE, Weights, has_importance_marker


def test_the_presets_have_the_numbers_of_their_designs():
    assert (MOFA.recency, MOFA.role, MOFA.density) == (0.4, 0.3, 0.3)
    selective = (
        SELECTIVE.recency,
        SELECTIVE.access,
        SELECTIVE.semantic,
        SELECTIVE.entity,
        SELECTIVE.query,
    )
    assert selective == (0.2, 0.15, 0.3, 0.25, 0.1)
    assert sum(selective) == pytest.approx(1.0)
    assert SELECTIVE.marker == 1.5
    assert PRESETS == {"mofa": MOFA, "selective": SELECTIVE}


def test_importance_is_the_weighted_sum():
    assert MOFA.importance({"recency": 0.5, "role": 0.7, "density": 0.1}) == pytest.approx(0.44)


def test_a_factor_of_which_nothing_is_known_adds_nothing():
    assert SELECTIVE.importance({"recency": 1.0}) == pytest.approx(0.2)


def test_importance_stays_between_0_and_1():
    assert (
        SELECTIVE.importance(
            {"recency": 1.0, "semantic": 1.0, "access": 1.0, "entity": 1.0}, marked=True
        )
        == 1.0
    )
    assert Weights(role=-1.0).importance({"role": 1.0}) == 0.0


def test_what_says_that_it_is_important_counts_more():
    assert SELECTIVE.importance({"semantic": 0.5}, marked=True) == pytest.approx(0.225)


@pytest.mark.parametrize(
    "text", ["Important: use TLS.", "the KEY point", "Please remember this.", "note, it is vital"]
)
def test_a_marker_is_a_word_of_its_own(text):
    assert has_importance_marker(text)


@pytest.mark.parametrize(
    "text",
    [
        "The monkey plays.",
        "two keyboards",
        "I took notes",
        "unimportant",
        "that is not important",
        "",
    ],
)
def test_part_of_a_word_and_what_is_denied_are_no_markers(text):
    assert not has_importance_marker(text)
