from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.sentences import sentences
from tests.text.adversarial import LARGE


def split(text: str) -> list[str]:
    return [piece.strip() for piece in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "St. Gallen paid $3.50 at 10 a.m. on Jan. 5.",
        "Use e.g. the second one, i.e. that one.",
        "See https://example.com/a.b?c=d. for more.",
        "It was v1.2.3 of example.com that failed.",
        "J. S. Bach wrote it (see Fig. 3).",
        "Das gilt z.B. für Nr. 5 bzw. für alle.",
        "The U.S. Army came.",
    ],
)
def test_a_full_stop_within_a_sentence_does_not_end_it(text):
    assert split(text) == [text]


def test_sentences_end_at_stops_and_at_closing_quotes():
    assert split('One. Two! "Really?" he asked. Well… Four') == [
        "One.",
        "Two!",
        '"Really?" he asked.',
        "Well…",
        "Four",
    ]


def test_chinese_and_japanese_need_no_space():
    assert split("今天部署失败了。为什么？因为超时。") == [
        "今天部署失败了。",
        "为什么？",
        "因为超时。",
    ]


def test_wrapped_lines_are_joined_and_short_lines_are_not():
    text = (
        "A line that is so long that somebody has wrapped it\nand that goes on here.\n"
        "Title\nFirst words"
    )
    assert split(text) == [text[: text.index("Title")].strip(), "Title", "First words"]


def test_list_items_and_headings_stand_alone():
    text = "# Heading of some length for the test, really\n1. First item\n2. Second one\n- third"
    assert split(text) == text.split("\n")


def test_a_code_block_is_one_piece():
    block = "```python\nx = 1. \ny = 2\n```\n"
    assert sentences(f"Look.\n{block}Done.") == ["Look.\n", block, "Done."]


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab. \n!?。…\"')1-#`"), max_size=200))
def test_the_pieces_make_the_text(text):
    assert "".join(sentences(text)) == text


@pytest.mark.parametrize("name", LARGE)
def test_it_ends_on_any_text(name):
    assert "".join(sentences(LARGE[name])) == LARGE[name]


def test_short_words_that_are_abbreviations_too_end_a_sentence_before_a_capital():
    said = ["It goes on. ", "He says no. ", "They sat. ", "It is Art. 5 of the law."]
    assert sentences("".join(said)) == said
