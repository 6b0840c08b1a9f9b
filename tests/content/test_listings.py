"""Lists of files are read line by line: what is asked for stays, the rest is counted."""

from __future__ import annotations

import pytest

from holdfast.content import recognise
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import count, real_texts

PATHS = [
    f"./src/part{number % 9}/module_{number}.{'py' if number % 3 else 'md'}"
    for number in range(600)
]


def shrunk(text, tokens, question=""):
    return recognise(text).shrink(text, Room(tokens, count, question)).text


def test_a_file_that_is_asked_for_is_named():
    assert "module_417.md" in shrunk("\n".join(PATHS), 60, "is there a module_417.md?")


def test_names_left_out_are_counted():
    told = shrunk("\n".join(f"name_{number}.txt" for number in range(500)), 80)
    left_out = [int(line.split()[1]) for line in told.split("\n") if line.startswith("… ")]
    assert told.count("name_") + sum(left_out) == 500


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("du", "108K\temail/_header_value_parser.py"),
        ("ls-long", "51592 2023-05-25 14:11 apt-get"),
        ("ls-recursive", "3559 2025-04-28 14:11 base64mime.py"),
    ],
)
def test_what_is_asked_for_is_told_with_its_size(name, line):
    real = real_texts("prose")[name]
    assert line in shrunk(real.text, count(real.text) // 10, real.query)
