"""Calls that are written as elements with tags."""

import pytest

from holdfast.text.acts import calls_in


def test_calls_within_one_element_are_several():
    calls = [
        f'<invoke name="read">\n<parameter name="path">part{n}.csv</parameter>\n</invoke>'
        for n in range(2)
    ]
    assert calls_in("<calls>\n" + "\n".join(calls) + "\n</calls>") == [
        ("read", [("path", "part0.csv")]),
        ("read", [("path", "part1.csv")]),
    ]


def test_an_argument_may_have_tags():
    page = "<p>Porto</p> and <b>Faro</b>"
    text = f"<write>\n<path>a.html</path>\n<content>{page}</content>\n</write>"
    assert calls_in(text) == [("write", [("path", "a.html"), ("content", page)])]


@pytest.mark.parametrize(
    "text", ["", "open part1", "<a>1</a> and more", "<a>1", "<a><a>1</a></a>", "if a < b and c > d"]
)
def test_what_has_other_parts_is_no_call(text):
    assert calls_in(text) == []


def test_a_long_text_of_tags_that_are_not_closed_is_left_at_once():
    assert calls_in("<a>" * 100_000) == []
