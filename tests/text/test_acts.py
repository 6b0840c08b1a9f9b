"""Calls that are written as elements with tags."""

import json

import pytest

from holdfast.text.acts import calls_in, pieces_of_act
from tests.text.adversarial import LARGE


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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"ferry": {"booking": "R-1", "at": "10:00"}, "route": "A"},
            "ferry booking: R-1, at: 10:00",
        ),
        ({"note": {"for": {"who": "Ada", "why": "late"}}}, "note for who: Ada, why: late"),
    ],
)
def test_arguments_in_arguments_are_told_with_the_key_above_them(arguments, told):
    first, *_ = pieces_of_act("plan", json.dumps(arguments))
    assert told in first.text


def test_an_argument_that_is_a_sentence_is_told_apart():
    act = {"thought": "Now the merge again, without holds.", "op": "catalog.merge", "keep": "b4023"}
    first, second = pieces_of_act("", json.dumps(act))
    assert first.text == "op: catalog.merge, keep: b4023"
    assert second.text == "thought: Now the merge again, without holds."
    assert second.parent == 0


def test_short_arguments_of_several_lines_stand_behind_those_of_one_line():
    act = {"plan": "- find sellers\n- rank them", "command": {"name": "search", "query": "PET"}}
    first, *_ = pieces_of_act("", json.dumps(act))
    assert first.text == "name: search, query: PET, plan: - find sellers\n- rank them"


def test_an_argument_of_line_breaks_alone_is_not_said_by_what_follows():
    (piece,) = pieces_of_act("write", json.dumps({"path": "a.txt", "content": "\n"}))
    assert piece.text.strip() == "write path: a.txt, content:"


@pytest.mark.parametrize("name", LARGE)
def test_a_long_argument_is_told_in_short_time(name):
    first, *_ = pieces_of_act("write", json.dumps({"path": "a.txt", "content": LARGE[name]}))
    assert first.text.startswith("write path: a.txt")
