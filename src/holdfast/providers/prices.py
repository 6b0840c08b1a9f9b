"""Prices of calls, from the vendors' price lists of a stated day."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.config_files import Table, check_keys, inside, read_config
from holdfast.kernel.typed import check_fields, is_object

MILLION = 1_000_000  # the tokens for which vendors state their prices


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float = 0.0
    cache_read: float | None = None
    """For input that is read from the vendor's prompt cache; by default ``input``."""
    cache_write: float | None = None
    """For input that is written to the prompt cache; by default ``input``."""

    def __post_init__(self) -> None:
        check_fields(self, bare=True)

    @property
    def discount(self) -> float:
        """How much less a million tokens cost when read from the prompt cache."""
        return 0.0 if self.cache_read is None else self.input - self.cache_read

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of a call in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / MILLION


class ListedPrice(NamedTuple):
    """One model of the list; ``pattern`` is a regular expression that its names match."""

    vendor: str
    model: str
    pattern: str
    price: Price


class PriceList(NamedTuple):
    """Prices with their source and date."""

    source: str
    date: str
    models: Sequence[ListedPrice]


_OWN = "own"
OWN = "HOLDFAST_PRICES"
"""The environment variable with a file of prices that override those of the list."""


def price_list(own: str | Path | None = None) -> PriceList:
    """The built-in prices, overridden by those in ``own`` or in the file of ``HOLDFAST_PRICES``."""
    listed, file = _listed(), str(own or os.environ.get(OWN, ""))
    if not file:
        return listed
    source = f"{file} and {listed.source}"
    return listed._replace(source=source, models=[*_own(file), *listed.models])


@cache
def _own(file: str) -> Sequence[ListedPrice]:
    """The prices in a TOML or YAML file, which has one table for each model.

    Raises ConfigError, with file and line, for anything but a price.
    """
    read, known = read_config(file), [field.name for field in fields(Price)]
    found: list[ListedPrice] = []
    for name, said in read.data.items():
        table: Table = said if is_object(said) else {}
        check_keys(table, known, f"{read.origin(name)}: {name}")
        with inside(f"{read.origin(name)}: {name}", known):
            price = Price(**cast("dict[str, Any]", {"input": None, **table}))
        pattern = f"(?:^|[/:]){re.escape(name.lower())}$"  # it may itself have these signs
        found.append(ListedPrice(_OWN, name, pattern, price))
    return found


@cache
def _listed() -> PriceList:
    """The list that ``tools/prices.py`` writes."""
    data: Mapping[str, Any] = json.loads(Path(__file__).with_name("prices.json").read_text("utf-8"))
    models = [
        ListedPrice(vendor, model, pattern, Price(numbers[0], numbers[1] or 0.0, *numbers[2:]))
        for vendor, model, pattern, *numbers in data["models"]
    ]
    return PriceList(data["source"], data["date"], models)


FREE = Price(0.0)  # what runs here
_HERE = ("extractive", "scripted", "wordllama", "lexical")
"""Prefixes of the names of models and embedders that run in this process."""


def price_of(provider: object, name: str, known: PriceList | None = None) -> Price | None:
    """The provider's own price, or the list price for the name, or None."""
    own = getattr(provider, "price", None)
    if isinstance(own, Price):
        return own
    if name.startswith(_HERE):
        return FREE
    whole = name.lower()
    called = re.split("[/:]", whole)[-1]
    for each in (known or price_list()).models:
        if re.search(each.pattern, whole if each.vendor == _OWN else called):
            return each.price
    return None
