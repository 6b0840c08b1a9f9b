"""Anthropic's messages."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache

from holdfast.cost import Price
from holdfast.kernel.errors import MissingExtraError, ModelError
from holdfast.kernel.ports import Reply

from .refusals import refusal
from .vendor import key_of, named, reading

try:
    import anthropic
except ImportError as missing:
    raise MissingExtraError("a model of Anthropic", "anthropic") from missing


class AnthropicModel:
    """A Claude model; its client is shared by all of one address and key, and safe with threads.

    Without ``api_key`` and ``base_url`` the environment says them (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL).
    ``timeout`` is in seconds. ``window`` is what the model takes, in tokens, where its name does not tell;
    ``price`` stands in the place of the list price.
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
        self.name, self.window, self.price = named(name, "anthropic:claude-haiku-4-5"), window, price
        address = base_url or os.environ.get("ANTHROPIC_BASE_URL")
        self._client = _client(key_of("Anthropic", api_key, "ANTHROPIC_API_KEY"), address, timeout)

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        with _translated():
            answer = self._client.messages.create(
                model=self.name,
                max_tokens=max_tokens,
                system=system or anthropic.omit,
                messages=[{"role": "user", "content": prompt}],
            )
            said = "".join(block.text for block in answer.content if block.type == "text")
            cached = (answer.usage.cache_read_input_tokens or 0) + (answer.usage.cache_creation_input_tokens or 0)
            return Reply(said, answer.usage.input_tokens + cached, answer.usage.output_tokens)


@lru_cache(maxsize=16)
def _client(api_key: str, base_url: str | None, timeout: float) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)


if hasattr(os, "register_at_fork"):  # a child must not speak on its parent's connections
    os.register_at_fork(after_in_child=_client.cache_clear)


@contextmanager
def _translated() -> Generator[None, None, None]:
    with reading("Anthropic", anthropic.APIConnectionError):
        try:
            yield
        except anthropic.APIStatusError as fault:
            raise refusal("Anthropic", fault.status_code, fault.message, fault.response.headers) from fault
        except anthropic.APIResponseValidationError as fault:
            raise ValueError(str(fault)) from fault
        except anthropic.APIConnectionError:
            raise
        except anthropic.AnthropicError as fault:
            raise ModelError(f"Anthropic failed: {fault}") from fault
