import math
from dataclasses import replace

import pytest

from holdfast.kernel.errors import ConfigError
from holdfast.memory.relevance import (
    Context,
    Relevance,
    access,
    has_importance_marker,
    importances,
    recency,
)
from holdfast.memory.tiers import Segment

NOW = 10_000.0


def segment(content, created=NOW, **changes):
    return Segment(content[:20], content, created, len(content.split()), **changes)


def score(content, context=None, relevance=None, others=(), **changes):
    segments = [segment(content, **changes), *map(segment, others)]
    return importances(segments, context or Context(), NOW, relevance)[0]


def test_recency_and_access_follow_their_formulas():
    assert recency(100, 0.01) == pytest.approx(math.exp(-1))
    source = Relevance.selective_compression()
    assert access(0, 0, source) == pytest.approx(0.7)
    assert access(200, 5, source) == pytest.approx(0.447152, abs=1e-6)


def test_a_clock_that_went_backwards_is_no_age():
    assert recency(-50, 0.01) == 1.0


@pytest.mark.parametrize(
    "text",
    ["This is important.", "Remember this: 4711", "KEY point", "a critical fault", "Note: x"],
)
def test_a_marker_is_a_whole_word(text):
    assert has_importance_marker(text)


@pytest.mark.parametrize(
    "text", ["the monkey", "keyboards", "my notes", "unimportant", "this is not important", ""]
)
def test_a_part_of_a_word_and_what_is_denied_mark_nothing(text):
    assert not has_importance_marker(text)


def test_a_marked_segment_counts_half_as_much_again():
    plain, marked = score("the gate is red"), score("the gate is vital")
    assert marked.score == pytest.approx(1.5 * sum(marked.factors.values()))
    assert marked.score > plain.score


def test_scores_stay_between_0_and_1():
    context = Context.of("important Dana Reyes critical", "important Dana Reyes critical")
    assert score("important Dana Reyes critical", context).score == 1.0


def test_a_pinned_segment_matters_fully():
    assert score("whatever", created=-(10**9), pinned=True).score == 1.0


def test_a_score_is_explained_factor_by_factor():
    found = score("We met Dana Reyes in Lima.", Context.of("Where is Dana Reyes?", "Dana Reyes"))
    assert sum(found.factors.values()) == pytest.approx(found.score)
    assert min(found.factors[name] for name in ("semantic", "entity", "query", "recency")) > 0


def test_without_a_question_its_factor_is_nothing():
    assert score("We met Dana Reyes.", Context.of("Dana Reyes")).factors["query"] == 0.0


def test_what_no_other_segment_says_is_unique():
    assert (
        score("zebra", others=["lion", "tiger"]).factors["uniqueness"]
        > (score("lion", others=["lion", "tiger"]).factors["uniqueness"])
    )


def test_open_tasks_and_identifiers_in_use_raise_the_score():
    context = Context.of("still waiting for INV-2041")
    idle = score("The case is closed.", context).factors["open_ends"]
    task = score("TODO: close the case.", context).factors["open_ends"]
    both = score("TODO: pay INV-2041.", context).factors["open_ends"]
    assert idle < task < both


def test_embeddings_stand_in_for_common_words():
    context = replace(Context.of("cats"), meaning={"feline friends": 0.9})
    assert score("feline friends", context).factors["semantic"] == pytest.approx(
        0.9 * Relevance().semantic
    )


def test_equal_segments_have_equal_scores_in_one_run():
    first, second = importances([segment("same"), segment("same")], Context(), NOW)
    assert first == second


@pytest.mark.parametrize("span", [300.0, 86_400.0, 200 * 86_400.0])
def test_forgetting_suits_how_long_the_session_lasts(span):
    rate = Relevance.for_span(span).forgetting
    assert recency(span / 8, rate) >= 0.49
    assert recency(max(span, 600.0), rate) < 0.01


def test_the_preset_of_the_design_weighs_as_it_says():
    source = Relevance.selective_compression()
    weights = (source.recency, source.access, source.semantic, source.entity, source.query)
    assert weights == (0.20, 0.15, 0.30, 0.25, 0.10)
    assert source.uniqueness == source.open_ends == 0.0


@pytest.mark.parametrize("wrong", ["much", None, True, math.nan, math.inf, -0.1])
def test_a_weight_that_is_not_a_number_is_refused(wrong):
    with pytest.raises(
        ConfigError, match=r"^Relevance.access: .* does not belong here; give a number of 0 or"
    ):
        Relevance(access=wrong)


def test_a_share_of_the_curves_is_at_most_one():
    assert Relevance(beta=1).beta == 1
    with pytest.raises(
        ConfigError, match=r"^Relevance.beta: 7 does not belong here; give a share in"
    ):
        Relevance(beta=7)
