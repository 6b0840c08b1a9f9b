"""Tokens of images and pages of PDFs, by each vendor's published rule; all are estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, floor, sqrt

from holdfast.tokens.families import first

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


_RULES: Mapping[str, Callable[..., int]] = {
    rule.__name__: rule for rule in (tiles, patches, area, large_tiles, media_resolution)
}


@lru_cache(maxsize=256)
def vision_of(model: str | None) -> Vision:
    """The rules for a model; OpenAI's tiles for an unknown one."""
    known = first("images", model)
    numbers = {name: known[name] for name in known.keys() - {"rule", "unsized", "page"}}
    return Vision(partial(_RULES[known["rule"]], **numbers), known["unsized"], known["page"])


def image_tokens(width: int, height: int, *, model: str | None = None, detail: str = "") -> int:
    """Tokens of an image of this size in pixels."""
    return vision_of(model).image(max(1, width), max(1, height), detail)
