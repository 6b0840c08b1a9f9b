"""Tokens of images and pages of PDFs, by each vendor's published rule; all are estimates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, sqrt

from .names import plain_name

ImageRule = Callable[[int, int, str], int]
"""Tokens from width and height in pixels and the hint on detail (``low``, ``high`` or empty)."""


def tiles(width: int, height: int, detail: str = "", *, base: int = 85, tile: int = 170) -> int:
    """OpenAI's tiles of 512 px: within 2,048 x 2,048, the shorter side at most 768.

    Source: OpenAI, "Images and vision".
    """
    if detail == "low":
        return base
    scale = min(1, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return base + tile * ceil(round(width * scale) / 512) * ceil(round(height * scale) / 512)


def patches(width: int, height: int, detail: str = "", *, factor: float, most: int) -> int:
    """OpenAI's patches of 32 x 32 px: at most ``most``, times ``factor``.

    Source: OpenAI, "Images and vision".
    """
    if detail == "low":
        most = 256  # 512 x 512 px
    across, down = width / 32, height / 32
    if ceil(across) * ceil(down) > most:
        shrink = sqrt(most / (across * down))
        across, down = across * shrink, down * shrink
        whole = min(max(1, floor(across)) / across, max(1, floor(down)) / down)
        across, down = round(across * whole, 6), round(down * whole, 6)
    return ceil(min(ceil(across) * ceil(down), most) * factor)  # at least one patch wide


def area(width: int, height: int, detail: str = "", *, edge: int = 1568, most: int = 1600) -> int:
    """Anthropic's width x height / 750, after shrinking to the longest edge and the most tokens.

    Source: Anthropic, "Vision".
    """
    del detail
    scale = min(1, edge / max(width, height))
    return min(most, ceil(width * height * scale * scale / 750))


def large_tiles(width: int, height: int, detail: str = "") -> int:
    """Gemini 2's 258 tokens up to 384 x 384 px, else 258 for each tile of 768 x 768.

    Source: Google, "Understand and count tokens".
    """
    del detail
    if max(width, height) <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


def media_resolution(width: int, height: int, detail: str = "") -> int:
    """Gemini 3's tokens by the requested resolution, whatever the size.

    Source: Google, "Media resolution".
    """
    del width, height
    return 280 if detail == "low" else 1_120


@dataclass(frozen=True, slots=True)
class Vision:
    """Tokens of an image, of an image of unknown size, and of a page of a PDF, for some models."""

    image: ImageRule
    unsized: int
    page: int


_OPENAI = Vision(
    tiles, unsized=765, page=2_000
)  # 1,024 x 1,024 px; a page goes in as text and as an image
_MANY_PATCHES = partial(patches, factor=1.2, most=10_000)  # 1.2 fits reported usage
_SHARP_AREA = partial(area, edge=2576, most=4784)  # the Vision guide on Opus 4.7 and later
_VISIONS: tuple[tuple[str, Vision], ...] = (
    # a page's text, and the page as an image
    (r"gpt-4o-mini", Vision(partial(tiles, base=2_833, tile=5_667), unsized=25_501, page=26_700)),
    (
        r"gpt-(?:4\.1|5)-mini",
        Vision(partial(patches, factor=1.62, most=1_536), unsized=1_659, page=2_500),
    ),
    (
        r"gpt-(?:4\.1|5)-nano",
        Vision(partial(patches, factor=2.46, most=1_536), unsized=2_520, page=3_500),
    ),
    (r"o4-mini", Vision(partial(patches, factor=1.72, most=1_536), unsized=1_762, page=2_500)),
    (r"gpt-(?:5\.[4-9]|[6-9])", Vision(_MANY_PATCHES, unsized=1_229, page=2_500)),
    (r"gpt-5", Vision(partial(tiles, base=70, tile=140), unsized=630, page=2_000)),
    (r"o[13](?![a-z0-9])", Vision(partial(tiles, base=75, tile=150), unsized=675, page=2_000)),
    # 1,500 to 3,000 tokens of text a page (PDF support), and the page as an image
    (
        r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])(?!\d)",
        Vision(_SHARP_AREA, unsized=4_784, page=4_800),
    ),
    (r"claude", Vision(area, unsized=1_600, page=3_800)),
    (r"gemini-[3-9]", Vision(media_resolution, unsized=1_120, page=560)),
    (r"gemini|gemma", Vision(large_tiles, unsized=1_032, page=258)),
)


def vision_of(model: str | None) -> Vision:
    """The rules for a model; OpenAI's tiles for an unknown one."""
    name = plain_name(model or "")
    return next((vision for pattern, vision in _VISIONS if re.match(pattern, name)), _OPENAI)


def image_tokens(width: int, height: int, *, model: str | None = None, detail: str = "") -> int:
    """Tokens of an image of this size in pixels."""
    return vision_of(model).image(max(1, width), max(1, height), detail)
