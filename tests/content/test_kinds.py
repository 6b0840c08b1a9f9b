"""The shelf as a whole: which kind is asked first, and what happens to a text of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.content import KINDS, kind, kinds, recognise, shrink
from holdfast.content.lossy import sampled
from holdfast.kernel.errors import ConfigError
from holdfast.kernel.ports import ContentKind, Room
from tests.contracts.content_contract import count, real_texts


def test_every_name_of_the_table_stands_for_a_kind_of_that_name():
    assert {name: kind(name).name for name in KINDS.table} == {name: name for name in KINDS.table}
    assert all(isinstance(known, ContentKind) for known in kinds())


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(ConfigError, match="did you mean 'prose'"):
        kind("pros")


def test_prose_takes_what_no_kind_recognises():
    assert recognise("").name == "prose"
    assert recognise("?").name == "prose"


def test_what_fits_is_left_alone():
    result = shrink("A short text.", Room(10, count))
    assert (result.text, result.lossless, result.omitted) == ("A short text.", True, "")


def test_the_lossless_form_is_taken_before_any_loss():
    text = (
        '[{"name": "alpha", "state": "ready"}, {"name": "beta", "state": "ready"}, '
        '{"name": "gamma", "state": "ready"}]'
    )
    result = shrink(text, Room(count(text) - 5, count))
    assert result.lossless
    assert count(result.text) <= count(text) - 5


@pytest.mark.parametrize("name", KINDS.table)
def test_real_texts_of_each_kind_fit_a_tenth(name):
    for one in real_texts(name).values():
        room = Room(count(one.text) // 10, count, one.query)
        result = shrink(one.text, room)
        assert count(result.text) <= room.tokens
        assert result.kind == name


@pytest.mark.parametrize("name", ["json", "diff", "table", "log", "yaml"])
def test_colours_and_line_ends_change_neither_the_kind_of_a_text_nor_what_is_told_of_it(name):
    one = next(iter(real_texts(name).values()))
    room = Room(count(one.text) // 10, count, one.query)
    lines = one.text.split("\n")
    coloured = "\n".join(f"\x1b[1;32m{line}\x1b[0m" if line else line for line in lines)
    for text in (coloured, "\r".join(lines)):
        assert recognise(text).name == name
        assert shrink(text, room).text == shrink(one.text, room).text


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(1, 60))
def test_any_text_fits(text, tokens):
    result = shrink(text, Room(tokens, count))
    assert count(result.text) <= tokens
    assert result.lossless != bool(result.omitted)


def test_a_text_that_begins_with_hundreds_of_blank_lines_is_recognised():
    assert recognise(" \n" * 300 + "name,price,stock\nring,12,4\n").name == "prose"


def test_a_sample_has_whole_lines_from_the_beginning_to_the_end():
    lines = [f"line {number:04}" for number in range(2_000)]
    shown = sampled("\n".join(lines), 4, 200).split("\n")
    assert set(shown) <= set(lines)
    assert len(shown) > 60, "each of the four places has its lines"
    assert shown[:15] == lines[:15]
    assert shown[-1] > lines[-3]


def test_a_page_below_one_line_of_state_is_no_log():
    tree = "\n".join(f"  [{n}] {kind} 'Item {n}'" for n in range(4, 40) for kind in ("link", "row"))
    page = f"OK. Typed into 'Year'.\nPage: Fund - step 1\n[1] RootWebArea 'Fund'\n [2] main\n{tree}"
    assert recognise(page).name != "log"
