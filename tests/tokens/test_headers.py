from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.media import bytes_a_second, image_size, pdf_pages

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 8, 2, 0, 0, 0)
GIF = b"GIF89a" + struct.pack("<HH", 640, 480) + b"\x00" * 3
EXTENDED = (
    b"RIFF\x00\x00\x00\x00WEBPVP8X"
    + struct.pack("<I", 10)
    + b"\x00" * 4
    + b"\x7f\x02\x00"
    + b"\xdf\x01\x00"
)
LOSSLESS = (
    b"RIFF\x00\x00\x00\x00WEBPVP8L"
    + struct.pack("<I", 9)
    + b"\x2f"
    + struct.pack("<I", 639 | 479 << 14)
    + b"\x00" * 9
)
LOSSY = (
    b"RIFF\x00\x00\x00\x00WEBPVP8 "
    + struct.pack("<I", 9)
    + b"\x00\x00\x00\x9d\x01\x2a"
    + struct.pack("<HH", 640, 480)
)


def jpeg(*segments, frame=0xC0):
    body = b"".join(
        bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data for marker, data in segments
    )
    return (
        b"\xff\xd8"
        + body
        + bytes([0xFF, frame])
        + struct.pack(">HBHHB", 17, 8, 480, 640, 3)
        + b"\x00" * 9
    )


JPEG = jpeg((0xE0, b"JFIF\x00"), (0xE1, b"Exif" + b"\xff\xc0" * 500), (0xC4, b"\x00" * 30))
PROGRESSIVE = jpeg((0xDB, b"\x00" * 65), frame=0xC2)
FILLED = JPEG[:2] + b"\xff\xff" + JPEG[2:]


@pytest.mark.parametrize(
    "data",
    [PNG, GIF, EXTENDED, LOSSLESS, LOSSY, JPEG, PROGRESSIVE, FILLED],
    ids=[
        "png",
        "gif",
        "webp extended",
        "webp lossless",
        "webp lossy",
        "jpeg",
        "progressive",
        "filled",
    ],
)
def test_the_size_of_an_image_is_in_its_header(data):
    assert image_size(data) == (640, 480)
    assert image_size(data + b"\x00" * 100) == (640, 480)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", PNG[:20], GIF[:8], JPEG[:30], b"\xff\xd8", b"RIFF0000WEBPVP8?" + b"\x00" * 30],
)
def test_what_is_cut_short_or_no_image_has_no_size(data):
    assert image_size(data) is None


def test_a_size_of_nothing_is_no_size():
    assert image_size(PNG[:16] + b"\x00" * 8) is None


def pdf(*objects):
    return b"%PDF-1.7\n" + b"\n".join(objects) + b"\n%%EOF"


def packed(count):
    stream = zlib.compress(b" ".join(b"<< /Type /Page /Parent 1 0 R >>" for _ in range(count)))
    return (
        b"7 0 obj << /Type /ObjStm /Filter /FlateDecode >> stream\r\n"
        + stream
        + b"\nendstream endobj"
    )


def test_pages_are_counted_by_their_objects_and_not_by_the_tree_above_them():
    page = b"3 0 obj << /Type /Page /Parent 1 0 R >> endobj"
    compact = b"4 0 obj <</Type/Page/Parent 1 0 R>> endobj"
    tree = b"1 0 obj << /Type /Pages /Count 3 >> endobj"
    assert pdf_pages(pdf(tree, page, compact, page)) == 3


def test_pages_in_compressed_object_streams_are_counted():
    assert pdf_pages(pdf(packed(12), packed(5))) == 17


def test_a_linearized_file_says_its_pages_at_the_start():
    assert (
        pdf_pages(b"%PDF-1.4\n1 0 obj << /Linearized 1 /L 9999 /H [ 1 2 ] /O 3 /E 4 /N 42 /T 5 >>")
        == 42
    )


def test_a_file_that_hides_its_pages_has_none():
    assert pdf_pages(pdf(b"1 0 obj << /Type /ObjStm >> stream\nencrypted\nendstream")) is None
    assert pdf_pages(pdf(b"/ObjStm stream without an end")) is None


@pytest.mark.parametrize(
    "data",
    [
        b"/ObjStm" * 200_000,
        b"/ObjStm stream" * 100_000 + b"endstream",
        b"/Type" + b" " * 1_000_000,
        b"/Type " * 200_000,
    ],
)
def test_a_megabyte_of_markers_is_read_once(data):
    assert pdf_pages(b"%PDF-1.7" + data) is None


def test_a_bomb_is_not_unpacked():
    bomb = zlib.compress(b"\x00" * 50_000_000 + b"/Type /Page ", 9)
    assert pdf_pages(pdf(b"/Type /ObjStm >> stream\n" + bomb + b"\nendstream")) is None


def test_a_sound_file_states_its_rate():
    wave = b"RIFF\x00\x00\x00\x00WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, 1, 1, 24_000, 48_000, 2, 16
    )
    assert bytes_a_second(wave) == 48_000
    assert bytes_a_second(b"ID3" + b"\x00" * 40) is None


@given(
    st.sampled_from(
        [b"", PNG[:8], b"GIF89a", b"\xff\xd8", b"RIFF\x00\x00\x00\x00WEBPVP8 ", b"%PDF-"]
    ),
    st.binary(max_size=300),
)
def test_nothing_raises(start, rest):
    for read in (image_size, pdf_pages, bytes_a_second):
        read(start + rest)
