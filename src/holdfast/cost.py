"""What a compaction is worth in US dollars: what is not sent, less what it costs.

A call that sends the compacted conversation in the place of the whole one saves the price of the
tokens that are gone. From that go what the models took that wrote summaries, and the discount of
the provider's prompt cache: it holds a beginning of what was sent before, and of that only what the
compacted conversation begins with too is still cheap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from holdfast.compressors.knobs import check_knobs
from holdfast.formats import read
from holdfast.meter import meter_for
from holdfast.providers.prices import Price, price_of
from holdfast.result import CompressionResult, Net, bare, message_list, restore

_MILLION = 1_000_000
_FREE = Price(0.0)


@dataclass(frozen=True, slots=True)
class Costs:
    """By what a conversation between trigger and limit is compacted now, or goes on as it is.

    Over the limit it is always compacted.
    """

    price: Price | None = None
    """Of the model that gets the conversation; by default the list price of ``model``."""

    calls: int = 10
    """How many calls are still expected, the next one among them."""

    idle: float = 0.0
    """Seconds since the last call; a session knows it."""

    lifetime: float = 300.0
    """Seconds for which the vendor's prompt cache holds what was sent: by default Anthropic's."""

    cached: int | None = None
    """Tokens at the beginning that the last call sent; by default all but the newest exchange."""

    def __post_init__(self) -> None:
        check_knobs(self)

    def known(self, model: str | None) -> Costs | None:
        """With the list price of the model, where none is stated; None where nobody knows it."""
        price = self.price or (price_of(None, model) if model else None)
        return replace(self, price=price) if price else None

    def net(
        self, before: int, after: int, *, shared: int, newest: int = 0, spent: float = 0.0
    ) -> Net:
        """The net of the next call; ``newest``: tokens of the newest exchange."""
        held = before - newest if self.cached is None else self.cached
        cached = held if self.idle < self.lifetime else 0
        price = self.price or _FREE
        return net_of(before, after, price, cached=cached, shared=shared, spent=spent)


def net_of(
    before: int,
    after: int,
    price: Price,
    *,
    cached: int = 0,
    shared: int = 0,
    spent: float = 0.0,
) -> Net:
    """The net of a compaction from ``before`` to ``after`` tokens.

    ``cached``: tokens at the beginning of the whole conversation that the prompt cache holds;
    ``shared``: tokens with which both begin.
    """
    held = min(cached, before)
    read = price.input if price.cache_read is None else price.cache_read
    return Net(
        saved=(before - after) * price.input / _MILLION,
        lost=(held - min(held, shared)) * price.discount / _MILLION,
        spent=spent,
        each=(before - after) * read / _MILLION,
    )


def result_net(
    result: CompressionResult[Any], model: str | Price, *, cached: int = 0
) -> Net | None:
    """The net of a compression for the model that gets the conversation.

    None where the price of the model, or of one that wrote summaries, is not known.
    """
    price = model if isinstance(model, Price) else price_of(None, model)
    spent = result.model_usage.cost
    if price is None or spent is None:
        return None
    metrics = result.metrics
    shared = _shared(result, model if isinstance(model, str) else None) if cached else 0
    return net_of(
        metrics.tokens_before,
        metrics.tokens_after,
        price,
        cached=cached,
        shared=shared,
        spent=spent,
    )


def _shared(result: CompressionResult[Any], model: str | None) -> int:
    """Tokens of the messages with which the conversation begins before and after."""
    before = message_list(replace(result, messages=restore(result)))
    after = message_list(result)
    same = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        same += 1
    meter = meter_for(model)
    _, _, transcript = read(bare(result.messages), result.format)
    return sum(meter.sizes(transcript)[:same]) + meter.overhead(transcript.envelope)
