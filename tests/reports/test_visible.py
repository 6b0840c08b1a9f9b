"""Text of strangers is safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.visible import amount, clip, one_line, pad, plain, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b", "a\\x00b"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("\ud800", "\\ud800"),
        ("\x9b31m", "\\x9b31m"),
        ("dos\r\nlines", "dos\nlines"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("数据 🙂 é", "数据 🙂 é"),
    ],
)
def test_what_acts_instead_of_showing_is_written_as_its_escape(text, shown):
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_nothing_hidden_is_left_and_it_can_be_encoded(text):
    shown = visible(text)
    assert visible(shown) == shown
    assert shown.encode("utf-8").decode("utf-8") == shown


def test_one_line_is_the_beginning_without_line_ends():
    assert one_line("\n  first\n\tsecond   third", 40) == "first second third"
    assert one_line("x" * 10_000_000, 10) == "x" * 9 + "…"


def test_wide_characters_take_two_cells():
    assert clip("数据数据数据", 7) == "数据数…"
    assert clip("数据", 4) == "数据"
    assert clip("e\u0301" * 5, 5) == "e\u0301" * 5
    assert pad("数", 4) == "数  "


@given(st.text(max_size=60), st.integers(4, 40))
def test_a_clipped_text_is_a_beginning(text, cells):
    clipped = clip(text, cells)
    assert clipped == text or text.startswith(clipped.removesuffix("…"))


def test_small_words():
    assert (amount(1, "line"), amount(1204, "line")) == ("1 line", "1,204 lines")
    assert (plain("nothing_old"), plain("old output of read_file")) == (
        "nothing old",
        "old output of read_file",
    )
