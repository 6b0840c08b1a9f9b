from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernel.messages import Media
from holdfast.tokens.media import media_tokens, vision_of
from tests.tokens.test_headers import EXTENDED, GIF, JPEG, PNG, jpeg, packed, pdf


def image_tokens(width, height, *, model=None, detail=""):
    return vision_of(model).image(width, height, detail)


def inline(data: bytes) -> str:
    return base64.b64encode(data + b"\x00" * 64).decode()


def document_tokens(data: bytes) -> int:
    return media_tokens(Media("document", source=inline(data)))


def address(data: bytes, media_type="image/png") -> str:
    return f"data:{media_type};base64,{inline(data)}"


@pytest.mark.parametrize("data", [PNG, GIF, JPEG, EXTENDED], ids=["png", "gif", "jpeg", "webp"])
def test_an_image_takes_what_its_size_takes_however_it_is_carried(data):
    expected = image_tokens(640, 480)
    wrapped = "\n".join(inline(data)[at : at + 76] for at in range(0, len(inline(data)), 76))
    safe = inline(data).replace("+", "-").replace("/", "_")
    for source in (inline(data), address(data), wrapped, safe):
        assert media_tokens(Media("image", source=source)) == expected


def test_the_length_of_the_base64_does_not_matter():
    small, large = inline(PNG), inline(PNG + b"\x00" * 3_000_000)
    assert (
        media_tokens(Media("image", source=small))
        == media_tokens(Media("image", source=large))
        < 1_000
    )


def test_the_size_of_a_photograph_is_found_behind_its_preview():
    photograph = jpeg(*[(0xE2, b"\x00" * 60_000)] * 3)
    assert media_tokens(Media("image", source=inline(photograph))) == image_tokens(640, 480)


def test_an_image_that_is_elsewhere_takes_a_usual_one():
    for source in ("https://example.com/a.png", "file-abc123", "gs://bucket/a", ""):
        assert media_tokens(Media("image", source=source)) == 765
        assert media_tokens(Media("image", source=source, detail="low")) == 85
    assert (
        media_tokens(Media("image", source="https://example.com/a.png"), "claude-3-opus") == 1_600
    )


def test_the_model_decides():
    image = Media("image", source=inline(PNG))
    assert (
        media_tokens(image, "claude-3-opus") == image_tokens(640, 480, model="claude-3-opus") == 410
    )
    assert media_tokens(image, "gemini-2.5-pro") == 258


def test_a_pdf_takes_its_pages():
    one, many = (
        media_tokens(Media("document", source=inline(pdf(packed(n)))), "claude-3-opus")
        for n in (1, 30)
    )
    assert many == 30 * one == 30 * 3_800


def test_a_pdf_that_hides_its_pages_has_one_for_so_many_bytes():
    hidden = pdf(b"\x93" * 500_000)
    assert document_tokens(hidden) == 11 * document_tokens(pdf(packed(1)))


def test_a_pdf_is_read_once(monkeypatch):
    from holdfast.tokens import media as shelf

    reads = []
    monkeypatch.setattr(shelf, "_PAGES", {})
    monkeypatch.setattr("holdfast.text.memo.MOST_BYTES", 0)  # the largest are read once too
    read = shelf.pdf_pages
    monkeypatch.setattr(shelf, "pdf_pages", lambda data: reads.append(len(data)) or read(data))
    document = Media("document", source=inline(pdf(packed(3))))
    assert len({media_tokens(document) for _ in range(5)}) == 1
    assert len(reads) == 1


def test_what_is_known_of_pdfs_is_bounded(monkeypatch):
    from holdfast.tokens import media as shelf

    monkeypatch.setattr(shelf, "_PAGES", {})
    monkeypatch.setattr(shelf, "_MOST_PAGES_KNOWN", 3)
    for pages in range(1, 9):
        media_tokens(Media("document", source=inline(pdf(packed(pages)))))
        assert len(shelf._PAGES) <= 3


def test_a_written_document_is_counted_by_its_text():
    text = "The minutes of the meeting, item by item. " * 20
    source = base64.b64encode(text.encode()).decode()
    assert media_tokens(Media("document", "text/plain", source), count=len) == len(text)
    assert media_tokens(
        Media("document", source=f"data:text/plain;base64,{source}"), count=len
    ) == len(text)
    assert (
        media_tokens(
            Media("document", source="data:text/plain;charset=utf-8,a%20b%C3%A9"), count=len
        )
        == 4
    )
    assert media_tokens(Media("document", "text/plain", source)) == len(text) // 4


def test_a_document_of_another_kind_is_counted_by_its_size():
    assert document_tokens(b"PK\x03\x04" + b"\xff" * 200_000) == 5 * document_tokens(pdf(packed(1)))


def test_a_document_that_is_elsewhere_takes_five_pages():
    assert media_tokens(
        Media("document", source="https://example.com/report.pdf")
    ) == 5 * document_tokens(pdf(packed(1)))


def test_sound_and_film_take_their_length():
    minute = base64.b64encode(b"ID3" + b"\x00" * 960_000).decode()
    assert media_tokens(Media("audio", "mp3", minute)) == 60 * 32
    assert media_tokens(Media("audio", source="audio_abc")) == 60 * 32
    assert media_tokens(Media("video", source="gs://bucket/film.mp4")) == 60 * 263


@given(
    st.sampled_from(["image", "document", "audio", "video"]),
    st.text(max_size=200) | st.binary(max_size=200).map(inline),
)
def test_any_source_takes_something(kind, source):
    assert media_tokens(Media(kind, source=source)) >= (0 if kind == "document" else 1)


@pytest.mark.parametrize(
    "source",
    [
        "data:" + "a" * 1_000_000,
        "data:" + ";a" * 500_000,
        "A" * 1_000_000,
        " " * 1_000_000,
        "%41" * 300_000,
    ],
)
def test_a_megabyte_of_source_is_read_no_more_than_once(source):
    assert media_tokens(Media("image", source=source)) == 765
    assert media_tokens(Media("document", source=source)) > 0
