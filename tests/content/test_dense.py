"""Dense text keeps its ends and what is asked, and says what it is."""

from __future__ import annotations

import re

import pytest

from holdfast.content import recognise
from holdfast.content.dense import Dense
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count, real_texts

SCRIPT = "".join(
    f'function f{n}(a,b){{var c=a+b*{n};return c>{n}?g{n}(c):h(c,"err{n}")}}' for n in range(900)
)


def shrunk(text: str, tokens: int, question: str = "") -> str:
    return Dense().shrink(text, Room(tokens, count, question)).text


class TestDense(ContentContract):
    kind = Dense()


def test_a_script_keeps_its_ends_and_says_what_it_is():
    short = shrunk(SCRIPT, 150)
    assert short.startswith(f"[minified JavaScript, {len(SCRIPT):,} characters]\n{SCRIPT[:20]}")
    assert short.rstrip().endswith(SCRIPT[-8:])
    assert " characters …\n" in short


def test_a_script_keeps_the_place_that_is_asked_for():
    assert '"err321"' in shrunk(SCRIPT, 150, "what does f321 do?")


def test_what_is_shown_and_what_is_left_out_make_the_whole():
    short = shrunk(SCRIPT, 400, "f17 and f700").split("\n", 1)[1]
    left_out = [
        int(number.replace(",", "")) for number in re.findall(r"… ([\d,]+) characters …", short)
    ]
    shown = re.sub(r"\n|… [\d,]+ characters …", "", short)
    assert left_out
    assert len(shown) + sum(left_out) == len(SCRIPT)


def test_a_dump_keeps_rows():
    text = real_texts("dense")["od"].text
    short = shrunk(text, 300)
    assert short.splitlines()[1] == text.splitlines()[0]
    assert " lines …" in short


@pytest.mark.parametrize(
    "text",
    [
        "base64 is a way to write bytes",
        "x = 'aGVsbG8gd29ybGQ='",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
        "",
    ],
)
def test_what_mentions_such_things_is_not_dense(text):
    assert not Dense().recognises(text)


def test_a_minified_document_is_read_as_what_it_is():
    assert recognise('{"a":' + "[1,2,3]," * 0 + '"' + "x" * 900 + '"}').name == "json"
