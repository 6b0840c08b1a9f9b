from __future__ import annotations

import base64

import pytest

from holdfast.text.opaque import elide, media_type
from tests.text.adversarial import LARGE

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
BASE64 = base64.b64encode(PNG).decode()
WRAPPED = "\n".join(BASE64[at : at + 76] for at in range(0, len(BASE64), 76))


@pytest.mark.parametrize(
    ("opaque", "told"),
    [
        (BASE64, f"[image/png, {len(PNG):,} bytes of base64]"),
        (WRAPPED, f"[image/png, {len(PNG):,} bytes of base64]"),
        (f"data:image/webp;base64,{BASE64}", f"[image/webp, {len(PNG):,} bytes of base64]"),
        (PNG.hex(), f"[image/png, {len(PNG):,} bytes of hexadecimal]"),
        (base64.b64encode(b"\xff\xff\xff\x00" * 60).decode(), "[data, 240 bytes of base64]"),
        ("x" * 500, "[data, 500 characters without a space]"),
    ],
)
def test_what_is_opaque_is_named_in_its_place(opaque, told):
    assert elide(f"before\n{opaque}\nafter") == f"before\n{told}\nafter"


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
        "data:text/plain,hello",
        "a" * 100,
        "-" * 20,
        f"/srv/{'Billing_v2/persistence/' * 9}InvoiceRepository",
        f"file:///srv/{'billing/persistence/' * 9}invoice",
        f"s3://bucket//{'billing/persistence/' * 9}invoice",
        f"https://example.com/{'how-to-fit-long-conversations-' * 7}2026",
    ],
)
def test_what_a_reader_may_need_stays(text):
    assert elide(text) == text


def test_files_are_known_by_their_first_bytes_however_they_were_decoded():
    assert media_type(PNG) == "image/png"
    assert media_type(b"plain") == ""
    for decoded in (
        PNG.decode("latin-1"),
        PNG.decode("utf-8", "replace"),
        PNG.decode("utf-8", "surrogateescape"),
    ):
        assert media_type(decoded) == "image/png"


@pytest.mark.parametrize("name", LARGE)
def test_it_ends_on_any_text(name):
    assert len(elide(LARGE[name])) <= len(LARGE[name])
