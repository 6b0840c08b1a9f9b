"""What a compaction is worth in US dollars: what is not sent, less what it costs.

A call that sends the compacted conversation in the place of the whole one saves its price for the
tokens that are gone. From that go what the models took that wrote summaries, and the discount of the
provider's prompt cache: it holds a beginning of what was sent before, and of that only what the
compacted conversation begins with too is still cheap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

from holdfast.formats import read
from holdfast.meter import meter_for
from holdfast.providers.prices import Price, price_of
from holdfast.result import CompressionResult, bare, message_list, restore

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Net:
    """What one call costs less for a compaction, in US dollars; ``spent`` is paid once."""

    saved: float
    """Tokens that are not sent, at the price of input."""

    lost: float
    """The discount on tokens that the prompt cache held and the changed beginning loses."""

    spent: float
    """What models and embedders were paid for it."""

    each: float
    """What every later call saves, when all of it is in the prompt cache."""

    @property
    def net(self) -> float:
        """Of the first call: saved, less lost and spent."""
        return self.saved - self.lost - self.spent

    @property
    def calls(self) -> float:
        """How many calls it takes until the compaction has paid for itself; infinite if never."""
        if self.net >= 0:
            return 1
        return 1 + ceil(-self.net / self.each) if self.each > 0 else inf

    def over(self, calls: int) -> float:
        """Of so many calls together."""
        return self.net + max(0, calls - 1) * self.each


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
