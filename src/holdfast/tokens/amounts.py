"""Numbers of tokens as people write them."""

from __future__ import annotations

import re
from decimal import Decimal

_AMOUNT = re.compile(
    r"(\d{1,3}(?:[,_]\d{3})*|\d{1,15}|\d{1,6}\.\d{1,6}(?=[km]))(k|m)?", re.ASCII | re.IGNORECASE
)
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


def tokens_in(text: str) -> int | None:
    """``8000``, ``8_000``, ``8,000``, ``8k`` or ``8.5k`` as a number; None for anything else."""
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        return None
    return int(Decimal(re.sub("[,_]", "", found[1])) * _SCALE[(found[2] or "").lower()])
