"""What a sentence names: exact things verbatim, and no false ones."""

import pytest

from holdfast.text.identifiers import named


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
    assert thing in named(f"we looked at ({thing}), and it was fine.")


def test_ordinary_words_are_no_facts():
    assert named("the capital can recall what it said about a failure of nerve") == frozenset()


def test_a_capital_at_the_beginning_makes_no_name():
    found = named("Tomorrow we ask Alice.")
    assert "Alice" in found
    assert "Tomorrow" not in found


@pytest.mark.parametrize("piece", ["a", " ", "1:", "(", "a_", ".", "東京"])
def test_any_text_is_read(piece):
    assert len(named(piece * 200_000)) <= 1
