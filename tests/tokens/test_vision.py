from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.media import vision_of


def image_tokens(width, height, *, model=None, detail=""):
    return vision_of(model).image(width, height, detail)


PUBLISHED = [
    ("gpt-4o", 1024, 1024, "high", 765),
    ("gpt-4o", 2048, 4096, "high", 1105),
    ("gpt-4o", 4096, 8192, "low", 85),
    ("gpt-4o", 512, 512, "", 255),
    ("gpt-4o-mini", 1024, 1024, "high", 25_501),
    ("azure/gpt-4o-mini-2024-07-18", 4096, 8192, "low", 2_833),
    ("o1", 1024, 1024, "", 75 + 4 * 150),
    ("gpt-5", 1024, 1024, "", 70 + 4 * 140),
    ("gpt-4.1-mini", 1024, 1024, "", 1659),  # 1,024 patches x 1.62
    ("gpt-4.1-mini", 1800, 2400, "", 2353),  # 1,452 patches x 1.62
    ("gpt-5.5", 1920, 1080, "", 2448),  # 2,040 patches x 1.2
    ("claude-3-5-sonnet", 200, 200, "", 54),
    ("claude-3-5-sonnet", 1000, 1000, "", 1334),
    ("claude-3-5-sonnet", 1092, 1092, "", 1590),
    ("claude-3-5-sonnet", 4000, 3000, "", 1600),
    ("claude-opus-4-7", 2000, 1500, "", 4000),
    ("claude-opus-4-7", 8000, 6000, "", 4784),
    ("gemini-2.0-flash", 384, 384, "", 258),
    ("gemini-2.0-flash", 1536, 768, "", 516),
    ("gemini-3-pro", 4000, 3000, "", 1120),
]


@pytest.mark.parametrize(("model", "width", "height", "detail", "tokens"), PUBLISHED)
def test_an_image_takes_what_its_vendor_says(model, width, height, detail, tokens):
    assert image_tokens(width, height, model=model, detail=detail) == tokens


def test_an_unknown_model_is_counted_in_openais_tiles():
    assert image_tokens(1024, 1024) == image_tokens(1024, 1024, model="nobody-knows") == 765


def test_a_strip_thinner_than_a_patch_takes_no_more_than_the_most():
    assert (
        image_tokens(1, 49_153, model="gpt-4.1-mini")
        == image_tokens(49_153, 1, model="gpt-4.1-mini")
        == 2_489
    )


@given(
    st.sampled_from([row[0] for row in PUBLISHED]),
    st.integers(1, 50_000),  # a file that states a size of 0 states none: see test_headers
    st.integers(1, 50_000),
    st.sampled_from(["", "low", "high", "?"]),
)
def test_every_size_takes_something_and_nothing_takes_more_than_the_largest(
    model, width, height, detail
):
    tokens = image_tokens(width, height, model=model, detail=detail)
    largest = 6_000_000 if model.startswith("gemini-2") else 40_000 if "mini" in model else 12_000
    assert 1 <= tokens <= largest
