"""OpenAI's chat completions and embeddings, also of other servers with a ``base_url``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Unpack

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.ports import Reply
from holdfast.providers.prices import Price
from holdfast.providers.vendor import THOUGHT, Access, key_of, named, shared, translated

try:
    import openai
    from openai.types.chat import ChatCompletionMessageParam
except ImportError as missing:
    raise MissingExtraError("a model of OpenAI", "openai") from missing

_VENDOR = "OpenAI"
_REASONING = ("o1", "o3", "o4", "gpt-5")
_MOST = 8_000  # characters of a text that are embedded: its models accept 8,191 tokens


class OpenAIModel:
    """A chat model; models with one address and key share a client, which is safe with threads.

    ``api_key`` and ``base_url`` default to OPENAI_API_KEY and OPENAI_BASE_URL; a server of your own
    may need no key. ``timeout`` is in seconds. ``window`` is the window in tokens, if the name does
    not tell it. ``thought`` is how many tokens the model may think beside its reply. ``price``
    replaces the list price.
    """

    provider = "openai"

    def __init__(
        self,
        name: str,
        *,
        window: int = 0,
        thought: int | None = None,
        price: Price | None = None,
        **account: Unpack[Access],
    ) -> None:
        self.name, self.window, self.price = named(name, "openai:gpt-4o-mini"), window, price
        self._client, self._own = _opened(**account)
        self._thought = (
            (THOUGHT if name.startswith(_REASONING) else 0) if thought is None else thought
        )

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        most = max_tokens + self._thought
        messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        with translated(_VENDOR, openai, openai.OpenAIError):
            answer = self._client.chat.completions.create(
                model=self.name,
                messages=messages,
                # other servers know only the older name, which OpenAI's reasoning models refuse
                max_completion_tokens=most if self._own else openai.omit,
                max_tokens=openai.omit if self._own else most,
            )
            usage = answer.usage
            return Reply(
                answer.choices[0].message.content or "",
                usage.prompt_tokens if usage else None,
                usage.completion_tokens if usage else None,
            )


class OpenAIEmbedder:
    """An embedding model with the options of ``OpenAIModel``; long texts are cut."""

    provider = "openai"

    def __init__(
        self,
        name: str = "text-embedding-3-small",
        *,
        price: Price | None = None,
        **account: Unpack[Access],
    ) -> None:
        self.name, self.price = name or "text-embedding-3-small", price
        self._client, _ = _opened(**account)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text. Raises ModelError, TransientError or ContextOverflowError."""
        sent = [text[:_MOST] or " " for text in texts]
        with translated(_VENDOR, openai, openai.OpenAIError):
            answer = self._client.embeddings.create(
                model=self.name, input=sent, encoding_format="float"
            )
            rows = sorted(answer.data, key=lambda row: row.index)
            return [row.embedding for row in rows]


def _opened(
    api_key: str | None = None, base_url: str | None = None, timeout: float = 60.0
) -> tuple[openai.OpenAI, bool]:
    """The client, and whether its server is OpenAI's."""
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    if address:
        key = api_key or os.environ.get("OPENAI_API_KEY", "none")
    else:
        key = key_of(_VENDOR, api_key, "OPENAI_API_KEY")
    return _client(key, address, timeout), address is None or "api.openai.com" in address


@shared
def _client(api_key: str, base_url: str | None, timeout: float) -> openai.OpenAI:
    return openai.OpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)
