"""Facts of a sentence: exact things verbatim, no false ones, and more worth where a reader would miss them more."""

import pytest

from holdfast.text.identifiers import exactness, facts


@pytest.mark.parametrize(
    "thing",
    [
        "ORD-12345",
        "https://example.com/api/v1/orders/7",
        "/srv/app/main.py",
        "ana@example.com",
        "550e8400-e29b-41d4-a716-446655440000",
        "2024-05-20",
        "$1,250.00",
        "v2.4.0",
        "parse_header",
    ],
)
def test_exact_things_are_kept_as_they_are_written(thing):
    assert thing in facts(f"we looked at ({thing}), and it was fine.").things


def test_ordinary_words_are_no_facts():
    assert facts("the capital can recall what it said about a failure of nerve").things == ()


def test_a_capital_at_the_beginning_makes_no_name():
    found = facts("Tomorrow we ask Alice.").things
    assert "Alice" in found
    assert "Tomorrow" not in found


@pytest.mark.parametrize(
    "more",
    [
        "We decided to refund it.",
        "It must be done before noon.",
        "I would rather fly in the morning.",
        "The upload failed again.",
    ],
)
def test_decisions_demands_wishes_and_failures_are_worth_more_than_talk(more):
    assert facts(more).worth > facts("It is nice to hear from all of them.").worth


def test_identifiers_are_worth_more_than_numbers_and_times():
    assert exactness("ORD-12345") > exactness("1234") > 0
    assert exactness("ORD-12345") > exactness("03:00:00+1") > 0


@pytest.mark.parametrize("piece", ["a", " ", "1:", "(", "a_", ".", "東京"])
def test_any_text_is_read(piece):
    assert exactness(piece * 200_000) >= 0
