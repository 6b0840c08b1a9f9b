"""Which pieces come first: what is new in them for what they cost."""

from __future__ import annotations

from itertools import islice

from holdfast.selection import ordered
from holdfast.text.pieces import form, things

ROWS = [
    f"tests/test_{name}.py::test_{name} PASSED" for name in ("tax", "ledger", "refund", "audit")
]


def first(texts: list[str], many: int) -> list[str]:
    """The first texts, when all their things are worth the same."""
    tells = [things(text) for text in texts]
    order = ordered(
        [-1] * len(texts),
        tells,
        [1.0] * len(texts),
        {thing: 1.0 for told in tells for thing in told},
        again=0.0,
        forms=[form(told) for told in tells],
        bonus=[0.0] * len(texts),
    )
    return [texts[number] for number in islice(order, many)]


def test_rows_of_a_listing_differ_in_names_and_numbers_alone():
    assert len({form(things(row)) for row in ROWS}) == 1
    assert form(things(ROWS[0])) != form(things(ROWS[0].replace("PASSED", "FAILED")))


def test_paths_of_a_listing_are_alike_whatever_their_last_names_are():
    listed = ["/srv/docs", "/srv/setup.py", "/srv/dev/Makefile", "/srv/tests/data-2"]
    assert {form(things(path)) for path in listed} == {("path",)}


def test_every_further_row_of_a_listing_is_worth_less_than_another_kind_of_line():
    assert first([*ROWS, "NameError raised"], 2) == [ROWS[0], "NameError raised"]


def test_lines_of_plain_words_are_never_of_one_form():
    assert form(things("the pool is empty")) != form(things("the queue is empty"))
    assert form(things("池が空です")) != form(things("列が空です"))
