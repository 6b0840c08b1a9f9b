"""Prose keeps whole sentences, the most telling ones."""

from __future__ import annotations

import re

import pytest

from holdfast.content import recognise
from holdfast.content.lossy import Prose
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count, real_texts


def shrunk(text: str, tokens: int, question: str = "") -> str:
    return Prose().shrink(text, Room(tokens, count, question)).text


class TestProse(ContentContract):
    kind = Prose()


@pytest.mark.parametrize(
    "name", ["incident-report", "expense-policy", "meeting-notes", "library-guide"]
)
@pytest.mark.parametrize("share", [3, 10])
def test_what_is_kept_stands_in_the_text_in_the_same_order(name, share):
    text = " ".join(real_texts("prose")[name].text.split())
    kept = [
        line
        for line in shrunk(real_texts("prose")[name].text, count(text) // share).split("\n")
        if line[:1] not in {"…", ""}
    ]
    assert kept
    place = 0
    for line in kept:
        place = text.find(" ".join(line.split()), place)
        assert place >= 0


def test_it_says_how_many_sentences_are_left_out():
    text = real_texts("prose")["expense-policy"].text
    result = Prose().shrink(text, Room(120, count))
    told = re.fullmatch(r"(\d+) of (\d+) sentences", result.omitted)
    assert told is not None
    gaps = re.findall(r"… (\d+) sentences? …", result.text)
    assert sum(map(int, gaps)) == int(told[1])


def test_the_question_decides_what_is_kept():
    text = real_texts("prose")["expense-policy"].text
    assert "0.30 EUR a kilometre" in shrunk(text, 160, "how much is paid for driving my own car?")
    assert "45 days" in shrunk(text, 160, "until when do I have to hand in a claim after a trip?")


def test_a_text_without_an_end_is_cut_between_words():
    short = shrunk("word " * 3_000 + "needle " + "word " * 3_000, 60, "where is the needle?")
    assert "needle" in short


def test_an_image_in_the_text_is_named():
    text = f"Look at the chart: data:image/png;base64,{'A1b2' * 400} It shows the sales of May."
    result = Prose().shrink(text, Room(60, count))
    assert (
        result.text
        == "Look at the chart: [image/png, 1,200 bytes of base64] It shows the sales of May."
    )
    assert result.omitted


def test_chinese_is_read_by_sentences():
    text = "今天天气很好。" * 30 + "部署失败的原因是连接池已满。" + "大家都去吃饭了。" * 30
    assert "部署失败的原因是连接池已满。" in shrunk(text, 60, "部署为什么失败")


@pytest.mark.parametrize(
    "text",
    [
        "This text mentions base64 and data: URLs, and yet it is written by a person.",
        "Ein Satz auf Deutsch. Noch ein Satz, der etwas länger ist als der erste.",
        'A page:\n\n```json\n{"a": 1}\n```\n\nThat is all that there is to it, for now.',
    ],
)
def test_what_a_person_wrote_is_prose(text):
    assert recognise(text).name == "prose"


def test_white_space_alone_is_named():
    assert (
        Prose().shrink(" \n" * 40_000, Room(60, count)).text == "[80,000 characters of white space]"
    )


def test_what_a_program_prints_is_read_by_lines():
    text = "Packages:\n" + "\n".join(
        f"  pkg-{n}        1.{n}   Tools for no. {n} of e.g. this" for n in range(90)
    )
    shrunk = Prose().shrink(text, Room(200, count))
    whole = {" ".join(line.split()) for line in text.splitlines()}
    kept = [
        " ".join(line.split()) for line in shrunk.text.splitlines() if line[:1] not in {"…", ""}
    ]
    assert len(kept) > 5
    assert whole.issuperset(kept)
    assert shrunk.omitted.endswith("of 91 lines")
