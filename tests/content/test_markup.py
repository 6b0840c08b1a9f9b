"""Markup is read, not shown: its text and its structure."""

from __future__ import annotations

import re

import pytest

from holdfast.content.markup import Markup
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count


class TestMarkup(ContentContract):
    kind = Markup()

    def same(self, one: str, other: str) -> bool:
        return re.sub(r">\s+<", "><", one) == re.sub(r">\s+<", "><", other)


def shrunk(text: str, tokens: int, question: str = "") -> str:
    return Markup().shrink(text, Room(tokens, count, question)).text


PAGE = (
    """
<html><head><title>Timetable</title><style>p { color: red }</style>
<script>var secret = "<p>not shown</p>";</script>
</head><body><nav><a href="/">Home</a></nav><h1>Trains &amp; buses</h1>
<p>The last train leaves at <b>23:10</b> from <a href="/platform/4">platform 4</a>.</p>
<ul><li>One<ul><li>Inner</li></ul></li><li>Two</li></ul>
<table><tr><th>To</th><th>At</th></tr><tr><td>Bern</td><td>8:02</td></tr></table>
<form action="/search" method="post"><input name="q" placeholder="Where to?">
<input type="hidden" name="t" value="1">
<select name="class"><option>First<option>Second</select><button>Search</button></form>
<pre>a  b
c</pre><!-- a comment --></body></html>"""
    + "<p> </p>" * 300
)


def test_a_page_becomes_its_text():
    assert shrunk(PAGE, 200).splitlines() == [
        "title: Timetable",
        "Home (/)",
        "# Trains & buses",
        "The last train leaves at 23:10 from platform 4 (/platform/4).",
        "- One",
        "  - Inner",
        "- Two",
        "To | At",
        "Bern | 8:02",
        "[form POST /search]",
        "[input name=q placeholder=Where to?] [select name=class: · First · Second] "
        "[button: Search]",
        "a  b",
        "c",
    ]


def test_a_document_becomes_its_elements():
    text = (
        '<?xml version="1.0"?><jobs xmlns="urn:x"><job '
        'id="7"><name>build</name><state>failed</state></job>'
        "<note>See <em>below</em></note></jobs>" + "<!-- nothing here -->" * 40
    )
    assert shrunk(text, 60) == "jobs (job (id 7, name build, state failed), note See below)"


def test_elements_of_one_name_become_rows_and_the_rest_is_counted():
    items = "".join(
        f'<item sku="{number}" price="{number * 3}" name="part {number}"/>' for number in range(500)
    )
    short = shrunk(f"<list>{items}</list>", 160, "what is the price of sku 321?")
    assert "500 records, a row each: sku, price, name" in short
    assert "321 963, part 321" in short
    assert " records …" in short


def test_elements_that_take_turns_stay_in_their_order():
    text = "<dict>" + "".join(f"<key>k{n}</key><string>v{n}</string>" for n in range(9)) + "</dict>"
    assert "key k6, string v6, key k7, string v7" in shrunk(text, 80)


def test_an_image_within_a_page_is_named():
    image = "A1b2" * 300
    text = (
        f'<div><p>Look: <img alt="a chart" src="data:image/png;base64,{image}"></p><p>And '
        f"data {image}</p></div>"
    )
    short = shrunk(text, 60)
    assert "[image: a chart]" in short
    assert "bytes of base64" in short


def test_indentation_is_all_that_the_lossless_form_drops():
    assert Markup().compact("<a>\n  <b>x y</b>\n  <c/>\n</a>") == "<a><b>x y</b><c/></a>"


@pytest.mark.parametrize(
    "text",
    [
        "<a>\n  text <b>x</b>\n  <c/>\n</a>",
        "<a>\n  <![CDATA[ >\n  < ]]>\n</a>",
        "<a xml:space='preserve'>\n  <b/>\n</a>",
        "<ul>\n  <li>x</li>\n</ul>",
        "<a><b/></a>",
        "no markup",
    ],
)
def test_where_white_space_may_be_content_there_is_no_lossless_form(text):
    assert Markup().compact(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c, said <somebody> in a <text>",
        "<stdin>:1: error: no such file",
        "Use the <br> tag to break a line.",
        "<thinking> "
        + "Many words follow one another without any tag between them. " * 40
        + "</thinking>",
        "<?php\n$a = 1;\n",
    ],
)
def test_a_text_that_mentions_tags_is_not_markup(text):
    assert not Markup().recognises(text)


@pytest.mark.parametrize("depth", [100_000])
def test_any_depth_is_read(depth):
    deep = "<a>" * depth + "found it" + "</a>" * depth
    assert '"found' in shrunk(deep, 400, "where was it found?")


def test_an_empty_first_cell_keeps_the_others_in_their_columns():
    rows = "<tr><td></td><td>2</td></tr><tr><td>3</td><td></td></tr>"
    page = f"<table><tr><th>a</th><th>b</th></tr>{rows}</table>"
    assert Markup().read(page).pieces[0].text == "a | b\n| 2\n3"


def test_a_numbered_list_begins_where_it_says():
    page = "<body><ol start='5'><li>five</li><li>six</li></ol></body>"
    assert Markup().read(page).pieces[0].text == "5. five\n6. six"


def test_cells_that_span_rows_and_columns_take_their_places():
    page = (
        "<table><tr><th>year</th><th>name</th><th>n</th></tr>"
        "<tr><td rowspan=2>2019</td><td>A</td><td>1</td></tr><tr><td>B</td><td>2</td></tr>"
        "<tr><td colspan=2>Total</td><td rowspan=2>3</td></tr><tr><td>C</td><td>D</td></tr>"
        "<tr><td>E</td><td>F</td><td>5</td></tr></table>"
    )
    told = Markup().read(page).pieces[0].text
    assert told == "year | name | n\n2019 | A | 1\n| B | 2\nTotal |  | 3\nC | D\nE | F | 5"


def test_what_is_struck_out_is_told_as_such():
    page = "<div><p>It costs <del>100</del> 80, <s>sold out</s> in stock</p></div>"
    told = Markup().read(page).pieces[0].text
    assert told == "It costs ~~100~~ 80, ~~sold out~~ in stock"
