"""Models of Anthropic's Messages API."""

from __future__ import annotations

import os
from typing import Unpack

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.ports import Reply
from holdfast.providers.prices import Price
from holdfast.providers.vendor import Access, key_of, named, shared, translated

try:
    import anthropic
except ImportError as missing:
    raise MissingExtraError("a model of Anthropic", "anthropic") from missing

_VENDOR = "Anthropic"


class AnthropicModel:
    """A Claude model; models with one address and key share a client, which is safe with threads.

    ``api_key`` and ``base_url`` default to ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. ``timeout`` is
    in seconds. ``window`` is the window in tokens, if the name does not tell it. ``price`` replaces
    the list price.
    """

    provider = "anthropic"

    def __init__(
        self,
        name: str,
        *,
        window: int = 0,
        price: Price | None = None,
        **account: Unpack[Access],
    ) -> None:
        self.name = named(name, "anthropic:claude-haiku-4-5")
        self.window, self.price = window, price
        address = account.get("base_url") or os.environ.get("ANTHROPIC_BASE_URL")
        key = key_of(_VENDOR, account.get("api_key"), "ANTHROPIC_API_KEY")
        self._client = _client(key, address, account.get("timeout", 60.0))

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        with translated(_VENDOR, anthropic, anthropic.AnthropicError):
            answer = self._client.messages.create(
                model=self.name,
                max_tokens=max_tokens,
                system=system or anthropic.omit,
                messages=[{"role": "user", "content": prompt}],
            )
            said = "".join(block.text for block in answer.content if block.type == "text")
            usage = answer.usage
            cached = usage.cache_read_input_tokens or 0
            written = usage.cache_creation_input_tokens or 0
            return Reply(said, usage.input_tokens + cached + written, usage.output_tokens)


@shared
def _client(api_key: str, base_url: str | None, timeout: float) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)
