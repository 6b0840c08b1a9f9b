"""What a call costs, by the vendors' list prices."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float = 0.0

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost, in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION


_PRICES: tuple[tuple[str, Price], ...] = (
    # OpenAI, standard tier
    (r"gpt-4o-mini", Price(0.15, 0.60)),
    (r"gpt-4o", Price(2.50, 10.00)),
    (r"gpt-4\.1-nano", Price(0.10, 0.40)),
    (r"gpt-4\.1-mini", Price(0.40, 1.60)),
    (r"gpt-4\.1", Price(2.00, 8.00)),
    (r"gpt-5-nano", Price(0.05, 0.40)),
    (r"gpt-5-mini", Price(0.25, 2.00)),
    (r"gpt-5(?![.\w]|-pro)", Price(1.25, 10.00)),
    (r"o4-mini", Price(1.10, 4.40)),
    (r"o3(?!-)", Price(2.00, 8.00)),
    (r"gpt-3\.5-turbo", Price(0.50, 1.50)),
    (r"text-embedding-3-small", Price(0.02)),
    (r"text-embedding-3-large", Price(0.13)),
    (r"text-embedding-ada-002", Price(0.10)),
    # Anthropic
    (r"claude-3-haiku", Price(0.25, 1.25)),
    (r"claude-3-5-haiku", Price(0.80, 4.00)),
    (r"claude-haiku-4", Price(1.00, 5.00)),
    (r"claude-(?:3-[57]-sonnet|sonnet-4)", Price(3.00, 15.00)),
    (r"claude-opus-4-5", Price(5.00, 25.00)),
    (r"claude-opus-4(?:-[01]|-2)", Price(15.00, 75.00)),
    # Google, prompts of up to 200,000 tokens
    (r"gemini-2\.0-flash(?!-lite)", Price(0.10, 0.40)),
    (r"gemini-2\.5-flash-lite", Price(0.10, 0.40)),
    (r"gemini-2\.5-flash", Price(0.30, 2.50)),
    (r"gemini-2\.5-pro", Price(1.25, 10.00)),
    (r"gemini-embedding-001", Price(0.15)),
)
"""From the vendors' price pages; a model object with a ``price`` of its own goes by that."""

_FREE = Price(0.0, 0.0)
_HERE = ("extractive", "scripted", "wordllama", "lexical")
"""How the names begin of what runs in this process."""


def price_of(provider: object, name: str) -> Price | None:
    """The price that the provider brings, or the list price of the name.

    None if neither is known.
    """
    own = getattr(provider, "price", None)
    if isinstance(own, Price):
        return own
    if name.startswith(_HERE):
        return _FREE
    plain = name.rpartition("/")[2].lower()
    return next((price for pattern, price in _PRICES if re.match(pattern, plain)), None)
