"""Which pieces come first: what is new in them for what they cost."""

from __future__ import annotations

from itertools import islice

from holdfast.selection import ordered
from holdfast.text.pieces import template_of, things_in

ROWS = [
    f"tests/test_{name}.py::test_{name} PASSED" for name in ("tax", "ledger", "refund", "audit")
]


def first(texts: list[str], many: int) -> list[str]:
    """The first texts, when all their things are worth the same."""
    things = [things_in(text) for text in texts]
    order = ordered(
        [-1] * len(texts),
        things,
        [1.0] * len(texts),
        {thing: 1.0 for told in things for thing in told},
        again=0.0,
        templates=[template_of(told) for told in things],
        bonus=[0.0] * len(texts),
    )
    return [texts[number] for number in islice(order, many)]


def test_rows_of_a_listing_differ_in_names_and_numbers_alone():
    assert len({template_of(things_in(row)) for row in ROWS}) == 1
    assert template_of(things_in(ROWS[0])) != template_of(
        things_in(ROWS[0].replace("PASSED", "FAILED"))
    )


def test_paths_of_a_listing_are_alike_whatever_their_last_names_are():
    listed = ["/srv/docs", "/srv/setup.py", "/srv/dev/Makefile", "/srv/tests/data-2"]
    assert {template_of(things_in(path)) for path in listed} == {("path",)}


def test_every_further_row_of_a_listing_is_worth_less_than_another_kind_of_line():
    assert first([*ROWS, "NameError raised"], 2) == [ROWS[0], "NameError raised"]


def test_lines_of_plain_words_are_never_of_one_form():
    assert template_of(things_in("the pool is empty")) != template_of(
        things_in("the queue is empty")
    )
    assert template_of(things_in("池が空です")) != template_of(things_in("列が空です"))
