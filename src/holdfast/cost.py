"""What a compaction saves and costs, in US dollars.

A call that sends the compacted conversation saves the price of the removed tokens. The cost is that
of the models that wrote summaries, and the lost discount of the provider's prompt cache: the cache
holds a prefix of the earlier request, and only what the compacted conversation shares of that
prefix stays cheap.
"""

from dataclasses import dataclass, replace
from typing import Any

from holdfast.formats import read
from holdfast.kernel.compressor import Configured
from holdfast.kernel.transcript import unchanged
from holdfast.providers.prices import FREE, MILLION, Price, price_of
from holdfast.result import CompressionResult, Net, bare, restore
from holdfast.tokens import meter_for

__all__ = ["Costs", "Net", "Price", "net_of", "result_net"]


@dataclass(frozen=True, slots=True)
class Costs(Configured):
    """Decides by cost whether a conversation between trigger and limit is compacted now.

    A conversation over the limit is always compacted.
    """

    price: Price | None = None
    """The price of the model that gets the conversation; by default the list price of ``model``."""

    calls: int = 10
    """The number of calls still expected, the next one included."""

    idle: float = 0.0
    """Seconds since the last call; a session fills this in."""

    lifetime: float = 300.0
    """Seconds for which the vendor's prompt cache lasts; by default Anthropic's 5 minutes."""

    cached: int | None = None
    """Tokens in the prompt cache; by default all but the newest exchange."""

    def known(self, model: str | None) -> "Costs | None":
        """Return these costs with the list price filled in; None if there is none for the model."""
        price = self.price or (price_of(None, model) if model else None)
        return replace(self, price=price) if price else None

    def net(
        self, before: int, after: int, *, shared: int, newest: int = 0, spent: float = 0.0
    ) -> Net:
        """Return what the next call gains; ``newest`` is the newest exchange in tokens."""
        held = before - newest if self.cached is None else self.cached
        cached = held if self.idle < self.lifetime else 0
        return net_of(before, after, self.price or FREE, cached=cached, shared=shared, spent=spent)


def net_of(
    before: int, after: int, price: Price, *, cached: int = 0, shared: int = 0, spent: float = 0.0
) -> Net:
    """Return what a compaction from ``before`` to ``after`` tokens gains.

    ``cached`` is the number of tokens of the original in the prompt cache, ``shared`` the number of
    tokens that both conversations have at their start.
    """
    held = min(cached, before)
    read = price.input if price.cache_read is None else price.cache_read
    return Net(
        saved=(before - after) * price.input / MILLION,
        lost=(held - min(held, shared)) * price.discount / MILLION,
        spent=spent,
        each=(before - after) * read / MILLION,
    )


def result_net(
    result: CompressionResult[Any], model: str | Price, *, cached: int = 0
) -> Net | None:
    """Return what a compression gains for the model that gets the conversation.

    Returns None if the price of that model, or of one that wrote summaries, is not known.
    ``cached`` is the number of tokens of the original in the prompt cache.
    """
    price = model if isinstance(model, Price) else price_of(None, model)
    spent = result.model_usage.cost
    if price is None or spent is None:
        return None
    metrics = result.metrics
    shared = 0
    if cached:  # the leading messages that are equal before and after
        before, after = (
            read(bare(each), result.format)[2] for each in (restore(result), result.messages)
        )
        same = unchanged(before, after)
        meter = meter_for(model if isinstance(model, str) else None)
        shared = sum(meter.sizes(after)[:same]) + meter.overhead(after.envelope)
    return net_of(
        metrics.tokens_before,
        metrics.tokens_after,
        price,
        cached=cached,
        shared=shared,
        spent=spent,
    )
