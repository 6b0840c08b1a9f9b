"""Binary content is named, not shown."""

from __future__ import annotations

import base64

import pytest

from holdfast.content import recognise
from holdfast.content.binary import Binary
from holdfast.kernel.ports import Room
from tests.contracts.content_contract import ContentContract, count

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


def shrunk(text: str, tokens: int, question: str = "") -> str:
    return Binary().shrink(text, Room(tokens, count, question)).text


class TestBinary(ContentContract):
    kind = Binary()


def test_a_data_url_is_named_with_its_type_and_size():
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert recognise(url).name == "binary"
    assert shrunk(url, 50) == f"[binary: image/png, {len(PNG):,} bytes of base64]"


@pytest.mark.parametrize(
    "decoded",
    [
        PNG.decode("latin-1"),
        PNG.decode("utf-8", "replace"),
        PNG.decode("utf-8", "surrogateescape"),
        repr(PNG),
    ],
)
def test_bytes_are_known_however_they_were_decoded(decoded):
    assert recognise(decoded).name == "binary"
    assert shrunk(decoded, 20).startswith("[binary: image/png, about 5,")


def test_words_in_it_are_shown_and_those_that_are_asked_for_first():
    noise = bytes(range(128, 256)) * 8
    text = (noise + b"usage: pack [files]\0" + noise + b"cannot open the archive\0" + noise).decode(
        "latin-1"
    )
    assert "cannot open the archive" in shrunk(text, 26, "which error about the archive?")
    assert shrunk(text, 60).splitlines()[1:] == [
        "readable parts:",
        "usage: pack [files]",
        "cannot open the archive",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "base64 is a way to write bytes",
        "\x1b[31mred\x1b[0m and \x1b[32mgreen\x1b[0m\n" * 20,
        "日本語のテキストです。" * 20,
        "emoji 😀😀😀 " * 20,
        r"a pattern such as \x41 or \x42 in a text about patterns",
        "data: see below\nand here",
        "[src/a, " + "and other folders of the same project, " * 9 + "src/b]",
    ],
)
def test_text_with_strange_characters_is_not_binary(text):
    assert not Binary().recognises(text)
