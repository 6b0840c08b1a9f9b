"""Writes the price list of Holdfast from the package genai-prices, with its version and the day.

``pip install genai-prices``, then ``python -m tools.prices``.
"""

import json
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers  # type: ignore[import-not-found, unused-ignore]

TARGET = Path(__file__).parents[1] / "src" / "holdfast" / "providers" / "prices.json"
VENDORS = ("anthropic", "google", "openai")
KINDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")


def pattern(clause: Any) -> str:
    """The rule by which a name is that of a model, as one regular expression."""
    told = vars(clause)
    (kind,) = told
    inner = told[kind]
    if kind == "or_":
        return "(?:" + "|".join(map(pattern, inner)) + ")"
    if kind == "and_":
        return "".join(f"(?=.*{pattern(each)})" for each in inner)
    shapes = {
        "starts_with": "^{}",
        "ends_with": "{}$",
        "contains": "{}",
        "equals": "^{}$",
    }
    return inner if kind == "regex" else shapes[kind].format(re.escape(inner))


def current(prices: Any, now: datetime) -> Any:
    """Of prices that changed, those that hold now at any hour."""
    if not isinstance(prices, list):
        return prices
    held = [
        each
        for each in prices
        if each.constraint is None
        or (hasattr(each.constraint, "start_date") and each.constraint.active(now))
    ]
    return held[-1].prices


def main() -> None:
    """Write the file."""
    now = datetime.now(UTC)
    models = []
    for vendor in providers:
        if vendor.id not in VENDORS:
            continue
        for model in vendor.models:
            said = current(model.prices, now)
            found = [getattr(said, kind, None) for kind in KINDS]
            plain = [getattr(price, "base", price) for price in found]  # of tiers the lowest
            if plain[0] is not None:
                numbers = [None if price is None else float(price) for price in plain]
                models.append([vendor.id, model.id, pattern(model.match), *numbers])
    head = {
        "source": f"genai-prices {version('genai-prices')}, github.com/pydantic/genai-prices, MIT",
        "date": f"{now:%Y-%m-%d}",
        "unit": "US dollars for a million tokens",
        "columns": ["vendor", "model", "pattern", "input", "output", "cache_read", "cache_write"],
    }
    rows = ",\n".join(json.dumps(row) for row in models)
    TARGET.write_text(f'{json.dumps(head)[:-1]},\n"models": [\n{rows}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
