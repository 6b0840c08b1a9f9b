import pytest

from holdfast.compressors.rank import scores
from holdfast.text.importance import MOFA, SELECTIVE, Weights
from tests.formats.rules.messages import assistant, calling, tool, user
from tests.talks import settled, system


def scored(messages, weights=MOFA, recent=(), query=""):
    return scores(settled(messages, 10_000)[0], weights, list(recent), query)


def test_the_formula_of_the_design_with_the_newest_most_recent():
    talk = [system("x" * 100), user("x" * 1_000), assistant("x" * 5_000), user("x")]
    expected = [
        0.4 * 0.25 + 0.3 * 1.0 + 0.3 * 0.1,
        0.4 * 0.50 + 0.3 * 0.5 + 0.3 * 1.0,
        0.4 * 0.75 + 0.3 * 0.7 + 0.3 * 1.0,
        0.4 * 1.00 + 0.3 * 0.5 + 0.3 * 0.001,
    ]
    assert scored(talk) == pytest.approx(expected)


def test_tools_weigh_less_than_speakers():
    assert scored([user("Go."), calling("a"), tool("a", "out")], Weights(role=1.0)) == [
        0.5,
        0.7,
        0.3,
    ]


def test_what_speaks_of_the_question_or_the_newest_messages_weighs_more():
    talk = [
        assistant("The disk of db-17 is full of old backups."),
        assistant("Lunch is at noon in the park."),
        user("What about the disk of db-17?"),
    ]
    for weights, query in (
        (SELECTIVE, ""),
        (Weights(query=1.0), "disk full"),
        (Weights(entity=1.0), ""),
    ):
        one, other, _ = scored(talk, weights, recent=[2], query=query)
        assert one > other


def test_what_nobody_else_says_is_unique():
    one, other, third = scored(
        [assistant("alpha beta"), assistant("beta gamma"), user("gamma")], Weights(uniqueness=1.0)
    )
    assert (one, other, third) == (0.5, 0.0, 0.0)


def test_a_message_that_says_it_is_important_weighs_more():
    plain, marked = scored(
        [assistant("Use TLS here."), assistant("Important: TLS.")], Weights(role=0.5, marker=1.5)
    )
    assert marked == pytest.approx(plain * 1.5)


def test_nothing_scores_nothing():
    assert scored([]) == []
    assert all(0 <= score <= 1 for score in scored([user(""), assistant("")], SELECTIVE))
