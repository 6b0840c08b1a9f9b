"""Anthropic's messages."""

from __future__ import annotations

import os

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.ports import Reply
from holdfast.providers.prices import Price
from holdfast.providers.vendor import Faults, key_of, named, shared, translated

try:
    import anthropic
except ImportError as missing:
    raise MissingExtraError("a model of Anthropic", "anthropic") from missing

_VENDOR = "Anthropic"
_FAULTS = Faults(
    anthropic.APIConnectionError,
    anthropic.APIStatusError,
    anthropic.APIResponseValidationError,
    anthropic.AnthropicError,
)


class AnthropicModel:
    """A Claude model; its client is shared by all of one address and key, and safe with threads.

    Without ``api_key`` and ``base_url`` the environment says them (ANTHROPIC_API_KEY,
    ANTHROPIC_BASE_URL). ``timeout`` is in seconds. ``window`` is what the model takes, in tokens,
    where its name does not tell; ``price`` stands in the place of the list price.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
        window: int = 0,
        price: Price | None = None,
    ) -> None:
        self.name, self.window, self.price = (
            named(name, "anthropic:claude-haiku-4-5"),
            window,
            price,
        )
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL")
        self._client = _client(key_of("Anthropic", api_key, "ANTHROPIC_API_KEY"), address, timeout)

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        with translated(_VENDOR, _FAULTS):
            answer = self._client.messages.create(
                model=self.name,
                max_tokens=max_tokens,
                system=system or anthropic.omit,
                messages=[{"role": "user", "content": prompt}],
            )
            said = "".join(block.text for block in answer.content if block.type == "text")
            cached = (answer.usage.cache_read_input_tokens or 0) + (
                answer.usage.cache_creation_input_tokens or 0
            )
            return Reply(said, answer.usage.input_tokens + cached, answer.usage.output_tokens)


@shared
def _client(api_key: str, base_url: str | None, timeout: float) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)
