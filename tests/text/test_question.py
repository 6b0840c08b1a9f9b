from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.question import answers_to, scores_of, terms_of

ASKED = (
    "why did the deploy of RetryPolicy in src/http/client.py fail with error 404 and "
    '"pool is empty"?'
)


def score(question: str, text: str) -> float:
    """The weights of the terms that the text holds; 0.0 is nothing in common."""
    return sum(term.weight for term in answers_to(question, [text])[0])


def test_a_question_is_made_once():
    assert terms_of("why?") is terms_of("why?")


@pytest.mark.parametrize("text", ["", "   ", "the of and", "?!", "why is it so"])
def test_a_question_without_a_usable_term_finds_nothing(text):
    assert not terms_of(text)
    assert score(text, "the of and why it is so") == 0.0


@pytest.mark.parametrize(
    "line",
    [
        "it failed",
        "Failing fast",
        "FAILURE",
        "lastError: 3",
        "errors",
        "deployments",
        "HTTP404",
        "class RetryPolicy:",
    ],
)
def test_words_are_found_in_their_other_forms_and_within_names(line):
    assert score(ASKED, line) > 0


@pytest.mark.parametrize(
    "line", ["terrors", "the employ", "14045", "failsafeguard", "poolside", "in and with"]
)
def test_parts_of_other_words_are_not_found(line):
    assert score(ASKED, line) == 0.0


def test_what_is_exact_weighs_more_than_words():
    exact = ["pool is empty", "RetryPolicy", "src/http/client.py", "404"]
    assert min(score(ASKED, one) for one in exact) > score(ASKED, "deploy failed")


def test_a_term_counts_once_however_often_it_stands_there():
    assert score(ASKED, "error error errors error") == score(ASKED, "error")


def test_more_of_the_question_scores_higher():
    assert score(ASKED, "the deploy failed with an error") > score(
        ASKED, "the deploy ended with an error"
    )


def test_numbers_are_found_whole_only():
    asked = "what happened at 12?"
    assert score(asked, "12 o'clock")
    assert not score(asked, "120 and 212")


def test_scripts_without_spaces_are_found():
    assert score("为什么部署失败", "昨天的部署没有问题")
    assert not score("为什么部署失败", "天气很好")


def test_among_many_texts_a_rare_term_counts_more():
    texts = ["service a"] * 50 + ["service b", "zebra b"]
    scores = scores_of("service zebra", texts)
    assert scores[-1] > 2 * scores[0]


def test_a_term_that_all_texts_hold_hardly_counts():
    one, other = scores_of("service zebra", ["service a", "service zebra"])
    assert other > 2 * one


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_question_can_be_asked_of_any_text(question, text):
    assert set(answers_to(question, [text, ""])[0]) <= set(terms_of(question))


def test_a_long_paste_keeps_few_terms_and_the_exact_ones():
    pasted = " ".join(f"word{letter}" for letter in "abcdefgh") * 500 + " ERR_POOL_7"
    assert len(terms_of(pasted)) < 100
    assert score(pasted, "then ERR_POOL_7 came")


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-03T11:29:20Z WARN",
        "2026-03-03T11:20:29Z WARN",
        "at 20:15 sharp",
        "on 2026-08-20",
        "120 items",
        "20.5 percent",
        "0.20 percent",
        "20,000 lines",
        "version v20",
        "took 20ms",
        "id a20f",
    ],
)
def test_a_short_number_is_not_found_within_a_time_a_date_or_a_longer_number(text):
    assert not score("which were the 20 slowest?", text)


@pytest.mark.parametrize(
    "text", ["row 20 failed", "count=20", "19,20,21", "(20)", "it was 20.", "worker-20", "20: x"]
)
def test_a_short_number_is_found_where_it_stands_alone(text):
    assert score("what of number 20?", text)


@pytest.mark.parametrize(
    "question", ["What happened on 20 August?", "on Aug 20th", "since the 20th of August"]
)
def test_a_day_beside_the_name_of_its_month_is_a_date_and_no_number(question):
    assert score(question, "it came on 20 Aug") > 0
    assert score(question, "2026-08-20T11:29:05Z came") > 0
    assert score(question, "gate 20 is shut") == 0
    assert score(question, "2026-03-03T11:29:20Z WARN") == 0


def test_a_score_is_a_float_also_where_nothing_is_found():
    assert repr(scores_of("zebra", ["horse"])) == "[0.0]"


def test_accents_are_found_however_they_were_written():
    lines = ["Herr Mu\u0308ller kam", "Herr Maier kam"]
    for question in ("Wer ist Müller?", "Wer ist Mu\u0308ller?", '"Müller kam"?'):
        one, other = scores_of(question, lines)
        assert one > 1 > other
