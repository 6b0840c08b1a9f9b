"""What differs between two texts is found exactly, and shown short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reports.text import DiffPiece, difference, folded

LINES = st.lists(
    st.sampled_from(["a", "b", "c", "same line", "", "x" * 100, "x" * 99 + "y", "d\r"]), max_size=12
)
TEXTS = LINES.map("\n".join) | st.text(max_size=40)


@given(TEXTS, TEXTS)
def test_the_pieces_give_both_texts_back(old, new):
    pieces = difference(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == new


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert difference(text, text) == ([DiffPiece("same", text)] if text else [])


def test_lines_that_stay_between_others_are_the_same():
    assert difference("one\ntwo\nthree\nfour\n", "one\nthree\n5\n") == [
        DiffPiece("same", "one\n"),
        DiffPiece("gone", "two\n"),
        DiffPiece("same", "three\n"),
        DiffPiece("gone", "four\n"),
        DiffPiece("new", "5\n"),
    ]


def test_a_line_that_lost_its_middle_shows_the_middle():
    old = "a" * 500 + "middle" * 100 + "z" * 500
    new = "a" * 500 + "[cut]" + "z" * 500
    assert difference(old, new) == [
        DiffPiece("same", "a" * 500),
        DiffPiece("gone", "middle" * 100),
        DiffPiece("new", "[cut]"),
        DiffPiece("same", "z" * 500),
    ]


def test_lines_that_only_begin_alike_are_different_lines():
    old, new = "2024-06-01 02:30:04 INFO started\n", "2024-06-01 02:30:04 ERROR refused\n"
    assert difference(old, new) == [DiffPiece("gone", old), DiffPiece("new", new)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a" * 1_000_000, "a" * 999_999),
        ("\n" * 300_000, "\n" * 299_999 + "x"),
        ("ab\n" * 200_000, "ba\n" * 200_000),
        ("\n".join(map(str, range(100_000))), "\n".join(map(str, range(100_000, 0, -1)))),
        ("\n".join(map(str, range(100_000))), "\n".join(map(str, range(0, 100_000, 2)))),
    ],
    ids=["one letter", "blank lines", "repeated lines", "reversed", "every second"],
)
def test_large_texts_differ_without_comparing_everything_with_everything(old, new):
    pieces = difference(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old


def test_folding_keeps_a_few_lines_around_a_change_and_counts_the_rest():
    old = "".join(f"line {i}\n" for i in range(20))
    new = old.replace("line 10\n", "LINE TEN\n")
    assert list(folded(difference(old, new), context=1)) == [
        DiffPiece("left_out", "9 unchanged lines"),
        DiffPiece("same", "line 9"),
        DiffPiece("gone", "line 10"),
        DiffPiece("new", "LINE TEN"),
        DiffPiece("same", "line 11"),
        DiffPiece("left_out", "8 unchanged lines"),
    ]


def test_folding_shows_the_beginning_and_the_end_of_what_went():
    old = "".join(f"line {i}\n" for i in range(100))
    shown = list(folded([DiffPiece("gone", old)], most=6))
    assert shown == [
        DiffPiece("gone", "line 0\nline 1\nline 2\nline 3"),
        DiffPiece("left_out", "94 more lines"),
        DiffPiece("gone", "line 98\nline 99"),
    ]


def test_folding_shortens_a_long_line_in_its_middle():
    (piece,) = folded([DiffPiece("new", "a" * 500 + "b" * 500)], width=88)
    assert piece.text.startswith("aaaa")
    assert piece.text.endswith("bbbb")
    assert "940 characters" in piece.text
    assert len(piece.text) <= 88
